"""Does a leaning by occupation follow the share of women among those who work in it?

Two figures answer this, both weighted by how many lines or triples an occupation has:

correlation
    Pearson's r between the leaning to the female side and the share of women. It says how closely the
    leaning follows the labour market, whatever its strength.
slope
    The regression of the leaning to the male side on what it would be for a model that took the
    labour market as it is. For a leaning in bits (log2 of the odds of the male form) that is log2 of
    the odds of meeting a man in the occupation, log2((1 - w) / w); for a difference of shares it is
    the share of men minus that of women, 1 - 2w. So 1 mirrors the labour market, more exaggerates it,
    0 ignores it, and less than 0 reverses it. What a model prefers in every occupation alike is in the
    intercept and moves neither figure.

Occupations are resampled, so the intervals speak of occupations like these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gendalens.stats.bootstrap import RESAMPLES
from gendalens.stats.crossed import CrossedEstimate, crossed_intervals, statistic_of_sums
from gendalens.stats.estimate import FloatArray

#: Fewer occupations than this say nothing about a line through them.
LEAST_OCCUPATIONS = 10
#: Odds are those of a share between these: nearer to 0 and 1 the figures are too coarse for odds.
LEAST_SHARE, MOST_SHARE = 0.01, 0.99
#: The largest correlation that has a finite z, for leanings that lie exactly on a line.
CLOSEST = 1 - 1e-12


class LabourMarket(NamedTuple):
    """The two figures, and the number of occupations behind them."""

    correlation: CrossedEstimate
    slope: CrossedEstimate
    occupations: int


def market_leaning(women: float, unit: str) -> float:
    """The leaning to the male side of a model that mirrors a share of women, in bits or in shares.

    >>> market_leaning(0.2, "bits"), market_leaning(0.2, "share"), market_leaning(0.5, "bits")
    (2.0, 0.6, 0.0)
    """
    if unit != "bits":
        return 1 - 2 * women
    women = min(max(women, LEAST_SHARE), MOST_SHARE)
    return math.log2((1 - women) / women)


def follow_labour_market(
    leanings: Sequence[float],
    women: Sequence[float],
    weights: Sequence[float],
    *,
    unit: str,
    seed: int,
    resamples: int = RESAMPLES,
) -> LabourMarket | None:
    """Both figures for one leaning, share of women (0 to 1) and weight per occupation.

    None if there are fewer than ten occupations.
    """
    size = len(leanings)
    if size < LEAST_OCCUPATIONS:
        return None
    weight = np.array(weights, dtype=np.float64)
    columns = [np.array([market_leaning(one, unit) for one in women])]
    columns += [np.array(values, dtype=np.float64) for values in (women, leanings)]
    # Centred, so that the differences of sums below lose no digits.
    x, share, y = (column - np.average(column, weights=weight) for column in columns)
    parts = (np.ones(size), x, share, y, x * x, share * share, y * y, x * y, share * y)
    statistic = statistic_of_sums(np.column_stack([weight * part for part in parts]), _statistics)
    slope, z = crossed_intervals(
        statistic, np.arange(size), seed=seed, resamples=resamples, df=[size - 2, size - 2]
    )
    bounds = (None if value is None else math.tanh(value) for value in (z.value, z.low, z.high))
    value, low, high = bounds
    return LabourMarket(replace(z, value=value, low=low, high=high), slope, size)


def _statistics(sums: FloatArray) -> FloatArray:
    """The slope, and Fisher's z of the correlation, from weighted sums (resamples × 9)."""
    n, x, share, y, xx, ss, yy, xy, sy = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (xy - x * y / n) / (xx - x * x / n)
        correlation = -(sy - share * y / n) / np.sqrt((ss - share * share / n) * (yy - y * y / n))
    return np.column_stack([slope, np.arctanh(np.clip(correlation, -CLOSEST, CLOSEST))])
