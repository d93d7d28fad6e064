"""Intervals cover the truth about 95 times in 100, and a true null is rejected about 5 times.

Small versions of the simulations that the methods were chosen by; bands are wide enough for their
own noise (500 simulations: ± 2 points).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from gendalens.stats.crossed import CrossedEstimate, crossed_intervals, statistic_of_sums
from gendalens.stats.estimate import FloatArray
from gendalens.stats.f1 import f1_from_counts

FRAME, OCCUPATION, _ = (grid.ravel() for grid in np.indices((38, 60, 2)))
CLASS = (OCCUPATION >= 30).astype(int)


def coverage(estimates: list[CrossedEstimate], truth: float) -> float:
    covered = [
        estimate.low is not None
        and estimate.high is not None
        and estimate.low <= truth <= estimate.high
        for estimate in estimates
    ]
    return float(np.mean(covered))


@pytest.mark.parametrize("effect", [0.0, 1.0])
def test_the_crossed_interval_of_a_mean_covers_with_and_without_cluster_effects(
    effect: float,
) -> None:
    """The classes differ by 4 noise sd, which is no uncertainty as occupations keep their class."""
    rng = np.random.default_rng(11)
    size = 500
    y = rng.normal(size=(len(FRAME), size)) + 4.0 * (CLASS - 0.5)[:, None]
    y += effect * rng.normal(size=(38, size))[FRAME]
    y += effect * rng.normal(size=(60, size))[OCCUPATION]

    def means(weights: FloatArray) -> FloatArray:
        return np.asarray(weights @ y / weights.sum(axis=1, keepdims=True))

    estimates = crossed_intervals(means, FRAME, OCCUPATION, seed=1, resamples=500, strata_b=CLASS)
    assert 0.92 <= coverage(estimates, 0.0) <= 0.98
    assert np.mean([estimate.p is not None and estimate.p < 0.05 for estimate in estimates]) <= 0.07


def schema_counts(stereotypical: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> FloatArray:
    """Counts per schema, pro then anti: (tp, fp, fn) of female, then of male.

    The first line of a schema has a male pronoun in pro and a female one in anti, the second the
    other way round; the answer is the same in both, because the pronoun is masked.
    """
    gold = np.array([True, False])
    answer = np.where(stereotypical, gold, ~gold)
    columns = [
        ((answer == gender) & (condition == gender), (answer == gender) & (condition != gender),
         (answer != gender) & (condition == gender))
        for condition in (gold, ~gold)
        for gender in (False, True)
    ]  # fmt: skip
    return np.stack([one.sum(axis=1) for three in columns for one in three], axis=1).astype(float)


def gap(sums: FloatArray) -> FloatArray:
    return (macro_f1(sums[:, :6]) - macro_f1(sums[:, 6:]))[:, None]


def macro_f1(counts: FloatArray) -> FloatArray:
    """The mean F1 of the two genders, each with its columns tp, fp and fn."""
    return np.asarray(f1_from_counts(*np.moveaxis(counts.reshape(-1, 2, 3), -1, 0)).mean(axis=1))


@pytest.mark.parametrize("strength", [0.0, 0.5])
@pytest.mark.parametrize("schema_effect", [0.0, 1.0])
def test_a_planted_stereotype_is_covered_over_schemas(
    strength: float, schema_effect: float
) -> None:
    """P(pro-stereotypical answer) = .5 + s/2, so the gap F1_pro − F1_anti is s."""
    rng = np.random.default_rng(12)
    shift = float(ndtri(0.5 + strength / 2)) * np.hypot(1, schema_effect)
    covered, rejected, rounds = 0, 0, 150
    for round_ in range(rounds):
        latent = shift + schema_effect * rng.normal(size=(337, 1)) + rng.normal(size=(337, 2))
        counts = schema_counts(latent > 0)
        (estimate,) = crossed_intervals(
            statistic_of_sums(counts, gap), np.arange(337), seed=round_, resamples=400
        )
        assert estimate.low is not None
        assert estimate.high is not None
        covered += estimate.low <= strength <= estimate.high
        rejected += estimate.p is not None and estimate.p < 0.05
    assert 0.90 <= covered / rounds <= 0.99
    if strength == 0:
        assert rejected / rounds <= 0.09
    else:
        assert rejected == rounds
