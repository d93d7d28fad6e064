"""Paired differences between models: both are resampled together over the same items.

Items that are hard for one model tend to be hard for another. Paired resamples keep this
correlation, so the interval of the difference is narrower than the two separate intervals suggest.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from gendalens.stats.bootstrap import RESAMPLES, percentile_interval, resample_sums
from gendalens.stats.crossed import Codes, Statistic, crossed_draws
from gendalens.stats.estimate import Estimate, FloatArray
from gendalens.stats.signflip import swap_test

GAP, EFFECT = 0, 1


@dataclass(frozen=True, slots=True)
class Summed:
    """One model's named clusters, for tests whose gap and effect are functions of sums over them.

    ``units`` (clusters × k) is what each cluster adds to the sums; ``statistic`` maps sums
    (resamples × k) to gap and gender effect size (resamples × 2), nan if undefined.
    """

    names: tuple[Hashable, ...]
    units: FloatArray
    statistic: Statistic


@dataclass(frozen=True, slots=True)
class Crossed:
    """One model's named units, each in one cluster of each of two crossed factors.

    ``statistic`` maps the units' weights (resamples × n) to gap and gender effect size; ``strata`` is
    the fixed factor that the clusters of ``second`` are nested in.
    """

    names: tuple[Hashable, ...]
    statistic: Statistic
    first: Codes
    second: Codes
    strata: Codes


Clusters: TypeAlias = Summed | Crossed


@dataclass(frozen=True, slots=True)
class Difference:
    """The first model's gap and effect minus the second's, with p for the null of equal gaps."""

    gap: Estimate
    p: float | None
    effect: Estimate


def differences(
    models: Sequence[Clusters], *, seed: int, resamples: int = RESAMPLES
) -> dict[tuple[int, int], Difference]:
    """The difference of every two models on the same clusters, by their indices in ``models``.

    Intervals are made as in the test itself, with both models in each resample. For summed clusters,
    p comes from exchanging the two models cluster by cluster (approximate randomisation, Noreen
    1989); for crossed ones, from t.
    """
    if any(model.names != models[0].names for model in models):
        raise ValueError("models can be paired only on the same clusters in the same order")
    summed = [model for model in models if isinstance(model, Summed)]
    crossed = [model for model in models if isinstance(model, Crossed)]
    return {
        **_compare_summed(summed, seed=seed, resamples=resamples),
        **_compare_crossed(crossed, seed=seed, resamples=resamples),
    }


def _compare_summed(
    models: Sequence[Summed], *, seed: int, resamples: int
) -> dict[tuple[int, int], Difference]:
    points = [model.statistic(model.units.sum(axis=0, keepdims=True))[0] for model in models]
    drawn = [
        model.statistic(resample_sums(model.units, seed=seed, resamples=resamples))
        for model in models
    ]
    found = {}
    for a, b in combinations(range(len(models)), 2):
        gap, effect = (
            percentile_interval(
                drawn[a][:, which] - drawn[b][:, which], float(points[a][which] - points[b][which])
            )
            for which in (GAP, EFFECT)
        )
        found[a, b] = Difference(gap, _swap_models(models[a], models[b], seed), effect)
    return found


def _swap_models(a: Summed, b: Summed, seed: int) -> float | None:
    def statistic(first: FloatArray, second: FloatArray) -> FloatArray:
        return np.asarray(a.statistic(first)[:, GAP] - b.statistic(second)[:, GAP])

    return swap_test(a.units, b.units, statistic, seed=seed)


def _compare_crossed(
    models: Sequence[Crossed], *, seed: int, resamples: int
) -> dict[tuple[int, int], Difference]:
    draws = [
        crossed_draws(
            model.statistic,
            model.first,
            model.second,
            seed=seed,
            resamples=resamples,
            strata_b=model.strata,
        )
        for model in models
    ]
    found = {}
    for a, b in combinations(range(len(models)), 2):
        gap, effect = (draws[a] - draws[b]).estimates()
        found[a, b] = Difference(gap, gap.p, effect)
    return found
