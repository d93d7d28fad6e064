"""The outcome of a run: a table for people, and a record for the sample that CI takes."""

from __future__ import annotations

import json
import platform
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tools.mutants.operators import Mutant
from tools.mutants.trial import Verdict

FOLDER = Path(__file__).parents[2] / "benchmarks"
TABLE, RECORD = FOLDER / "MUTANTS.md", FOLDER / "mutants.json"
#: What has been found so far, for a run that goes on where another was ended.
NOTES = Path(__file__).parents[2] / ".mutants" / "verdicts.jsonl"
_LONGEST = 90


class Trial(NamedTuple):
    """A mutant and the verdict on it."""

    mutant: Mutant
    verdict: Verdict


def note(one: Trial) -> None:
    """Keep a verdict, in case the run is ended."""
    with NOTES.open("a", encoding="utf-8") as file:
        file.write(json.dumps([one.mutant.key, *one.verdict], ensure_ascii=False) + "\n")


def read_notes() -> dict[str, Verdict]:
    """The last verdicts kept, by the mutants' keys."""
    lines = NOTES.read_text(encoding="utf-8").splitlines() if NOTES.exists() else []
    return {key: Verdict(*verdict) for key, *verdict in map(json.loads, lines)}


def write_outcome(trials: Sequence[Trial], seed: int) -> None:
    """Write the table and the record."""
    TABLE.write_text(_render(trials, seed), encoding="utf-8")
    killed = [one for one in trials if one.verdict.outcome == "killed"]
    rows = [
        {
            "file": one.mutant.file,
            "mutant": one.mutant.key,
            "test": one.verdict.test,
        }
        for one in killed
        if "::" in one.verdict.test
    ]
    RECORD.write_text(json.dumps(rows, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


def _render(trials: Sequence[Trial], seed: int) -> str:
    areas: dict[str, Counter[str]] = defaultdict(Counter)
    untried = sum(one.verdict.outcome == "untried" for one in trials)
    for one in trials:
        if one.verdict.outcome != "untried":
            areas[_area(one)][one.verdict.outcome] += 1
    total = sum(areas.values(), Counter[str]())
    settled = total["killed"] + total["timeout"] + total["equivalent"]
    lines = [
        "# Mutants",
        "",
        f"`make mutants` (seed {seed}, Python {platform.python_version()}): of {total.total()} mutants,"
        f" {settled} ({100 * settled / total.total():.1f}%) are noticed by the quick suite or equivalent."
        " A mutant is one small change to one place of the package, tried on the tests that reach the"
        " line. *Known* mutants stand for mistakes that once went unnoticed, or easily could; the others"
        " are drawn. An *equivalent* one changes nothing that a user or a test could see;"
        " `tools/mutants/equivalent.toml` says why, one by one."
        + (f" The run was cut short: {untried} more mutants were not tried." if untried else ""),
        "",
        "| area | tried | noticed | of these, by a time limit | equivalent | survived |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_row(area, areas[area]) for area in sorted(areas)]
    lines.append(_row("all", total))
    survivors = [one for one in trials if one.verdict.outcome in ("survived", "failed")]
    if survivors:
        lines += ["", "## Survivors", "", "| place | was | became |", "|---|---|---|"]
        lines += [
            f"| `{one.mutant.file}:{one.mutant.line}` {one.mutant.scope}"
            f" | {_quote(one.mutant.before)} | {_quote(one.mutant.after)} |"
            for one in survivors
        ]
    return "\n".join(lines) + "\n"


def _row(area: str, some: Counter[str]) -> str:
    cells = (
        area,
        some.total(),
        some["killed"] + some["timeout"],
        some["timeout"],
        some["equivalent"],
        some["survived"] + some["failed"],
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def _area(one: Trial) -> str:
    area = one.mutant.file.partition("/")[0]
    return f"{area}, known" if one.mutant.operator == "known" else area


def _quote(code: str) -> str:
    text = " ".join(code.split()) or "(nothing)"
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return "`" + text.replace("|", "\\|").replace("`", "'") + "`"
