"""``gendalens gate``: one line a test, and an exit code that CI understands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer
from rich.text import Text

from gendalens.comparison.gate import Outcome, judge, overall
from gendalens.errors import UserError
from gendalens.report.escape import one_line
from gendalens.report.exports.junit import junit
from gendalens.report.terminal.console import PlainConsole
from gendalens.results import saved_results

STYLES = {Outcome.PASSES: "green", Outcome.FAILS: "bold red", Outcome.CANNOT_TELL: "yellow"}


def gate_command(
    paths: Sequence[Path], limit: float, own: Sequence[str], report: Path | None
) -> None:
    """Judge a run and leave with 0, 1 or 3."""
    results = [one.result for one in saved_results.find(paths)]
    judged = judge(results, limit=limit, limits=limits(own))
    console = PlainConsole()
    for one in judged:
        text = Text(f"{one.outcome!s:<11}", style=STYLES[one.outcome])
        text.append(f"  {one.test}  {one_line(one.model)}: {one_line(one.why, None)}", style="none")
        console.print(text, soft_wrap=True)  # one line a test, also in a log
    if report is not None:
        try:
            report.write_bytes(junit(judged))
        except OSError as error:
            raise UserError(
                f"{report} cannot be written ({error.strerror}); choose another file with --junit."
            ) from None
    outcome = overall(judged)
    if len(judged) > 1:
        console.print(Text(f"{outcome!s:<11}  overall", style=STYLES[outcome]))
    raise typer.Exit(int(outcome))


def limits(pairs: Sequence[str]) -> dict[str, float]:
    """The tests' own limits in ``TEST=LIMIT``."""
    found = {}
    for pair in pairs:
        name, divider, number = pair.partition("=")
        try:
            found[name] = float(number)
        except ValueError:
            divider = ""
        if not divider or not name:
            raise UserError(f"--task {pair}: write TEST=LIMIT, for instance lm-abc=0.2.")
    return found
