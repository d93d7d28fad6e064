"""The sign-flip test: under the null, the two conditions of a cluster are exchangeable."""

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
    """The two-sided p of ``statistic(first sums, second sums)`` against zero.

    ``first`` and ``second`` (clusters × k) are the sufficient statistics of a cluster in the two
    conditions; a flip exchanges them in each cluster with probability 1/2. ``statistic`` maps two
    tables of sums (flips × k) to one number per row. It must be antisymmetric: exchanging the
    conditions everywhere changes its sign.

    p = (1 + #{|T*| ≥ |T|}) / (1 + flips), which is never zero (Phipson & Smyth 2010). A flip with an
    undefined statistic counts as extreme. p is None if the observed statistic is undefined.
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
        # Flips that tie with the data count, even if rounding has moved them slightly.
        extreme += int(np.count_nonzero(~(flipped < observed - 1e-12)))
    return (1 + extreme) / (1 + flips)
