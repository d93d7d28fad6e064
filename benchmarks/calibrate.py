"""Does the 95% interval cover, and how often is bias found where there is none?

Seeded control models in two worlds: *independent* items, and *clustered* ones, in which the effects
of schemas, frames and occupations are as large as the item noise. The truth is the control model's
value for infinitely many items: its planted strength. Run it with ``make calibrate``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one process a core does the sharing

from gendalens.data.registry import source
from gendalens.models.control import Control
from gendalens.tasks import get_task


@dataclass(frozen=True)
class Case:
    """A task, a planted bias, a world, and the truth about the gap and the interaction contrast."""

    task: str
    kind: str
    strength: float
    clustered: float
    gap: float
    interaction: float

    @property
    def resamples(self) -> int:
        """Percentiles need many resamples; a variance of crossed clusters is steady with fewer."""
        return 1000 if self.task == "lm-dawinobias" else 300


def cases() -> list[Case]:
    """No bias and a planted one, in both worlds."""
    found = []
    for clustered in (0.0, 1.0):
        # Between strength 0 and the planted gap the F1 and the accuracy of a balanced test agree.
        found += [
            Case("lm-dawinobias", "stereotyped", s, clustered, gap=s, interaction=0.0)
            for s in (0.0, 0.5)
        ]
        found += [
            Case("lm-abc", "male-default", 0.0, clustered, gap=0.0, interaction=0.0),
            Case("lm-abc", "male-default", 0.5, clustered, gap=0.5, interaction=0.0),
            Case("lm-abc", "stereotyped", 0.5, clustered, gap=0.0, interaction=1.0),
        ]
    return found


@cache
def items(name: str) -> tuple[Any, list[Any]]:
    """The task and its items, read once a process."""
    task = get_task(name, 2)
    return task, task.items({one: source(one) for one in task.card.data})


def one(case: Case, seed: int) -> tuple[bool, bool, bool]:
    """Whether the gap and the contrast are covered, and whether bias is found."""
    task, its_items = items(case.task)
    control = Control(case.kind, case.strength, seed=seed, clustered=case.clustered)
    records = task.records(its_items, task.plant(its_items, control))
    measures = task.measure(records, seed=seed, resamples=case.resamples)
    gap, contrast = measures.gap, measures.interaction
    return (
        gap.low <= case.gap <= gap.high,
        contrast.low <= case.interaction <= contrast.high,
        measures.verdict.startswith("bias found"),
    )


def calibrate(case: Case, seeds: Sequence[int], pool: ProcessPoolExecutor) -> tuple[float, ...]:
    """Shares over seeded control models."""
    outcomes = list(pool.map(one, [case] * len(seeds), seeds, chunksize=5))
    return tuple(sum(column) / len(seeds) for column in zip(*outcomes, strict=True))


def main() -> int:
    """Print the table; code 1 if a gap's coverage or a false-alarm rate is out of bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=1000, help="control models a case")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    failed = False
    sys.stdout.write(
        "| test | control | strength | world | gap covered | contrast covered | bias found |\n"
        "|---|---|---|---|---|---|---|\n"
    )
    with ProcessPoolExecutor(options.workers) as pool:
        for case in cases():
            gap, contrast, found = calibrate(case, range(1, options.models + 1), pool)
            world = "clustered" if case.clustered else "independent"
            sys.stdout.write(
                f"| {case.task} | {case.kind} | {case.strength:g} | {world} "
                f"| {gap:.1%} | {contrast:.1%} | {found:.1%} |\n"
            )
            sys.stdout.flush()
            failed |= not 0.92 <= gap <= 0.98 or (case.gap == 0 and found > 0.07)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
