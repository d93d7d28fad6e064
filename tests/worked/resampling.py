"""Crossed intervals worked out the long way: whole clusters are drawn, and the units listed again.

V = V_a + V_b - V_cell from three one-way bootstraps, each variance times clusters / (clusters -
strata), and never less than V_a, V_b or the variance over a finer partition. The interval is the
estimate ± t·√V, with the degrees of freedom of the factor that has fewer clusters.

Only the random numbers are shared with the package, since other ones would give other resamples:
a stream of the seed per bootstrap, and a block of draws per stratum.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from worked.messages import message

#: Enough for different figures to have different intervals, and few enough to draw lists.
RESAMPLES = 100
Unit = Any
Figures = Mapping[str, float | None]
Statistic = Callable[[Sequence[Unit]], Figures]
Key = Callable[[Unit], Any]
SHARE, DIFFERENCE, CONTRAST = (0.0, 1.0), (-1.0, 1.0), (-2.0, 2.0)


@dataclass(frozen=True)
class Figure:
    """A figure with its interval; ``decided`` names the variance that made it."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: dict[str, Any] | None = None
    p: float | None = None
    error: float | None = None
    df: int = 0
    decided: str = ""

    @property
    def shown(self) -> dict[str, Any]:
        """The parts that every table shows."""
        return {"value": self.value, "low": self.low, "high": self.high, "reason": self.reason}


class Crossed:
    """Statistics of the units, and of every resample over their clusters."""

    def __init__(
        self,
        statistic: Statistic,
        units: Sequence[Unit],
        a: Key,
        b: Key | None = None,
        *,
        finer: Key | None = None,
        stratum: Key | None = None,
        seed: int,
        resamples: int = RESAMPLES,
        as_met: bool = False,
    ) -> None:
        """``stratum`` is that of the clusters of ``b``; ``as_met`` leaves clusters in their order."""
        if as_met:
            a, b = _number(units, a), b and _number(units, b)

        def alike(unit: Unit) -> int:
            return 0

        within = stratum or alike
        factors: dict[str, tuple[Key, Key]] = {"a": (a, alike)}
        if b is not None:
            second = b
            factors["b"] = (b, within)
            factors["cell"] = (lambda unit: (a(unit), second(unit)), within)
        if finer is not None:
            factors["finer"] = (finer, within)
        parts = {name: partition(units, key, of) for name, (key, of) in factors.items()}
        self.points = statistic(units)
        self.draws = {
            name: [statistic(drawn) for drawn in resample(strata, seed, stream, resamples)]
            for stream, (name, strata) in enumerate(parts.items())
        }
        self.clusters = {name: sum(map(len, strata)) for name, strata in parts.items()}
        self.strata = {name: len(strata) for name, strata in parts.items()}

    def figure(
        self,
        name: str,
        *,
        df: int | None = None,
        one_more: float = 0.0,
        bounds: tuple[float, float] = (-math.inf, math.inf),
    ) -> Figure:
        """One statistic; ``one_more`` is how far a single unit could still move it."""
        value = self.points[name]
        free = all(self.clusters[one] > self.strata[one] for one in self.clusters)
        smallest = min(self.clusters.values()) - 1 if free else 0
        df = smallest if df is None or not free else df
        if value is None:
            return Figure(None, reason=message("undefined"), df=df)
        if df < 1:
            return Figure(value, reason=message("one_cluster"), df=df)
        variances = {}
        for factor, drawn in self.draws.items():
            known = [found for one in drawn if (found := one[name]) is not None]
            missing = 1 - len(known) / len(drawn)
            if missing > 0.025:
                reason = message("resamples_undefined", share=missing)
                return Figure(value, reason=reason, df=df)
            size = self.clusters[factor]
            variances[factor] = statistics.variance(known) * size / (size - self.strata[factor])
        decided, variance = _combine(variances)
        error = math.sqrt(variance)
        if error <= 1e-12 * max(1.0, abs(value)):
            p = 1.0 if abs(value) <= 1e-12 else 0.5**df
            if not one_more:
                return Figure(value, value, value, message("no_spread"), p, 0.0, df, decided)
        error = math.sqrt(error**2 + one_more**2)
        reach = float(stats.t.ppf(0.975, df)) * error
        p = 2 * float(stats.t.sf(abs(value) / error, df))
        low, high = max(bounds[0], value - reach), min(bounds[1], value + reach)
        return Figure(value, low, high, None, p, error, df, decided)


def _combine(variances: Mapping[str, float]) -> tuple[str, float]:
    """The variance that counts, and its name."""
    if "b" not in variances:
        return "a", variances["a"]
    candidates = {
        "sum": variances["a"] + variances["b"] - variances["cell"],
        **{name: one for name, one in variances.items() if name != "cell"},
    }
    decided = max(candidates, key=candidates.__getitem__)
    return decided, candidates[decided]


def _number(units: Sequence[Unit], key: Key) -> Key:
    """The key as a number, in the order in which its values are met."""
    numbers: dict[Any, int] = {}
    for unit in units:
        numbers.setdefault(key(unit), len(numbers))
    return lambda unit: numbers[key(unit)]


def partition(units: Sequence[Unit], key: Key, stratum: Key) -> list[list[list[Unit]]]:
    """The units by stratum and cluster, both in the order of their names."""
    clusters: dict[Any, list[Unit]] = {}
    for unit in units:
        clusters.setdefault(key(unit), []).append(unit)
    found: dict[Any, list[list[Unit]]] = {}
    for name in sorted(clusters):
        found.setdefault(stratum(clusters[name][0]), []).append(clusters[name])
    return [found[one] for one in sorted(found)]


def resample(
    strata: Sequence[Sequence[Sequence[Unit]]], seed: int, stream: int, resamples: int
) -> list[list[Unit]]:
    """As many clusters as there are, drawn with replacement within each stratum, as lists of units."""
    sequence = np.random.SeedSequence(seed, spawn_key=(stream,))
    dice = np.random.Generator(np.random.PCG64(sequence))
    drawn: list[list[Unit]] = [[] for _ in range(resamples)]
    for clusters in strata:
        size = len(clusters)
        for row, places in zip(drawn, dice.integers(size, size=(resamples, size)), strict=True):
            for place in places:
                row.extend(clusters[place])
    return drawn


def ratio(top: float | None, bottom: float | None) -> float | None:
    """log2(top / bottom), None if there is none."""
    if top is None or bottom is None or top <= 0 or bottom <= 0:
        return None
    return math.log2(top / bottom)


def share(count: float, total: float) -> float | None:
    """count / total, None without a total."""
    return count / total if total else None


def minus(one: float | None, other: float | None) -> float | None:
    """The difference of two figures, None if either is missing."""
    return None if one is None or other is None else one - other


def mean(*values: float | None) -> float | None:
    """The mean, None if any is missing."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None
