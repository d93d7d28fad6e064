"""The sign-flip test: under the null the two conditions of a cluster could change places."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gendalens.stats.bootstrap import CHUNK, make_generator
from gendalens.stats.estimate import FloatArray

FLIPS = 9999


def swap_test(
    first: FloatArray,
    second: FloatArray,
    statistic: Callable[[FloatArray, FloatArray], FloatArray],
    *,
    seed: int,
    flips: int = FLIPS,
) -> float | None:
    """The two-sided p of ``statistic(first sums, second sums)`` being away from zero.

    ``first`` and ``second`` (clusters × k) are the sufficient statistics of a cluster in the two
    conditions; each flip exchanges them in a random half of the clusters. ``statistic`` takes two
    tables of sums (flips × k) and gives one number per row, which must be antisymmetric: exchanging
    the conditions everywhere changes its sign.

    p = (1 + #{|T*| ≥ |T|}) / (1 + flips), which is never zero (Phipson & Smyth 2010). A flip whose
    statistic is undefined counts against the finding. None where the observed one is undefined.
    """
    sums_first = first.sum(axis=0, keepdims=True)
    sums_second = second.sum(axis=0, keepdims=True)
    observed = abs(float(statistic(sums_first, sums_second)[0]))
    if not np.isfinite(observed):
        return None
    change = second - first
    rng = make_generator(seed)
    chunk = max(1, CHUNK // max(1, len(first)))
    extreme = 0
    for start in range(0, flips, chunk):
        size = (min(chunk, flips - start), len(first))
        moved = rng.integers(2, size=size, dtype=np.uint8).astype(np.float64) @ change
        flipped = np.abs(statistic(sums_first + moved, sums_second - moved))
        # Flips that tie with the data must count, also where rounding has moved them a little.
        extreme += int(np.count_nonzero(~(flipped < observed - 1e-12)))
    return (1 + extreme) / (1 + flips)
