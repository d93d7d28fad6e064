"""The outcome of a run: a table for people, and a record for the sample that CI takes."""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tools.mutants.operators import Mutant
from tools.mutants.selection import read_equivalent
from tools.mutants.trial import Verdict

FOLDER = Path(__file__).parents[2] / "benchmarks"
TABLE, RECORD = FOLDER / "MUTANTS.md", FOLDER / "mutants.json"
_LONGEST = 90


class Trial(NamedTuple):
    """A mutant and the verdict on it."""

    mutant: Mutant
    verdict: Verdict


def write_outcome(trials: Sequence[Trial], seed: int) -> None:
    """Write the table and the record."""
    TABLE.write_text(_render(trials, seed), encoding="utf-8")
    killed = [one for one in trials if one.verdict.outcome == "killed"]
    rows = [
        {
            "file": one.mutant.file,
            "scope": one.mutant.scope,
            "operator": one.mutant.operator,
            "before": one.mutant.before,
            "after": one.mutant.after,
            "test": one.verdict.test,
        }
        for one in killed
        if "::" in one.verdict.test
    ]
    RECORD.write_text(json.dumps(rows, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


def _render(trials: Sequence[Trial], seed: int) -> str:
    counts: dict[str, Counter[str]] = {}
    for one in trials:
        counts.setdefault(_area(one), Counter())[one.verdict.outcome] += 1
    noticed = sum(one.verdict.outcome != "survived" for one in trials)
    lines = [
        "# Mutants",
        "",
        f"`make mutants` (seed {seed}, Python {platform.python_version()}): {len(trials)} mutants, of"
        f" which the quick suite notices {noticed} ({100 * noticed / len(trials):.1f}%). A mutant is one"
        " small change to one line of the package, tried on the tests that reach the line. *Known*"
        " mutants stand for mistakes that once went unnoticed. Mutants that change nothing a test could"
        " see are listed with the reason in `tools/mutants/equivalent.toml`"
        f" ({len(read_equivalent())} so far) and are not drawn.",
        "",
        "| area | tried | noticed | by a time limit | survived |",
        "|---|---|---|---|---|",
    ]
    for area in sorted(counts):
        some = counts[area]
        tried = some.total()
        lines.append(
            f"| {area} | {tried} | {tried - some['survived']} | {some['timeout']} | {some['survived']} |"
        )
    survivors = [one for one in trials if one.verdict.outcome == "survived"]
    if survivors:
        lines += ["", "## Survivors", "", "| place | was | became |", "|---|---|---|"]
        lines += [
            f"| `{one.mutant.file}:{one.mutant.line}` {one.mutant.scope}"
            f" | {_quote(one.mutant.before)} | {_quote(one.mutant.after)} |"
            for one in survivors
        ]
    return "\n".join(lines) + "\n"


def _area(one: Trial) -> str:
    return "known" if one.mutant.operator == "known" else one.mutant.file.partition("/")[0]


def _quote(code: str) -> str:
    text = " ".join(code.split()) or "(nothing)"
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return "`" + text.replace("|", "\\|").replace("`", "'") + "`"
