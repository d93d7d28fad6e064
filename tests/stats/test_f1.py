"""F1 from counts, by hand and by its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.stats.f1 import f1_from_counts, rate

count = st.integers(0, 1000)


def test_a_hand_worked_f1() -> None:
    """Precision 6/8, recall 6/10: F1 = 2 · 0.75 · 0.6 / 1.35 = 2/3."""
    f1 = f1_from_counts(np.array([6.0]), np.array([2.0]), np.array([4.0]))
    assert f1.tolist() == pytest.approx([2 / 3])


def test_f1_is_zero_where_golds_are_missed_and_undefined_where_there_is_nothing() -> None:
    f1 = f1_from_counts(np.array([0.0, 0.0, 0.0]), np.array([0.0, 3.0, 0.0]), np.array([5.0, 0, 0]))
    assert f1[:2].tolist() == [0.0, 0.0]
    assert np.isnan(f1[2])


@settings(deadline=None, derandomize=True)
@given(st.integers(1, 1000), count, count)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(tp: int, fp: int, fn: int) -> None:
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    f1 = f1_from_counts(np.array([tp]), np.array([fp]), np.array([fn]))
    assert f1[0] == pytest.approx(2 * precision * recall / (precision + recall))


def test_a_rate_of_nothing_is_undefined() -> None:
    rates = rate(np.array([3.0, 0.0, 0.0]), np.array([4.0, 4.0, 0.0]))
    assert rates[:2].tolist() == [0.75, 0.0]
    assert np.isnan(rates[2])
