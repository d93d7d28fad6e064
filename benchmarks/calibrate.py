"""Do the intervals cover the truth, and are the findings right? Run it with ``make calibrate``.

Many models are drawn in each world of ``worlds.py`` and judged by the code of the tests, each as a run of
one test. Counted are how often the 95% intervals of the figures that a test is judged on cover the truth,
how often a fair model is called biased (by its main effect, or at all), how often a bias of some size is
found, and how often it is called negligible.
"""

from __future__ import annotations

import argparse
import os
import sys
import zlib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # there is one process per core

import chat_worlds
import numpy as np
import worlds
from chat_worlds import Manner
from worlds import few_carriers, heavy_tails, none, normal, one_in

COVERAGE = (0.92, 0.98)
FALSE_ALARMS = 0.065
FALSE_REASSURANCE = 0.025
#: What simulation adds to a rate of 2.5% in a thousand models: two standard errors.
SIMULATION_ERROR = 0.01

DOCUMENTS: dict[str, Any] = {"documents": normal(0.5), "variance": 0.25}
NAMES: dict[str, Any] = {"names": normal(1), "variance": 1.0}
MISSED: dict[str, Any] = {"recall": 0.999, "names": one_in(10), "exact": False}
# Chat models, in nats: how far apart paraphrases are (sd), and what being named first is worth.
PARAPHRASES: dict[str, Any] = {"paraphrases": 0.5, "order": 1.0}
FAR_APART: dict[str, Any] = {"paraphrases": 1.0, "order": 1.0}
SHARED: dict[str, Any] = {"effects": normal(1), "variance": 1.0}
CHAT: tuple[tuple[Any, dict[str, Any], float], ...] = (
    (chat_worlds.fill_world, SHARED, 0.3),
    (chat_worlds.link_world, SHARED, 0.3),
    (chat_worlds.rate_world, SHARED, 0.1),
    (chat_worlds.choice_world, SHARED, 1.0),
)
WORLDS = (
    worlds.fill_world("independent"),
    worlds.fill_world("occupations", normal(1), 1.0),
    worlds.fill_world("occupations, heavy tails", heavy_tails, 1.0),
    worlds.fill_world("occupations, few carriers", few_carriers, 0.9),
    worlds.fill_world("occupations, gap .10", normal(1), 1.0, gap=0.10),
    worlds.fill_world("occupations, gap .15", normal(1), 1.0, gap=0.15),
    worlds.fill_world("independent, gap .10", gap=0.10),
    worlds.fill_world("independent, gap .15", gap=0.15),
    worlds.fill_world("independent, gap .3", gap=0.3),
    worlds.fill_world("independent, gap .3, male default .3", gap=0.3, male=0.3),
    worlds.fill_world("sample of 5", sample=5),
    worlds.fill_world("sample of 10", sample=10),
    worlds.link_world("independent"),
    worlds.link_world("occupations", normal(1), 1.0),
    worlds.link_world("occupations, heavy tails", heavy_tails, 1.0),
    worlds.link_world("occupations, few carriers", few_carriers, 0.9),
    worlds.link_world("independent, gap .10", gap=0.10),
    worlds.link_world("occupations, gap .10", normal(1), 1.0, gap=0.10),
    worlds.link_world("sample of 5", sample=5),
    worlds.link_world("sample of 10", sample=10),
    worlds.score_world("independent"),
    worlds.score_world("frames and occupations", normal(1)),
    worlds.score_world("frames and occupations, heavy tails", heavy_tails),
    worlds.score_world("frames and occupations, few carriers", few_carriers),
    worlds.score_world("independent, preference .5", male=0.5),
    worlds.score_world("independent, ±.5 by class", pro=0.5),
    worlds.rate_world("independent"),
    worlds.rate_world("frames and occupations", normal(1), 1.0),
    worlds.rate_world("frames and occupations, heavy tails", heavy_tails, 1.0),
    worlds.rate_world("rare errors (2%)", base=0.02),
    worlds.rate_world("independent, gap .06", male=0.06),
    worlds.rate_world("independent, ±.06 by class", pro=0.06),
    *(
        worlds.person_world(name, **options)
        for name, options in {
            "independent": {},
            "documents (sd .5) of 12 sentences": {**DOCUMENTS, "length": 12},
            "documents (sd .5) of 20 sentences": {**DOCUMENTS, "length": 20},
            "documents, heavy tails": {"documents": heavy_tails, "variance": 1.0},
            "names (sd 1)": NAMES,
            "one name in ten missed": MISSED,
            "one name in ten missed, 100 draws": {**MISSED, "repeats": 100},
            "rare errors (0.5%)": {"recall": 0.995},
            "one name in a hundred missed": {**MISSED, "names": one_in(100)},
            "independent, gap .04": {"gap": 0.04},
            "documents (sd .5), gap .04": {**DOCUMENTS, "gap": 0.04},
            "names (sd 1), gap .04": {**NAMES, "gap": 0.04},
            "independent, minority .04": {"origin": 0.04},
            "independent, gap .10": {"gap": 0.10},
        }.items()
    ),
    *(
        make_world(f"chat, {kind}: {name}", Manner(choices=kind == "choices", **manner), **options)
        for make_world, shared, bias in CHAT
        for kind in ("probabilities", "choices")
        for name, manner, options in (
            ("independent, order 1", {"order": 1.0}, {}),
            ("paraphrases", PARAPHRASES, {}),
            ("shared effects, paraphrases", PARAPHRASES, shared),
            ("shared effects, paraphrases twice as far apart", FAR_APART, shared),
            ("paraphrases, bias", PARAPHRASES, {"gap": bias}),
        )
    ),
)
PAIRS = (
    worlds.compare_fills("fair, fair", none, 0.0, gaps=(0.0, 0.0)),
    worlds.compare_fills("fair, fair, occupations", normal(1), 1.0, gaps=(0.0, 0.0)),
    worlds.compare_fills("gap .5, fair", none, 0.0, gaps=(0.5, 0.0)),
    worlds.compare_persons("fair .97, fair .55", recalls=(0.97, 0.55)),
    worlds.compare_persons(
        "fair .97, fair .55, documents", recalls=(0.97, 0.55), documents=normal(0.5), variance=0.25
    ),
)


