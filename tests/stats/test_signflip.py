"""The randomisation test that exchanges the two conditions within a cluster."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.stats.estimate import FloatArray
from gendalens.stats.signflip import swap_test


def difference(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.asarray(first[:, 0] - second[:, 0])


def test_p_approaches_the_share_of_all_flips() -> None:
    """Six differences, all 64 sign patterns enumerated."""
    differences = np.array([1.0, 2.0, 3.0, -0.5, 2.5, 1.5])
    totals = [abs(float(np.dot(signs, differences))) for signs in product((-1, 1), repeat=6)]
    exact = sum(total >= abs(differences.sum()) - 1e-12 for total in totals) / 64
    p = swap_test(differences[:, None], np.zeros((6, 1)), difference, seed=1, flips=40_000)
    assert p == pytest.approx(exact, abs=0.005)


def test_p_is_never_zero() -> None:
    """Phipson & Smyth 2010: the data themselves are one of the flips."""
    p = swap_test(np.ones((60, 1)), np.zeros((60, 1)), difference, seed=1, flips=999)
    assert p == 1 / 1000


def test_equal_conditions_give_p_of_one() -> None:
    same = np.array([[0.1], [0.2], [0.7]])
    assert swap_test(same, same, difference, seed=1, flips=99) == 1.0


def test_a_single_cluster_can_never_reject() -> None:
    assert swap_test(np.array([[5.0]]), np.array([[1.0]]), difference, seed=1, flips=99) == 1.0


@settings(deadline=None, derandomize=True, max_examples=50)
@given(
    st.lists(
        st.tuples(st.integers(-5, 5), st.integers(-5, 5)),
        min_size=1,
        max_size=12,
    )
)
def test_p_does_not_depend_on_which_condition_comes_first(pairs: list[tuple[int, int]]) -> None:
    table = np.array(pairs, dtype=float)
    first, second = table[:, :1], table[:, 1:]
    forward = swap_test(first, second, difference, seed=3, flips=99)
    assert forward == swap_test(second, first, difference, seed=3, flips=99)
    assert forward is not None
    assert 0 < forward <= 1


def test_an_undefined_flip_counts_against_the_finding() -> None:
    def only_the_data(first: FloatArray, second: FloatArray) -> FloatArray:
        total = difference(first, second)
        return np.where(np.abs(total) < 60, np.nan, total)

    assert swap_test(np.ones((60, 1)), np.zeros((60, 1)), only_the_data, seed=1, flips=99) == 1.0


def test_an_undefined_statistic_has_no_p() -> None:
    def undefined(first: FloatArray, second: FloatArray) -> FloatArray:
        return np.full(len(first), np.nan)

    assert swap_test(np.ones((3, 1)), np.zeros((3, 1)), undefined, seed=1, flips=9) is None


def test_the_same_seed_gives_the_same_p() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 40, 1))
    p = swap_test(first, second, difference, seed=5, flips=999)
    assert p == swap_test(first, second, difference, seed=5, flips=999)
