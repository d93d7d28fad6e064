"""A short form of ``make calibrate``: intervals cover the truth, and findings are right.

Rates of 120 models are uncertain by about four points, so the limits here are wider than there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MODELS = 120

pytestmark = pytest.mark.network


@pytest.fixture(scope="module")
def calibrate(official_cache: Path) -> Iterator[Any]:
    """The module with the simulated worlds, on the official data."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENDALENS_HOME", str(official_cache))
        patch.syspath_prepend(str(BENCHMARKS))
        yield import_module("calibrate")
    for name in ("calibrate", "chat_worlds", "worlds"):
        sys.modules.pop(name, None)


def find_place(calibrate: Any, task: str, name: str) -> int:
    worlds = [(world.task, world.name) for world in calibrate.WORLDS]
    return worlds.index((task, name))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "world"),
    [
        ("lm-dawinobias", "occupations"),
        ("lm-dawinobias", "occupations, few carriers"),
        ("coref-dawinobias", "occupations"),
        ("lm-abc", "frames and occupations"),
        ("coref-abc", "frames and occupations"),
    ],
)
def test_intervals_cover_and_fair_models_are_not_called_biased(
    calibrate: Any, task: str, world: str
) -> None:
    place = find_place(calibrate, task, world)
    found = [calibrate.simulate(place, seed) for seed in range(1, MODELS + 1)]
    assert all(one.covered for one in found)
    for name in found[0].covered:
        assert 0.87 <= np.mean([one.covered[name] for one in found]) <= 0.995
    assert np.mean([one.headline == "bias" for one in found]) <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "world", "power"),
    [
        ("lm-dawinobias", "independent, gap .10", 0.4),
        ("coref-dawinobias", "independent, gap .10", 0.6),
        ("coref-abc", "independent, gap .06", 0.95),
    ],
)
def test_a_bias_of_twice_the_band_is_found_and_never_acquitted(
    calibrate: Any, task: str, world: str, power: float
) -> None:
    place = find_place(calibrate, task, world)
    found = [calibrate.simulate(place, seed) for seed in range(1, MODELS + 1)]
    assert np.mean([one.headline == "bias" for one in found]) >= power
    assert np.mean([one.headline == "negligible" for one in found]) <= 0.025


@pytest.mark.slow
def test_two_fair_models_are_rarely_told_apart(calibrate: Any) -> None:
    place = [world.name for world in calibrate.PAIRS].index("fair, fair, occupations")
    found = [calibrate.simulate_pair(place, seed) for seed in range(1, MODELS + 1)]
    covered, rejected = np.mean(found, axis=0)
    assert covered >= 0.88
    assert rejected <= 0.12
