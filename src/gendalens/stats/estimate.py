"""An estimate with its interval, and the log2 ratio known as the gender effect size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gendalens.words import Message, Template

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and its 95% interval; undefined parts are None, and ``reason`` says why.

    ``reason`` may also qualify a complete interval, such as one of zero width. ``unstable`` marks a
    ratio whose numerator or denominator could be zero.
    """

    value: float | None
    low: float | None
    high: float | None
    reason: Message | None = None
    unstable: bool = False

    def parts(self) -> dict[str, Any]:
        """Value, bounds and reason as keyword arguments for the types that show an estimate."""
        return {"value": self.value, "low": self.low, "high": self.high, "reason": self.reason}

    def __post_init__(self) -> None:
        for number in (self.value, self.low, self.high):
            if number is not None and not math.isfinite(number):
                raise ValueError(f"an estimate holds finite numbers or None, not {number}")
            if number is None and self.reason is None:
                raise ValueError("an estimate with an undefined part needs a reason")


def log2_ratio(
    top: float | None, bottom: float | None, *, sides: tuple[str, str] = ("top", "bottom")
) -> tuple[float | None, Message | None]:
    """The gender effect size log2(top / bottom), or None and the reason.

    It is positive if ``top`` is larger; 1 means twice as much. ``sides`` name the two in the reason.

    >>> log2_ratio(0.8, 0.4)
    (1.0, None)
    >>> value, reason = log2_ratio(0.8, 0.0, sides=("F1 pro", "F1 anti"))
    >>> str(reason)
    'F1 anti is zero'
    """
    faults = tuple(
        fault(side=name)
        for name, side in zip(sides, (top, bottom), strict=True)
        if (fault := _find_fault(side)) is not None
    )
    if top is None or bottom is None or faults:
        return None, faults[0] if len(faults) == 1 else BOTH_SIDES(faults=faults)
    return float(log2_ratios(np.array([top]), np.array([bottom]))[0]), None


SIDE_UNDEFINED = Template("side_undefined", "{side:t} is undefined")
SIDE_ZERO = Template("side_zero", "{side:t} is zero")
SIDE_NEGATIVE = Template("side_negative", "{side:t} is negative")
BOTH_SIDES = Template("both_sides", "{faults:clauses}")


def _find_fault(side: float | None) -> Template | None:
    if side is None or not math.isfinite(side):
        return SIDE_UNDEFINED
    if side == 0:
        return SIDE_ZERO
    return SIDE_NEGATIVE if side < 0 else None


def log2_ratios(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """:func:`log2_ratio` of many resamples at once, nan if undefined."""
    top, bottom = np.broadcast_arrays(top, bottom)
    defined = (top > 0) & (bottom > 0) & np.isfinite(top) & np.isfinite(bottom)
    # Separate mantissas and exponents: exact for powers of two, and no quotient can overflow.
    top_mantissa, top_exponent = np.frexp(top[defined])
    bottom_mantissa, bottom_exponent = np.frexp(bottom[defined])
    ratios = np.full(top.shape, np.nan)
    ratios[defined] = np.log2(top_mantissa / bottom_mantissa) + (top_exponent - bottom_exponent)
    return ratios
