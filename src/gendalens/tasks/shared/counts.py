"""Shares as counts of a hundred, for sentences that a person can picture."""

from __future__ import annotations


def per_cent(share: float) -> int:
    """A share as a count of a hundred.

    0 and 100 are kept for none and all, so that a few exceptions do not disappear.

    >>> per_cent(0.664), per_cent(0.998), per_cent(1.0)
    (66, 99, 100)
    """
    if share in (0.0, 1.0):
        return round(100 * share)
    return min(99, max(1, round(100 * share)))
