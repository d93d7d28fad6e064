"""Intervals under two crossed clusters, and the weighted median."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.stats.bootstrap import UNDEFINED
from gendalens.stats.crossed import (
    NO_SPREAD,
    ONE_CLUSTER,
    SHARE,
    UNBOUNDED,
    average_draws,
    crossed_draws,
    crossed_intervals,
    statistic_of_sums,
    weighted_medians,
)
from gendalens.stats.estimate import FloatArray

A, B = (grid.ravel() for grid in np.indices((6, 8)))
CLASS = (B >= 4).astype(int)


def weigh(weights: FloatArray) -> FloatArray:
    """The statistic that shows the weights of the units themselves."""
    return weights


def means(weights: FloatArray, values: FloatArray) -> FloatArray:
    return np.asarray(weights @ values / weights.sum(axis=1, keepdims=True))


@settings(deadline=None, derandomize=True, max_examples=300)
@given(
    st.lists(
        st.tuples(st.floats(-1e9, 1e9) | st.sampled_from([0.0, 1.0, 2.0]), st.integers(0, 4)),
        min_size=1,
        max_size=25,
    )
)
def test_a_weighted_median_is_the_median_of_repeated_values(
    pairs: list[tuple[float, int]],
) -> None:
    values = np.array([value for value, _ in pairs])
    counts = np.array([count for _, count in pairs])
    rows = np.stack([counts, np.ones_like(counts)]).astype(float)
    weighted, plain = weighted_medians(values, rows)
    assert plain == np.median(values)
    if counts.sum() == 0:
        assert np.isnan(weighted)
    else:
        assert weighted == np.median(np.repeat(values, counts))


def test_a_median_can_keep_to_a_subset_of_the_units() -> None:
    values = np.array([5.0, 1.0, 9.0, 3.0])
    where = np.array([True, False, True, True])
    assert weighted_medians(values, np.ones((2, 4)), where=where).tolist() == [5.0, 5.0]
    assert np.isnan(weighted_medians(values, np.ones((1, 4)), where=np.zeros(4, dtype=bool))).all()


def test_units_of_one_cluster_always_weigh_the_same() -> None:
    drawn = crossed_draws(weigh, A, B, seed=1, resamples=50)
    for codes, weights in zip((A, B, A * 8 + B), drawn.resampled, strict=True):
        assert weights.shape == (50, 48)
        _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        assert (weights == weights[:, first][:, inverse]).all()


def test_strata_keep_their_share_under_all_three_bootstraps() -> None:
    for weights in crossed_draws(weigh, A, B, seed=1, resamples=50, strata_b=CLASS).resampled:
        assert (weights[:, CLASS == 1].sum(axis=1) == 24).all()


def test_a_cluster_in_two_strata_is_refused() -> None:
    with pytest.raises(ValueError, match="two strata"):
        crossed_draws(weigh, A, B, seed=1, strata_a=CLASS)


def test_the_standard_error_of_a_mean_follows_the_two_way_formula() -> None:
    """V_a + V_b − V_cell with each V = Σ (cluster total of deviations)² / n² · G / (G − 1)."""
    rng = np.random.default_rng(5)
    y = rng.normal(size=48) + rng.normal(size=6)[A] + rng.normal(size=8)[B]
    off = y - y.mean()

    def variance(codes: np.ndarray[tuple[int], np.dtype[np.intp]]) -> float:
        totals = np.bincount(codes, weights=off)
        return float((totals**2).sum() / 48**2 * len(totals) / (len(totals) - 1))

    expected = variance(A) + variance(B) - variance(A * 8 + B)
    (estimate,) = crossed_intervals(
        lambda weights: means(weights, y[:, None]), A, B, seed=1, resamples=20_000
    )
    assert estimate.value == pytest.approx(y.mean())
    assert estimate.standard_error is not None
    assert estimate.standard_error**2 == pytest.approx(expected, rel=0.05)
    assert estimate.df == 5
    # t of 5 degrees of freedom at 97.5%: 2.5706 (any printed table).
    assert estimate.value is not None
    assert estimate.high is not None
    assert estimate.high - estimate.value == pytest.approx(
        2.5706 * estimate.standard_error, rel=1e-4
    )


def test_the_variance_is_never_below_that_of_either_factor() -> None:
    """Values that cancel within each row and column leave V_a = V_b = 0 and V_cell > 0."""
    checkers = np.where((A + B) % 2 == 0, 1.0, -1.0)
    (estimate,) = crossed_intervals(
        lambda weights: means(weights, checkers[:, None]), A, B, seed=1, resamples=200
    )
    assert estimate.standard_error == 0.0
    assert estimate.low == estimate.high == 0.0


def test_p_is_below_five_percent_exactly_where_the_interval_excludes_zero() -> None:
    y = np.random.default_rng(2).normal(size=(48, 40)) + np.linspace(-0.5, 0.5, 40)
    estimates = crossed_intervals(lambda weights: means(weights, y), A, B, seed=3, resamples=500)
    significant = [estimate.p is not None and estimate.p < 0.05 for estimate in estimates]
    excluded = [
        estimate.low is not None and estimate.high is not None and estimate.low * estimate.high > 0
        for estimate in estimates
    ]
    assert significant == excluded
    assert 0 < sum(excluded) < 40


def test_the_same_seed_gives_the_same_interval() -> None:
    y = np.random.default_rng(2).normal(size=(48, 1))
    once = crossed_intervals(lambda weights: means(weights, y), A, B, seed=3, resamples=300)
    assert once == crossed_intervals(lambda weights: means(weights, y), A, B, seed=3, resamples=300)
    assert once != crossed_intervals(lambda weights: means(weights, y), A, B, seed=4, resamples=300)


def test_a_function_of_sums_is_a_statistic() -> None:
    y = np.random.default_rng(2).normal(size=(48, 1))
    units = np.hstack([y, np.ones((48, 1))])
    ratio = statistic_of_sums(units, lambda sums: np.asarray(sums[:, :1] / sums[:, 1:]))
    (by_sums,) = crossed_intervals(ratio, A, B, seed=3, resamples=300)
    (by_weights,) = crossed_intervals(
        lambda weights: means(weights, y), A, B, seed=3, resamples=300
    )
    assert by_sums.value == pytest.approx(y.mean())
    assert by_sums.low == pytest.approx(by_weights.low)


def test_degrees_of_freedom_can_be_given_per_statistic() -> None:
    y = np.random.default_rng(2).normal(size=(48, 1))
    default, given = crossed_intervals(
        lambda weights: means(weights, np.hstack([y, y])), A, B, seed=3, df=[None, 3]
    )
    assert (default.df, given.df) == (5, 3)
    assert default.standard_error == given.standard_error
    assert default.high is not None
    assert given.high is not None
    assert given.high > default.high


def test_no_spread_gives_an_interval_without_width_and_says_so() -> None:
    constant = np.full((48, 2), 0.3) * [1, 0]
    estimate, zero = crossed_intervals(
        lambda weights: means(weights, constant), A, B, seed=1, resamples=100
    )
    assert estimate.value == estimate.low == estimate.high == pytest.approx(0.3)
    assert estimate.reason == NO_SPREAD()
    assert str(estimate.reason) == "there is no spread between clusters"
    assert estimate.p == 2.0**-5
    assert (zero.value, zero.low, zero.high, zero.p) == (0.0, 0.0, 0.0, 1.0)


def test_one_cluster_gives_no_bounds_and_says_so() -> None:
    y = np.arange(8.0)[:, None]
    (estimate,) = crossed_intervals(
        lambda weights: means(weights, y), np.zeros(8, dtype=int), np.arange(8), seed=1
    )
    assert (estimate.value, estimate.low, estimate.high, estimate.p) == (3.5, None, None, None)
    assert estimate.reason == ONE_CLUSTER()
    assert str(estimate.reason) == "a single cluster has no spread to measure"


def test_undefined_resamples_cost_the_bounds_only_of_their_own_statistic() -> None:
    y = np.random.default_rng(2).normal(size=48)
    only = A == 0  # absent from about a third of the resamples over six clusters

    def statistic(weights: FloatArray) -> FloatArray:
        left = weights[:, only].sum(axis=1)
        medians = weighted_medians(y, weights)
        return np.stack(
            [medians, np.where(left > 0, medians, np.nan), np.full(len(weights), np.nan)], axis=1
        )

    whole, partly, never = crossed_intervals(statistic, A, B, seed=1, resamples=400)
    assert whole.low is not None
    assert (partly.low, partly.high, partly.p) == (None, None, None)
    assert partly.value == whole.value
    assert partly.reason is not None
    assert partly.reason.code == "resamples_undefined"
    assert str(partly.reason).endswith("% of the resamples are undefined")
    assert never.value is None
    assert never.reason == UNDEFINED()


def test_an_interval_ends_where_its_figure_must() -> None:
    found = np.zeros((len(A), 1))
    found[(A == 0) & (B < 6)] = 1
    free, bounded = (
        crossed_intervals(lambda w: means(w, found), A, B, seed=1, resamples=200, ranges=[ends])[0]
        for ends in (UNBOUNDED, SHARE)
    )
    assert free.low is not None
    assert free.low < 0
    assert (bounded.value, bounded.low, bounded.high, bounded.p) == (
        free.value,
        0,
        free.high,
        free.p,
    )


def test_an_estimate_keeps_the_resamples_of_its_own_statistic() -> None:
    values = np.random.default_rng(2).standard_normal((48, 2))
    first, second = crossed_intervals(
        lambda weights: means(weights, values), A, B, seed=1, resamples=200
    )
    assert first.draws is not None
    assert second.draws is not None
    assert first.draws.variance**0.5 == first.standard_error
    assert second.draws.variance**0.5 == second.standard_error
    assert [part.shape for part in first.draws.resampled] == [(200, 1)] * 3
    assert first.widen(48).draws is first.draws


def test_the_draws_of_a_mean_are_the_mean_of_the_draws() -> None:
    values = np.random.default_rng(3).standard_normal((48, 3))

    def draw(columns: FloatArray) -> Any:
        return crossed_draws(lambda weights: means(weights, columns), A, B, seed=1, resamples=50)

    found = average_draws([draw(values[:, [place]]) for place in range(3)])
    expected = draw(values.mean(axis=1, keepdims=True))
    assert found.points == pytest.approx(expected.points)
    for one, other in zip(found.resampled, expected.resampled, strict=True):
        assert one == pytest.approx(other)
    assert found.variance == pytest.approx(expected.variance)


def test_draws_of_other_clusters_have_another_design() -> None:
    draws = [
        crossed_draws(weigh, codes, seed=1, resamples=resamples)
        for codes, resamples in ((A, 50), (A, 50), (B, 50), (A, 60))
    ]
    assert draws[0].design == draws[1].design
    assert draws[0].design not in (draws[2].design, draws[3].design)