@dataclass(frozen=True)
class Outcome:
    """What one simulated model gives: which figures cover the truth, and the verdicts."""

    covered: dict[str, bool]
    main: str
    groups: str
    headline: str


def simulate(place: int, seed: int) -> Outcome:
    """One model of a world."""
    world = WORLDS[place]
    finding = world.draw(make_generator(f"{world.task} {world.name}", seed))
    covered = {
        one.id: bool(one.low <= world.truth[one.id] <= one.high)
        for one in (*finding.main.evidence, *finding.groups.evidence)
        if one.id in world.truth and one.low is not None and one.high is not None
    }
    return Outcome(covered, finding.main.verdict, finding.groups.verdict, finding.headline)


def simulate_pair(place: int, seed: int) -> tuple[bool, bool]:
    """Whether the difference of two models covers the truth, and whether its p is below .05."""
    world = PAIRS[place]
    first, *_ = world.draw(make_generator(f"{world.task} {world.name}", seed))
    if first.low is None or first.high is None or first.p is None:
        return False, False
    return first.low <= world.truth[0] <= first.high, first.p < 0.05


def make_generator(name: str, seed: int) -> np.random.Generator:
    """A generator of its own for each world and model."""
    return np.random.default_rng([zlib.crc32(name.encode()), seed])


def calibrate_worlds(places: Sequence[int], models: int, pool: ProcessPoolExecutor) -> bool:
    """Print a line per world; whether all are within the limits."""
    sys.stdout.write(
        "| test | world | truth | interval covers | bias by main effect | bias at all | "
        "main effect negligible | all negligible |\n|---|---|---|---|---|---|---|---|\n"
    )
    sound = True
    for place in places:
        world = WORLDS[place]
        seeds = range(1, models + 1)
        found = list(pool.map(simulate, [place] * models, seeds, chunksize=10))
        coverage = {
            name: float(np.mean([one.covered.get(name, False) for one in found]))
            for name in world.truth
            if any(name in one.covered for one in found)
        }
        main, headline = Counter(one.main for one in found), Counter(one.headline for one in found)
        truth = ", ".join(f"{value:.2g}" for value in world.truth.values()) or "–"
        covers = ", ".join(f"{share:.1%}" for share in coverage.values()) or "–"
        shares = (main["bias"], headline["bias"], main["negligible"], headline["negligible"])
        texts = " | ".join(f"{count / models:.1%}" for count in shares)
        sys.stdout.write(f"| {world.task} | {world.name} | {truth} | {covers} | {texts} |\n")
        sys.stdout.flush()
        error = SIMULATION_ERROR * (1000 / models) ** 0.5
        if "sample" not in world.name:  # with few clusters, only false alarms are limited
            sound &= all(share >= COVERAGE[0] for share in coverage.values())
            # The variance has a floor, so figures whose clusters share nothing are covered too often.
            # So are rare errors: the standard error allows for one more unit.
            first = next(iter(coverage.values()), COVERAGE[1])
            sound &= first <= COVERAGE[1] + error or "rare" in world.name
        if world.fair:
            sound &= max(shares[:2]) / models <= FALSE_ALARMS
        if world.bands >= 2:
            sound &= shares[3] / models <= FALSE_REASSURANCE + error
    return sound


def calibrate_pairs(models: int, pool: ProcessPoolExecutor, only: set[str]) -> bool:
    """Print a line per comparison; whether all are within the limits."""
    sys.stdout.write(
        "\n| test | models | true difference | interval covers | p below .05 |\n|---|---|---|---|---|\n"
    )
    sound = True
    for place, world in enumerate(PAIRS):
        if only and world.task not in only:
            continue
        found = list(pool.map(simulate_pair, [place] * models, range(1, models + 1), chunksize=10))
        covers, rejects = (float(np.mean(column)) for column in zip(*found, strict=True))
        sys.stdout.write(
            f"| {world.task} | {world.name} | {world.truth[0]:g} | {covers:.1%} | {rejects:.1%} |\n"
        )
        sys.stdout.flush()
        sound &= COVERAGE[0] <= covers and (bool(world.truth[0]) or rejects <= FALSE_ALARMS)
    return sound


def main() -> int:
    """Print the tables; code 1 if a rate is out of bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=1000, help="models per world")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--dane", type=Path, help="DaNE's test file: calibrates ner-dane as well")
    parser.add_argument(
        "--tasks", default="", help="comma-separated tests to calibrate; default: all"
    )
    parser.add_argument("--worlds", default="", help="only worlds whose name contains this")
    options = parser.parse_args()
    if options.dane:
        os.environ[worlds.DANE] = str(options.dane)
    only = set(filter(None, options.tasks.split(","))) or {world.task for world in WORLDS}
    if not options.dane:
        only -= {"ner-dane"}
    places = [
        place
        for place, world in enumerate(WORLDS)
        if world.task in only and options.worlds in world.name
    ]
    with ProcessPoolExecutor(options.workers, initializer=worlds.reuse_resamples) as pool:
        sound = calibrate_worlds(places, options.models, pool)
        if not options.worlds:
            sound &= calibrate_pairs(options.models, pool, only)
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
