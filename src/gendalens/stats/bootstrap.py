"""The cluster bootstrap: whole clusters are drawn with replacement, so dependence stays inside.

A statistic that is a function of sums needs only each cluster's share of those sums (its
*sufficient statistics*): a resample is then one row of weights times the table of clusters.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gendalens.stats.estimate import Estimate, FloatArray
from gendalens.words import Message, Template

RESAMPLES = 2000
#: A bound needs the outermost 2.5% of resamples on its side; if more than that share is undefined,
#: the bound itself may be.
UNDEFINED_LIMIT = 0.025
#: Weights per chunk: small enough to stay in a core's cache.
CHUNK = 1 << 18


UNDEFINED = Template("undefined", "undefined for these data")
RESAMPLES_UNDEFINED = Template("resamples_undefined", "{share:.1%} of the resamples are undefined")


def make_generator(seed: int, stream: int = 0) -> np.random.Generator:
    """The random numbers of one stream of a seed; streams of one seed are independent."""
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
    """How often each cluster is drawn: chunks of (resamples × clusters), whole numbers.

    As many clusters are drawn as there are. With ``strata`` (a code per cluster) that holds within
    each stratum, so a fixed factor of the design, such as the class of an occupation, keeps its
    share (Davison & Hinkley 1997, §3.2).
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
    """``units`` (n × k) rounded imperceptibly, so that every sum is exact.

    A matrix product adds in an order that depends on the number of threads, and so does its last
    bit. On a binary grid 2⁻⁵⁰ of the largest possible sum no addition rounds, so the order cannot
    matter; counts stay as they are.
    """
    largest = len(units) * np.abs(units).max(axis=0, initial=0.0)
    grid = np.ldexp(1.0, np.frexp(largest)[1] - 50)
    return np.asarray(np.round(units / grid) * grid, dtype=np.float64)


def resample_sums(
    stats: FloatArray,
    *,
    seed: int,
    resamples: int = RESAMPLES,
    strata: npt.NDArray[np.intp] | None = None,
) -> FloatArray:
    """Column sums of ``stats`` (clusters × k) in each bootstrap resample: (resamples × k).

    Fewer than two clusters have no spread to show: every sum is then nan, that is, undefined.
    """
    clusters, columns = stats.shape
    if clusters < 2:
        return np.full((resamples, columns), np.nan)
    exact = make_summable(stats)
    chunks = cluster_weights(clusters, resamples=resamples, rng=make_generator(seed), strata=strata)
    return np.concatenate([weights @ exact for weights in chunks])


def percentile_interval(
    values: FloatArray, point: float | None, reason: Message | None = None
) -> Estimate:
    """The 95% percentile interval around ``point`` (Efron & Tibshirani 1993, chapter 13).

    ``values`` are the resampled statistic, nan where undefined. The interval is taken over the
    defined ones, or is None where more than 2.5% are undefined. ``reason`` says why ``point`` is
    None, so the two results of ``log2_ratio`` can be passed on as they are.
    """
    if point is None or not np.isfinite(point):
        return Estimate(None, None, None, reason or UNDEFINED())
    defined = values[np.isfinite(values)]
    fault = find_undefined(values)
    if fault is not None:
        return Estimate(float(point), None, None, fault)
    low, high = np.quantile(defined, (0.025, 0.975))
    return Estimate(float(point), float(low), float(high))


def find_undefined(values: FloatArray) -> Message | None:
    """Why too many resamples are undefined for an interval, or None where they are not."""
    share = float(np.mean(~np.isfinite(values)))
    if share <= UNDEFINED_LIMIT:
        return None
    return RESAMPLES_UNDEFINED(share=share)
