"""``gendalens submit-check``: whether contributed results are complete and their figures follow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from gendalens.engine.submission import CheckedResult, State, check_results
from gendalens.errors import UserError
from gendalens.report.escape import one_line
from gendalens.report.terminal.console import PlainConsole
from gendalens.words import say, write

SIGNS: dict[State, tuple[str, str]] = {
    "right": ("✓", "green"),
    "wrong": ("✗", "bold red"),
    "note": ("–", "dim"),
}


def check_submission(paths: Sequence[Path], *, allow_control: bool) -> None:
    """Print what is right and wrong, a line each; raise if a result is not acceptable."""
    console = PlainConsole()
    checked = check_results(paths, allow_control=allow_control)
    for one in checked:
        _show(console, one)
    wrong = [one for one in checked if not one.is_acceptable]
    if wrong:
        raise UserError(
            "{wrong} of {total} results are not acceptable: correct what is marked ✗, or run the test "
            "again.",
            wrong=len(wrong),
            total=len(checked),
        )
    console.print(Text(say("{total} of {total} results are acceptable.", total=len(checked))))


def _show(console: PlainConsole, one: CheckedResult) -> None:
    console.print(Text(one_line(str(one.folder), None), style="bold"), soft_wrap=True)
    for check in one.checks:
        sign, style = SIGNS[check.state]
        line = Text(f"  {sign} ", style=style)
        line.append(one_line(write(check.message), 600), style="")
        console.print(line, soft_wrap=True)
