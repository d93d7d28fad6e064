"""Does the interval of two models' difference cover the truth, and how often do equal models differ?

Pairs of seeded control models, in the two worlds of ``calibrate.py``. Their true gaps are equal except
in the last case of each test, in which a difference is planted.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # there is one process per core

from calibrate import DANE, items

from gendalens.models.control import Control
from gendalens.stats.paired import differences

RESAMPLES = 500


@dataclass(frozen=True)
class Case:
    """A test, two control models (kind and strength), a world, and the truth about the gaps."""

    task: str
    first: tuple[str, float]
    second: tuple[str, float]
    clustered: float
    difference: float = 0.0


def cases(dane: Path | None) -> list[Case]:
    """Two fair models, two with equal gaps that behave differently, and two with different gaps."""
    fair, half = ("fair", 0.0), ("stereotyped", 0.5)
    found = []
    for clustered in (0.0, 1.0):
        for task in ("lm-dawinobias", "coref-dawinobias"):
            found += [
                Case(task, fair, fair, clustered),
                Case(task, fair, ("male-default", 0.3), clustered),
                Case(task, half, fair, clustered, 0.5),
            ]
        for task, strength in (("lm-abc", 0.5), ("coref-abc", 0.3)):
            found += [
                Case(task, fair, fair, clustered),
                Case(task, fair, ("stereotyped", strength), clustered),
                Case(task, ("male-default", strength), fair, clustered, strength),
            ]
        if dane:
            found.append(Case("ner-dane", fair, fair, clustered))
    return found


def one(case: Case, seed: int) -> tuple[bool, bool]:
    """Whether the difference of the gaps is covered, and whether p is below .05."""
    task, its_items = items(case.task)
    clusters = []
    for place, (kind, strength) in enumerate((case.first, case.second)):
        control = Control(kind, strength, seed=2 * seed + place, clustered=case.clustered)
        clusters.append(task.clusters(task.records(its_items, task.plant(its_items, control))))
    found = differences(clusters, seed=seed, resamples=RESAMPLES)[0, 1]
    assert found.gap.low is not None
    assert found.gap.high is not None
    assert found.p is not None
    return found.gap.low <= case.difference <= found.gap.high, found.p < 0.05


def main() -> int:
    """Print the table; code 1 if a coverage or a false-alarm rate is out of bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=500, help="pairs of control models per case")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--dane", type=Path, help="DaNE's test file: calibrates ner-dane as well")
    options = parser.parse_args()
    if options.dane:
        os.environ[DANE] = str(options.dane)
    failed = False
    sys.stdout.write(
        "| test | first | second | world | difference covered | p below .05 |\n"
        "|---|---|---|---|---|---|\n"
    )
    with ProcessPoolExecutor(options.workers) as pool:
        for case in cases(options.dane):
            seeds = range(1, options.pairs + 1)
            outcomes = list(pool.map(one, [case] * len(seeds), seeds, chunksize=5))
            covered, found = (sum(c) / len(seeds) for c in zip(*outcomes, strict=True))
            world = "clustered" if case.clustered else "independent"
            names = " | ".join(
                f"{kind} {strength:g}" for kind, strength in (case.first, case.second)
            )
            sys.stdout.write(f"| {case.task} | {names} | {world} | {covered:.1%} | {found:.1%} |\n")
            sys.stdout.flush()
            failed |= not 0.92 <= covered <= 0.98 or (case.difference == 0 and found > 0.07)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
