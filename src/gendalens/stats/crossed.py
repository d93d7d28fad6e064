"""Intervals for units that belong to two crossed clusters, such as a frame and an occupation.

A one-way bootstrap ignores the other factor, and a plain two-way bootstrap triples the variance if
neither has an effect. The variance is therefore computed as V = V_a + V_b − V_cell from three
one-way cluster bootstraps (Cameron, Gelbach & Miller 2011, with bootstrap variances instead of
sandwich estimators). Each is scaled by that paper's small-sample factor, clusters /
(clusters − strata), and V is never smaller than V_a, V_b or, where one is given, the variance over a
finer partition. The interval is estimate ± t·√V, with the degrees of freedom of the factor that has
fewer clusters. Units with one kind of cluster are the special case a = b, where V = V_a.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from gendalens.stats.bootstrap import (
    CHUNK,
    RESAMPLES,
    UNDEFINED,
    cluster_weights,
    find_undefined,
    make_generator,
    make_summable,
)
from gendalens.stats.estimate import Estimate, FloatArray
from gendalens.words import Template

Codes: TypeAlias = npt.NDArray[np.integer]
#: Maps unit weights (resamples × n) to m statistics per resample (resamples × m), nan if
#: undefined.
Statistic: TypeAlias = Callable[[FloatArray], FloatArray]

ONE_CLUSTER = Template("one_cluster", "a single cluster has no spread to measure")
NO_SPREAD = Template("no_spread", "there is no spread between clusters")
#: A spread below this is rounding error: every statistic here is of order 1 or larger.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class CrossedEstimate(Estimate):
    """An estimate with its standard error √V, its degrees of freedom, and p for the null of zero."""

    p: float | None = None
    standard_error: float | None = None
    df: float = 0
    #: The resamples of this statistic alone, for what must be drawn together with it.
    draws: CrossedDraws | None = field(default=None, compare=False, repr=False)

    def within(self, least: float, most: float) -> CrossedEstimate:
        """The estimate with its interval clipped to the possible range, which t-intervals ignore."""
        if self.low is None or self.high is None:
            return self
        return replace(self, low=max(self.low, least), high=min(self.high, most))

    def widen(self, units: int, most: float = 1.0) -> CrossedEstimate:
        """The estimate as if one of its units could still go the other way.

        A figure without any spread, such as the recall of a model that found everyone in a small
        sample, is not certain. One more unit out of ``units`` would move it by ``most`` / ``units``,
        which is added to its standard error. In large samples this changes nothing.
        """
        if self.value is None or self.standard_error is None or self.df < 1:
            return self
        error = math.hypot(self.standard_error, most / max(1, units))
        return replace(make_estimate(self.value, error, self.df), draws=self.draws)


def make_estimate(value: float, error: float, df: float) -> CrossedEstimate:
    """The estimate of a value with a standard error: its t-interval, and p for the null of zero."""
    reach = float(stdtrit(df, 0.975)) * error
    p = 2 * float(stdtr(df, -abs(value) / error))
    return CrossedEstimate(
        value, value - reach, value + reach, p=min(1.0, p), standard_error=error, df=df
    )


#: Ranges of a share or an F1, of a difference of two, and of a difference of such differences.
SHARE, DIFFERENCE, CONTRAST = (0.0, 1.0), (-1.0, 1.0), (-2.0, 2.0)
UNBOUNDED = (-math.inf, math.inf)


def crossed_intervals(
    statistic: Statistic,
    a: Codes,
    b: Codes | None = None,
    *,
    seed: int,
    resamples: int = RESAMPLES,
    strata_a: Codes | None = None,
    strata_b: Codes | None = None,
    finer: Codes | None = None,
    df: Sequence[int | None] | None = None,
    ranges: Sequence[tuple[float, float]] | None = None,
) -> list[CrossedEstimate]:
    """The m statistics of n units with intervals and p, for units in clusters ``a`` × ``b``.

    Without ``b``, the clusters are those of ``a`` alone. ``finer`` is a partition of the units whose
    variance is a lower limit, such as the schemas of crossed occupations.

    ``statistic`` takes the weight of each unit in each resample; :func:`statistic_of_sums` makes one
    from a function of sums, and :func:`weighted_medians` helps with medians. Its value for weights of
    one is the point estimate. Pass all statistics of a task in one call: they share the resamples.

    ``strata_a`` and ``strata_b`` (a code per unit) are a fixed factor that the clusters are nested
    in: occupations are drawn within their class. ``df`` overrides the degrees of freedom of a
    statistic that uses only some of the clusters: one class of 30 occupations has 29.
    ``ranges`` are the bounds of each statistic, to which its interval is clipped.
    """
    draws = crossed_draws(
        statistic,
        a,
        b,
        seed=seed,
        resamples=resamples,
        strata_a=strata_a,
        strata_b=strata_b,
        finer=finer,
    )
    found = draws.estimates(df)
    if ranges is None:
        return found
    return [one.within(*bounds) for one, bounds in zip(found, ranges, strict=True)]


@dataclass(frozen=True, slots=True)
class CrossedDraws:
    """m statistics of the data, and of each resample over ``a``, ``b``, their cells and ``finer``.

    Draws with the same seed over the same clusters use the same resamples, so they can be
    subtracted, statistic by statistic, and what two models have in common cancels.
    """

    points: FloatArray
    resampled: tuple[FloatArray, ...]
    scales: tuple[float, ...]
    df: int

    def __sub__(self, other: CrossedDraws) -> CrossedDraws:
        pairs = zip(self.resampled, other.resampled, strict=True)
        return replace(
            self,
            points=self.points - other.points,
            resampled=tuple(mine - theirs for mine, theirs in pairs),
        )

    def map(self, function: Statistic) -> CrossedDraws:
        """The draws of other statistics, which ``function`` computes from these, row by row."""
        return replace(
            self,
            points=function(self.points[None])[0],
            resampled=tuple(function(values) for values in self.resampled),
        )

    def estimates(self, df: Sequence[int | None] | None = None) -> list[CrossedEstimate]:
        """Each statistic with its interval and p; ``df`` as in :func:`crossed_intervals`."""
        freedoms = [
            self.df if one is None or not self.df else one
            for one in df or [None] * len(self.points)
        ]
        return [
            _make_crossed_estimate(replace(self._select(m), df=freedom))
            for m, freedom in enumerate(freedoms)
        ]

    def _select(self, m: int) -> CrossedDraws:
        """The draws of one statistic, copied so that the others can be forgotten."""
        return replace(
            self,
            points=self.points[[m]],
            resampled=tuple(values[:, [m]] for values in self.resampled),
        )

    @property
    def design(self) -> tuple[object, ...]:
        """What draws must agree in to share their resamples: the numbers of clusters and resamples."""
        return (self.scales, *(values.shape for values in self.resampled))

    @property
    def variance(self) -> float:
        """V of a single statistic."""
        variances = [
            scale * float(np.var(values[np.isfinite(values)], ddof=1))
            for scale, values in zip(self.scales, self.resampled, strict=True)
        ]
        if len(variances) == 1:
            return variances[0]
        of_a, of_b, of_cell, *of_finer = variances
        return max(of_a + of_b - of_cell, of_a, of_b, *of_finer)


def average_draws(draws: Sequence[CrossedDraws]) -> CrossedDraws:
    """The draws of the mean of several estimates that share their resamples."""
    return replace(
        draws[0],
        points=np.mean([one.points for one in draws], axis=0),
        resampled=tuple(
            np.mean(values, axis=0)
            for values in zip(*(one.resampled for one in draws), strict=True)
        ),
    )


def crossed_draws(
    statistic: Statistic,
    a: Codes,
    b: Codes | None = None,
    *,
    seed: int,
    resamples: int = RESAMPLES,
    strata_a: Codes | None = None,
    strata_b: Codes | None = None,
    finer: Codes | None = None,
) -> CrossedDraws:
    """The draws from which :func:`crossed_intervals` makes its intervals."""
    factors = _make_factors(a, b, strata_a, strata_b, finer)
    has_spread = all(factor.freedom > 0 for factor in factors)
    smallest = min(factor.clusters for factor in factors)
    return CrossedDraws(
        statistic(np.ones((1, len(a))))[0],
        tuple(
            _draw(statistic, factor, resamples=resamples, rng=make_generator(seed, stream))
            for stream, factor in enumerate(factors)
        ),
        tuple(factor.clusters / max(1, factor.freedom) for factor in factors),
        smallest - 1 if has_spread else 0,
    )


def _make_crossed_estimate(draws: CrossedDraws) -> CrossedEstimate:
    """The estimate of a single statistic."""
    value, df = float(draws.points[0]), draws.df
    if not np.isfinite(value):
        return CrossedEstimate(None, None, None, UNDEFINED(), df=df)
    if df < 1:
        reason = ONE_CLUSTER()
        return CrossedEstimate(value, None, None, reason, df=df)
    faults = [
        fault for values in draws.resampled if (fault := find_undefined(values[:, 0])) is not None
    ]
    if faults:
        return CrossedEstimate(value, None, None, faults[0], df=df)

    error = float(np.sqrt(draws.variance))
    if error <= ROUNDING * max(1.0, abs(value)):
        # t is 0/0 or infinite. Even if all clusters agree, p must not be smaller than a sign-flip
        # test with this many clusters could give.
        p = 1.0 if abs(value) <= ROUNDING else 2.0**-df
        estimate = CrossedEstimate(value, value, value, NO_SPREAD(), p=p, standard_error=0.0, df=df)
    else:
        estimate = make_estimate(value, error, df)
    return replace(estimate, draws=draws)


@dataclass(frozen=True, slots=True)
class _Factor:
    """A partition of the units into clusters: each unit's cluster and each cluster's stratum."""

    codes: npt.NDArray[np.intp]
    strata: npt.NDArray[np.intp]

    @property
    def clusters(self) -> int:
        return len(self.strata)

    @property
    def freedom(self) -> int:
        return self.clusters - len(np.unique(self.strata))


def _make_factor(codes: Codes, strata: Codes) -> _Factor:
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    of_cluster = strata[first]
    if np.any(of_cluster[inverse] != strata):
        raise ValueError("a cluster lies in two strata; strata must be made of whole clusters")
    return _Factor(inverse.astype(np.intp), of_cluster.astype(np.intp))


def _make_factors(
    a: Codes,
    b: Codes | None,
    strata_a: Codes | None,
    strata_b: Codes | None,
    finer: Codes | None,
) -> list[_Factor]:
    """The factors to resample: ``a`` alone, or ``a``, ``b``, their cells and the finer partition."""
    nothing = np.zeros(len(a), dtype=np.intp)
    strata_a = nothing if strata_a is None else strata_a
    if b is None:
        return [_make_factor(a, strata_a)]
    if len(a) == 0 or len(a) != len(b):
        raise ValueError(f"crossed clusters need two codes per unit, got {len(a)} and {len(b)}")
    strata_b = nothing if strata_b is None else strata_b
    # Cells are stratified too: otherwise V_cell would include the variance between strata, which
    # V_a and V_b exclude, and too much would be subtracted.
    strata = _pair_codes(strata_a, strata_b)
    partitions = [(a, strata_a), (b, strata_b), (_pair_codes(a, b), strata)]
    if finer is not None:
        partitions.append((finer, strata))
    return [_make_factor(codes, strata) for codes, strata in partitions]


def _pair_codes(a: Codes, b: Codes) -> npt.NDArray[np.intp]:
    """A code for each distinct pair of codes."""
    _, of_a = np.unique(a, return_inverse=True)
    names_b, of_b = np.unique(b, return_inverse=True)
    return np.asarray(of_a * len(names_b) + of_b, dtype=np.intp)


def _draw(
    statistic: Statistic, factor: _Factor, *, resamples: int, rng: np.random.Generator
) -> FloatArray:
    """The statistics (resamples × m) of resamples over the clusters of one factor."""
    if isinstance(statistic, StatisticOfSums):
        # Clusters are drawn whole, so their sums are enough: as exact as the units, and faster.
        sums = np.zeros((factor.clusters, statistic.units.shape[1]))
        np.add.at(sums, factor.codes, statistic.units)
        drawn = cluster_weights(factor.clusters, resamples=resamples, rng=rng, strata=factor.strata)
        return np.concatenate([statistic.function(weights @ sums) for weights in drawn])
    chunk = max(1, CHUNK // len(factor.codes))
    drawn = cluster_weights(
        factor.clusters, resamples=resamples, rng=rng, strata=factor.strata, chunk=chunk
    )
    return np.concatenate([statistic(weights[:, factor.codes]) for weights in drawn])


@dataclass(frozen=True, slots=True)
class StatisticOfSums:
    """A statistic that applies ``function`` (resamples × k → resamples × m) to weighted sums.

    ``units`` (n × k) is what each unit adds to the sums, such as its counts, or its bits and a 1.
    """

    units: FloatArray
    function: Statistic

    def __call__(self, weights: FloatArray) -> FloatArray:
        """The statistics under each row of weights."""
        return self.function(weights @ self.units)


def statistic_of_sums(units: FloatArray, function: Statistic) -> StatisticOfSums:
    """The statistic that ``function`` computes from weighted sums of ``units``, summed exactly."""
    return StatisticOfSums(make_summable(units), function)


def weighted_medians(
    values: FloatArray, weights: FloatArray, *, where: npt.NDArray[np.bool_] | None = None
) -> FloatArray:
    """The median of ``values`` (n) under each row of ``weights`` (resamples × n).

    With integer weights this is exactly the median of the values, each repeated as often as its
    weight says, including the midpoint rule. ``where`` selects a subset of the units. The result is
    nan if the selected weights are all zero.

    >>> weighted_medians(np.array([1.0, 2.0, 4.0]), np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]))
    array([2., 3.])
    """
    order = np.argsort(values, kind="stable")
    if where is not None:
        order = order[where[order]]
    if len(order) == 0:
        return np.full(len(weights), np.nan)
    reached = np.cumsum(weights[:, order], axis=1)
    half = reached[:, -1:] / 2
    # The two middle values: the first to reach half of the weight, and the first to exceed it.
    last = len(order) - 1
    lower = np.minimum(np.count_nonzero(reached < half, axis=1), last)
    upper = np.minimum(np.count_nonzero(reached <= half, axis=1), last)
    ranked = values[order]
    medians = (ranked[lower] + ranked[upper]) / 2
    return np.where(half[:, 0] > 0, medians, np.nan)
