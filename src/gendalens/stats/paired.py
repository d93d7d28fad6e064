"""Paired differences between models: both are resampled together over the same items.

Items that are hard for one model tend to be hard for another. Paired resamples keep this
correlation, so the interval of the difference is narrower than the two separate intervals suggest.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

from gendalens.stats.bootstrap import RESAMPLES
from gendalens.stats.crossed import Codes, CrossedEstimate, Statistic, crossed_draws


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """One model's named units, in clusters of one kind or of two crossed ones.

    ``statistic`` maps the units' weights (resamples × n) to the figures that models are compared by:
    ``main`` figures of the main effect, ``groups`` figures of the groups, both in the order of the
    finding's evidence, and the gender effect size last; nan if undefined. ``strata`` are fixed
    factors that the clusters of ``second`` are nested in, and ``finer`` is as in
    :func:`gendalens.stats.crossed.crossed_intervals`.
    """

    names: tuple[Hashable, ...]
    statistic: Statistic
    first: Codes
    second: Codes | None = None
    strata: Codes | None = None
    finer: Codes | None = None
    main: int = 1
    groups: int = 0


@dataclass(frozen=True, slots=True)
class Difference:
    """The first model's figures minus the second's, each with an interval and p for no difference."""

    main: tuple[CrossedEstimate, ...]
    groups: tuple[CrossedEstimate, ...]
    effect: CrossedEstimate


def differences(
    models: Sequence[Clusters], *, seed: int, resamples: int = RESAMPLES
) -> dict[tuple[int, int], Difference]:
    """The difference of every two models on the same clusters, by their indices in ``models``.

    Intervals and p are made as in the test itself, with both models in each resample. Exchanging the
    models instead would be valid only if they were equally accurate.
    """
    if any(model.names != models[0].names for model in models):
        raise ValueError("models can be paired only on the same clusters in the same order")
    draws = [
        crossed_draws(
            model.statistic,
            model.first,
            model.second,
            seed=seed,
            resamples=resamples,
            strata_b=model.strata,
            finer=model.finer,
        )
        for model in models
    ]
    found = {}
    for a, b in combinations(range(len(models)), 2):
        *figures, effect = (draws[a] - draws[b]).estimates()
        main = models[a].main
        found[a, b] = Difference(tuple(figures[:main]), tuple(figures[main:]), effect)
    return found
