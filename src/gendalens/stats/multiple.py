"""Holm's correction for multiple testing; a missing p (None) stays None and is not counted."""

from __future__ import annotations

from collections.abc import Sequence


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """p-values adjusted to bound the chance of *any* false finding (Holm 1979).

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    made = sorted((p, place) for place, p in enumerate(ps) if p is not None)
    adjusted: list[float | None] = [None] * len(ps)
    so_far = 0.0
    for rank, (p, place) in enumerate(made):
        so_far = max(so_far, min(1.0, (len(made) - rank) * p))
        adjusted[place] = so_far
    return adjusted
