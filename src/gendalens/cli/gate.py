"""``gendalens gate``: one line per test, and an exit code for CI."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer
from rich.text import Text

from gendalens.comparison.gate import Decision, decide, judge
from gendalens.errors import UserError
from gendalens.report.escape import one_line
from gendalens.report.exports.junit import junit
from gendalens.report.terminal.console import PlainConsole
from gendalens.results import saved_results
from gendalens.words import say, write

STYLES = {Decision.PASSES: "green", Decision.FAILS: "bold red", Decision.CANNOT_TELL: "yellow"}


def judge_runs(
    paths: Sequence[Path], limit: float, own: Sequence[str], report: Path | None
) -> None:
    """Judge a run and exit with code 0, 1 or 3."""
    results = [one.result for one in saved_results.find_results(paths)]
    judgements = judge(results, limit=limit, limits=parse_limits(own))
    console = PlainConsole()
    width = max(len(write(decision.message)) for decision in Decision)
    for one in judgements:
        text = Text(f"{write(one.decision.message):<{width}}", style=STYLES[one.decision])
        why = one_line(write(one.why), None)
        text.append(f"  {one.test}  {one_line(one.model)}: {why}", style="none")
        console.print(text, soft_wrap=True)  # one line per test, even in a log
    if report is not None:
        try:
            report.write_bytes(junit(judgements))
        except OSError as error:
            raise UserError(
                "{file} cannot be written ({reason}); choose another file with --junit.",
                file=str(report),
                reason=str(error.strerror),
            ) from None
    decision = decide(judgements)
    if len(judgements) > 1:
        text = Text(f"{write(decision.message):<{width}}  {say('overall')}", style=STYLES[decision])
        console.print(text)
    raise typer.Exit(int(decision))


def parse_limits(pairs: Sequence[str]) -> dict[str, float]:
    """Limits by test, from ``TEST=LIMIT``."""
    limits = {}
    for pair in pairs:
        name, divider, number = pair.partition("=")
        try:
            limits[name] = float(number)
        except ValueError:
            divider = ""
        if not divider or not name:
            raise UserError("--task {pair}: write TEST=LIMIT, for instance lm-abc=0.2.", pair=pair)
    return limits
