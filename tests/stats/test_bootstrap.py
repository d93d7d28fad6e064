"""Resampling whole clusters, and sums that are exact."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.stats.bootstrap import (
    RESAMPLES_UNDEFINED,
    cluster_weights,
    find_undefined,
    make_generator,
    make_summable,
)
from gendalens.stats.estimate import FloatArray


def draw_weights(
    clusters: int, *, seed: int, resamples: int, strata: npt.NDArray[np.intp] | None = None
) -> FloatArray:
    chunks = cluster_weights(clusters, resamples=resamples, rng=make_generator(seed), strata=strata)
    return np.concatenate(list(chunks))


@settings(deadline=None, derandomize=True, max_examples=50)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.integers(0, 2**32))
def test_every_stratum_keeps_its_number_of_clusters(strata: list[int], seed: int) -> None:
    codes = np.array(strata)
    chunks = cluster_weights(
        len(codes), resamples=25, rng=make_generator(seed), strata=codes.astype(np.intp), chunk=10
    )
    weights = np.concatenate(list(chunks))
    assert weights.shape == (25, len(codes))
    for stratum in set(strata):
        members = codes == stratum
        assert (weights[:, members].sum(axis=1) == members.sum()).all()


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    first = draw_weights(10, seed=7, resamples=100)
    assert first.tobytes() == draw_weights(10, seed=7, resamples=100).tobytes()
    assert first.tobytes() != draw_weights(10, seed=8, resamples=100).tobytes()


def test_sums_do_not_depend_on_the_order_of_addition() -> None:
    """Else the number of threads of a matrix product would show in the last bit."""
    rng = np.random.default_rng(1)
    units = rng.normal(size=(4560, 2)) * [1.0, 1e6]
    exact = make_summable(units)
    assert np.abs(exact / units - 1).max() < 1e-6
    assert exact.sum(axis=0) == pytest.approx(units.sum(axis=0), rel=1e-9)
    weights = rng.poisson(1, size=4560).astype(float)
    order = rng.permutation(4560)
    forward = np.cumsum(weights[:, None] * exact, axis=0)[-1]
    assert (forward == np.cumsum((weights[:, None] * exact)[order], axis=0)[-1]).all()


@settings(deadline=None, derandomize=True)
@given(st.lists(st.integers(-1_000_000, 1_000_000), min_size=1, max_size=50))
def test_counts_are_summed_as_they_are(counts: list[int]) -> None:
    column = np.array(counts, dtype=float)[:, None]
    assert (make_summable(column) == column).all()


def test_streams_of_one_seed_differ() -> None:
    assert make_generator(1, 0).integers(1 << 62) != make_generator(1, 1).integers(1 << 62)


def test_the_spread_of_a_resampled_sum_is_that_of_its_clusters() -> None:
    """A sum of n draws from n clusters has variance n · (mean square deviation)."""
    sums = draw_weights(4, seed=1, resamples=40_000) @ np.arange(4.0)
    assert sums.mean() == pytest.approx(6.0, abs=0.05)
    assert sums.var() == pytest.approx(4 * 1.25, rel=0.03)


def test_strata_take_the_difference_between_them_out_of_the_spread() -> None:
    weights = draw_weights(4, seed=1, resamples=50, strata=np.array([0, 0, 1, 1], dtype=np.intp))
    assert (weights @ np.array([0.0, 0.0, 5.0, 5.0]) == 10.0).all()


def test_above_two_and_a_half_percent_undefined_resamples_are_too_many() -> None:
    assert find_undefined(np.concatenate([np.arange(975.0), np.full(25, np.nan)])) is None
    reason = find_undefined(np.concatenate([np.arange(974.0), np.full(26, np.nan)]))
    assert reason == RESAMPLES_UNDEFINED(share=0.026)
    assert str(reason) == "2.6% of the resamples are undefined"
