"""Bars: effects with their intervals on one scale, a row each, beside their figures in a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gendalens.stats.estimate import Estimate

WIDTH = 150
#: A scale reaches at least this far, so that small effects look small.
LEAST = 1.2
MARGIN = 1.06


@dataclass(frozen=True, slots=True)
class Bar:
    """Positions in a picture that is ``WIDTH`` wide; ``low`` is None without an interval."""

    value: float
    low: float | None
    high: float | None
    lines: tuple[float, ...]

    @property
    def zero(self) -> float:
        """The position of 0."""
        return WIDTH / 2


def find_scale(effects: Iterable[Estimate]) -> float:
    """How far a scale reaches to either side of 0 for these effects."""
    ends = [abs(end) for one in effects for end in (one.value, one.low, one.high) if end]
    return max([LEAST, *ends]) * MARGIN


def draw_bar(effect: Estimate, most: float) -> Bar | None:
    """The bar of a gender effect size on a scale; None if it is undefined."""
    if effect.value is None:
        return None
    low, high = effect.low, effect.high
    return Bar(
        value=_place(effect.value, most),
        low=None if low is None or high is None else _place(low, most),
        high=None if low is None or high is None else _place(high, most),
        # Where one side has twice as much as the other.
        lines=(_place(-1, most), _place(1, most)),
    )


def draw_value(value: float, most: float) -> Bar:
    """The bar of a figure without an interval, on a scale to ``most`` on either side."""
    return Bar(_place(value, most * MARGIN), None, None, ())


def _place(value: float, most: float) -> float:
    return round(WIDTH / 2 * (1 + value / most), 1)
