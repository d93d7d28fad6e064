"""``gendalens gate``: one line per test, and an exit code for CI."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer
from rich.text import Text

from gendalens.comparison.gate import PARTS, Decision, GapLimit, Limits, decide, judge
from gendalens.errors import UserError
from gendalens.report.escape import one_line
from gendalens.report.exports.junit import junit
from gendalens.report.terminal.console import PlainConsole
from gendalens.report.wording import load_plugin_words
from gendalens.results import saved_results
from gendalens.system.file_writing import write_target
from gendalens.words import say, write

STYLES = {Decision.PASSES: "green", Decision.FAILS: "bold red", Decision.CANNOT_TELL: "yellow"}


def judge_runs(
    paths: Sequence[Path], limits: Limits, only: str | None, report: Path | None
) -> None:
    """Judge a run and exit with code 0, 1 or 3."""
    parts = [part for part in PARTS if only is None or part == only]
    if not parts:
        raise UserError("--only {part}: choose main or groups.", part=str(only))
    results = [one.result for one in saved_results.find_results(paths)]
    load_plugin_words()
    judgements = judge(results, limits, parts=parts)
    console = PlainConsole()
    width = max(len(write(decision.message)) for decision in Decision)
    for one in judgements:
        text = Text(f"{write(one.decision.message):<{width}}", style=STYLES[one.decision])
        why = one_line(write(one.why), None)
        text.append(f"  {one.test}  {one_line(one.model)}: {why}", style="none")
        console.print(text, soft_wrap=True)  # one line per test, even in a log
    if report is not None:
        try:
            write_target(report, junit(judgements))
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


def parse_effects(pairs: Sequence[str]) -> dict[str, float]:
    """Limits of GES by test, from ``TEST=LIMIT``."""
    found = (_split("--task", pair, "TEST=LIMIT", "lm-abc=0.2") for pair in pairs)
    return dict(found)


def parse_gaps(pairs: Sequence[str]) -> list[GapLimit]:
    """Limits in the units of tests, from ``TEST=LIMIT``, ``TEST.groups=LIMIT`` or ``TEST:UNIT=LIMIT``."""
    found = []
    for pair in pairs:
        left, value = _split("--limit", pair, "TEST=LIMIT", "ner-dane=0.05")
        place, _, unit = left.partition(":")
        test, _, last = place.rpartition(".")
        part = next((part for part in PARTS if test and part == last), None)
        found.append(GapLimit(test if part else place, value, part, unit))
    return found


def _split(option: str, pair: str, form: str, example: str) -> tuple[str, float]:
    """What stands left of the equals sign, and the number right of it."""
    name, divider, number = pair.partition("=")
    try:
        value = float(number)
    except ValueError:
        divider = ""
    if not divider or not name:
        raise UserError(
            "{option} {pair}: write {form}, for instance {example}.",
            option=option,
            pair=pair,
            form=form,
            example=example,
        )
    return name, value
