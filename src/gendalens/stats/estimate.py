"""A number with its interval, and the ratio on the log2 scale that is called gender effect size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and its 95% interval; what is undefined is None and ``reason`` says why.

    ``reason`` may also stand beside a full interval that needs a word of warning, such as one
    without width.
    """

    value: float | None
    low: float | None
    high: float | None
    reason: str | None = None

    def parts(self) -> dict[str, Any]:
        """The four fields by name, to be passed on to whatever shows an estimate."""
        return {"value": self.value, "low": self.low, "high": self.high, "reason": self.reason}

    def __post_init__(self) -> None:
        for number in (self.value, self.low, self.high):
            if number is not None and not math.isfinite(number):
                raise ValueError(f"an estimate holds finite numbers or None, not {number}")
            if number is None and self.reason is None:
                raise ValueError("an estimate with an undefined part needs a reason")


def log2_ratio(
    top: float | None, bottom: float | None, *, labels: tuple[str, str] = ("top", "bottom")
) -> tuple[float | None, str | None]:
    """The gender effect size log2(top / bottom), or None and why there is none.

    Positive where ``top`` is larger; 1 means twice as much. ``labels`` name the two sides in the
    reason.

    >>> log2_ratio(0.8, 0.4)
    (1.0, None)
    >>> log2_ratio(0.8, 0.0, labels=("F1 pro", "F1 anti"))
    (None, 'F1 anti is zero')
    """
    faults = [
        f"{label} is {fault}"
        for label, side in zip(labels, (top, bottom), strict=True)
        if (fault := _fault(side)) is not None
    ]
    if top is None or bottom is None or faults:
        return None, " and ".join(faults)
    return float(log2_ratios(np.array([top]), np.array([bottom]))[0]), None


def _fault(side: float | None) -> str | None:
    if side is None or not math.isfinite(side):
        return "undefined"
    if side == 0:
        return "zero"
    return "negative" if side < 0 else None


def log2_ratios(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """:func:`log2_ratio` of many resamples at once, nan where it is undefined."""
    top, bottom = np.broadcast_arrays(top, bottom)
    defined = (top > 0) & (bottom > 0) & np.isfinite(top) & np.isfinite(bottom)
    # Mantissas and exponents apart: exact for powers of two, and no quotient can overflow.
    top_mantissa, top_exponent = np.frexp(top[defined])
    bottom_mantissa, bottom_exponent = np.frexp(bottom[defined])
    ratios = np.full(top.shape, np.nan)
    ratios[defined] = np.log2(top_mantissa / bottom_mantissa) + (top_exponent - bottom_exponent)
    return ratios
