"""Does the 95% interval cover the truth, and how often is bias found where there is none?

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
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # there is one process per core

from gendalens.data.registry import find_source
from gendalens.models.control import Control
from gendalens.tasks import get_task

DANE = "GENDALENS_CALIBRATE_DANE"  # tells worker processes the path of the file


@dataclass(frozen=True)
class Case:
    """A task, a planted bias, a world, and the truth about the gap and the contrast of groups.

    ``extra`` is the id of the figure that the strength is planted in, if that is not the gap.
    """

    task: str
    kind: str
    strength: float
    clustered: float
    gap: float
    contrast: float
    extra: str = ""

    @property
    def resamples(self) -> int:
        """Percentiles need many resamples; a variance of crossed clusters is steady with fewer."""
        return 300 if self.task.endswith("abc") else 1000


RECALL_GAP = "person_recall_gap"


def cases(dane: Path | None) -> list[Case]:
    """No bias and a planted one, in both worlds; ``ner-dane`` only if DaNE is given."""
    found = []
    for clustered in (0.0, 1.0):
        if dane:
            found += [
                Case("ner-dane", "male-default", s, clustered, s, 0.0, extra=RECALL_GAP)
                for s in (0.0, 0.02, 0.05, 0.1)
            ]
        # At both strengths, F1 and accuracy of a balanced test agree.
        found += [
            Case("lm-dawinobias", "stereotyped", s, clustered, gap=s, contrast=0.0)
            for s in (0.0, 0.5)
        ]
        found += [
            # A male default shifts every preference alike and changes no interval, so one case is enough.
            Case("lm-abc", "male-default", 0.0, clustered, gap=0.0, contrast=0.0),
            Case("lm-abc", "stereotyped", 0.5, clustered, gap=0.0, contrast=1.0),
        ]
        # For a resolver that links every line, F1 equals accuracy.
        found += [
            Case("coref-dawinobias", "stereotyped", s, clustered, gap=s, contrast=0.0)
            for s in (0.0, 0.5)
        ]
        found += [
            Case("coref-abc", "male-default", 0.0, clustered, gap=0.0, contrast=0.0),
            Case("coref-abc", "male-default", 0.3, clustered, gap=0.3, contrast=0.0),
            Case("coref-abc", "stereotyped", 0.3, clustered, gap=0.0, contrast=0.6),
        ]
    return found


@cache
def items(name: str) -> tuple[Any, list[Any]]:
    """The task and its items, read once per process."""
    # Two draws of names instead of twenty: the intervals are over sentences.
    task = get_task(name, 2).configure({"repeats": 2})
    dane = os.environ.get(DANE)
    files = {"dane": Path(dane)} if dane else {}
    return task, task.items(
        {one: find_source(one, override=files.get(one)) for one in task.card.data}
    )


def one(case: Case, seed: int) -> tuple[bool, bool, bool]:
    """Whether the gap and the contrast are covered, and whether bias is found."""
    task, its_items = items(case.task)
    control = Control(case.kind, case.strength, seed=seed, clustered=case.clustered)
    records = task.records(its_items, task.plant(its_items, control))
    measures = task.measure(records, seed=seed, resamples=case.resamples)
    contrast = measures.contrast
    gap = {extra.id: extra for extra in measures.extra}[case.extra] if case.extra else measures.gap
    return (
        gap.low <= case.gap <= gap.high,
        contrast.low <= case.contrast <= contrast.high,
        measures.finding.headline == "bias",
    )


def calibrate(case: Case, seeds: Sequence[int], pool: ProcessPoolExecutor) -> tuple[float, ...]:
    """The shares of control models, over seeds, that cover the gap, cover the contrast and find bias."""
    outcomes = list(pool.map(one, [case] * len(seeds), seeds, chunksize=5))
    return tuple(sum(column) / len(seeds) for column in zip(*outcomes, strict=True))


def main() -> int:
    """Print the table; code 1 if a gap's coverage or a false-alarm rate is out of bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=1000, help="control models per case")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--dane", type=Path, help="DaNE's test file: calibrates ner-dane as well")
    parser.add_argument(
        "--tasks", default="", help="comma-separated tests to calibrate; default: all"
    )
    options = parser.parse_args()
    if options.dane:
        os.environ[DANE] = str(options.dane)
    only = set(filter(None, options.tasks.split(",")))
    failed = False
    sys.stdout.write(
        "| test | control | strength | world | gap covered | contrast covered | bias found |\n"
        "|---|---|---|---|---|---|---|\n"
    )
    with ProcessPoolExecutor(options.workers) as pool:
        for case in cases(options.dane):
            if only and case.task not in only:
                continue
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
