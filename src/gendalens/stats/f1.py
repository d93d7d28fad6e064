"""F1 and rates from counts, elementwise: one formula for the data and for its resamples."""

from __future__ import annotations

import numpy as np

from gendalens.stats.estimate import FloatArray


def f1_from_counts(tp: FloatArray, fp: FloatArray, fn: FloatArray) -> FloatArray:
    """F1 = 2·tp / (2·tp + fp + fn), the harmonic mean of precision and recall.

    It is 0 if nothing is right although there was something to find or something was predicted, and
    nan if there was neither.
    """
    return rate(2 * np.asarray(tp), 2 * np.asarray(tp) + fp + fn)


def rate(count: FloatArray, total: FloatArray) -> FloatArray:
    """``count`` / ``total``, nan if the total is zero."""
    top, bottom = np.broadcast_arrays(count, total)
    rates = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=rates, where=bottom != 0)
    return rates
