"""Counts by disturbance as a Markdown page."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from pathlib import Path

from torture.trial import Trial

HEAD = "| disturbance | tried | survived | same result | a sentence or the signal's code | lost | seed |"
RULE = "|---|--:|--:|--:|--:|--:|--:|"
TEXT = """# Torture

What `make torture` counted: GenDa Lens disturbed in every way we could think of, with the two models
that ship with it, a random causal one, and built-in data. *Survived* means the same result as
undisturbed (every word, every number to 1e-6; to 1e-3 where a lack of memory makes batches smaller), or
one clear sentence for what failed and exit code 2 (or the signal's), after which the same command gives
that result; no traceback, no answer of the cache lost, none that is not the model's. *Lost* is everything
else. `python -m torture --only PART --seed SEED` repeats a part
({parts}).

Kills, signals, full disks, replaced weights and two processes at once meet forked processes that have
torch imported already; damaged caches are read in one process; all else is the command as users start
it. A row stays until its part is run again.

"""


def row(what: str, trials: Iterable[Trial]) -> str:
    """The counts of one disturbance."""
    counted = list(trials)
    if counted[0].outcome == "skipped":
        return f"| {what} | skipped: {counted[0].note} | | | | | |"
    count = dict.fromkeys(("same", "sentence", "lost"), 0)
    for trial in counted:
        count[trial.outcome] += 1
    seeds = {trial.seed for trial in counted}
    seed = str(min(seeds)) if len(seeds) == 1 else f"{min(seeds)}–{max(seeds)}"
    cells = (
        len(counted), count["same"] + count["sentence"], count["same"], count["sentence"],
        count["lost"], seed,
    )  # fmt: skip
    return f"| {what} | {' | '.join(map(str, cells))} |"


def rows_of(path: Path) -> dict[str, str]:
    """The rows of a page written before, by disturbance."""
    if not path.exists():
        return {}
    lines = [line for line in path.read_text("utf-8").splitlines() if line.startswith("| ")]
    return {line.split("|")[1].strip(): line for line in lines if line != HEAD}


def write(path: Path, rows: Mapping[str, str], parts: Iterable[str]) -> None:
    """The page, rows in the order given."""
    where = f"\nPython {platform.python_version()}, {platform.system()} {platform.machine()}.\n"
    table = "\n".join((HEAD, RULE, *rows.values()))
    path.write_text(TEXT.format(parts=", ".join(parts)) + table + "\n" + where, encoding="utf-8")
