"""Shares as counts of a hundred, for sentences that a person can picture."""

from __future__ import annotations

import math


def per_cent(share: float) -> int:
    """A share as a count of a hundred, halves rounded up.

    >>> per_cent(0.664), per_cent(0.9997), per_cent(0.005)
    (66, 100, 1)
    """
    return math.floor(100 * share + 0.5)
