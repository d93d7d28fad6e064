"""The cluster bootstrap: resampling whole clusters preserves the dependence within them.

A statistic that is a function of sums needs only what each cluster adds to those sums (its
*sufficient statistics*): a resample is then one row of weights times the table of clusters.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gendalens.stats.estimate import FloatArray
from gendalens.words import Message, Template

RESAMPLES = 2000
#: The largest share of undefined resamples for which an interval is given.
UNDEFINED_LIMIT = 0.025
#: Weights per chunk: small enough to stay in a core's cache.
CHUNK = 1 << 18


UNDEFINED = Template("undefined", "undefined for these data")
RESAMPLES_UNDEFINED = Template("resamples_undefined", "{share:.1%} of the resamples are undefined")


def make_generator(seed: int, stream: int = 0) -> np.random.Generator:
    """A random generator for one of the independent streams of a seed."""
    sequence = np.random.SeedSequence(seed, spawn_key=(stream,))
    return np.random.Generator(np.random.PCG64(sequence))


def cluster_weights(
    clusters: int,
    *,
    resamples: int,
    rng: np.random.Generator,
    strata: npt.NDArray[np.intp] | None = None,
    chunk: int | None = None,
) -> Iterator[FloatArray]:
    """How often each cluster is drawn, as chunks of integer weights (resamples × clusters).

    Each resample draws as many clusters as the data has. With ``strata`` (a code per cluster), it
    does so within each stratum, so that a fixed factor of the design, such as the class of an
    occupation, keeps its share (Davison & Hinkley 1997, §3.2).
    """
    chunk = chunk or max(1, CHUNK // max(1, clusters))
    if strata is None:
        strata = np.zeros(clusters, dtype=np.intp)
    groups = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    for start in range(0, resamples, chunk):
        rows = min(chunk, resamples - start)
        weights = np.empty((rows, clusters))
        for members in groups:
            size = len(members)
            drawn = rng.integers(size, size=(rows, size)) + size * np.arange(rows)[:, None]
            counts = np.bincount(drawn.ravel(), minlength=rows * size)
            weights[:, members] = counts.reshape(rows, size)
        yield weights


def make_summable(units: FloatArray) -> FloatArray:
    """``units`` (n × k), rounded just enough to make every sum exact.

    The order of additions in a matrix product depends on the number of threads, and so does its last
    bit. If all values are multiples of 2⁻⁵⁰ of the largest possible sum, no addition rounds, so the
    order cannot matter. Counts are unchanged.
    """
    largest = len(units) * np.abs(units).max(axis=0, initial=0.0)
    grid = np.ldexp(1.0, np.frexp(largest)[1] - 50)
    return np.asarray(np.round(units / grid) * grid, dtype=np.float64)


def find_undefined(values: FloatArray) -> Message | None:
    """The reason if too many resamples are undefined for an interval, else None."""
    share = float(np.mean(~np.isfinite(values)))
    if share <= UNDEFINED_LIMIT:
        return None
    return RESAMPLES_UNDEFINED(share=share)
