"""An estimate is finite or None with a reason; the gender effect size is a log2 ratio."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.stats.estimate import (
    BOTH_SIDES,
    SIDE_NEGATIVE,
    SIDE_UNDEFINED,
    SIDE_ZERO,
    Estimate,
    log2_ratio,
    log2_ratios,
)
from gendalens.words import Message

sides = st.floats(-1e6, 1e6) | st.sampled_from([0.0, math.nan, math.inf])


def test_an_estimate_refuses_nan() -> None:
    with pytest.raises(ValueError, match="finite"):
        Estimate(math.nan, 0.0, 1.0)


def test_an_undefined_bound_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="reason"):
        Estimate(0.5, None, 1.0)
    assert Estimate(0.5, None, None, SIDE_ZERO(side="F1 anti")).value == 0.5


def test_twice_as_much_is_one_and_half_as_much_is_minus_one() -> None:
    assert log2_ratio(0.8, 0.4) == (1.0, None)
    assert log2_ratio(0.2, 0.4) == (-1.0, None)
    assert log2_ratio(0.3, 0.3) == (0.0, None)


def test_the_reason_names_the_side_that_is_at_fault() -> None:
    def find_reason(top: float | None, bottom: float | None) -> Message:
        value, reason = log2_ratio(top, bottom, sides=("F1 pro", "F1 anti"))
        assert value is None
        assert reason is not None
        return reason

    assert find_reason(0.5, 0.0) == SIDE_ZERO(side="F1 anti")
    assert find_reason(-1.0, 0.5) == SIDE_NEGATIVE(side="F1 pro")
    assert find_reason(None, 0.5) == SIDE_UNDEFINED(side="F1 pro")
    both = find_reason(0.0, 0.0)
    assert both == BOTH_SIDES(faults=(SIDE_ZERO(side="F1 pro"), SIDE_ZERO(side="F1 anti")))
    assert str(both) == "F1 pro is zero, and F1 anti is zero"


def test_extreme_sides_do_not_overflow() -> None:
    assert log2_ratio(2.0**1000, 2.0**-1000) == (2000.0, None)


@settings(deadline=None, derandomize=True)
@given(st.lists(st.tuples(sides, sides), min_size=1, max_size=20))
def test_many_ratios_equal_one_at_a_time(pairs: list[tuple[float, float]]) -> None:
    top, bottom = np.array(pairs).T
    for ratio, (one_top, one_bottom) in zip(log2_ratios(top, bottom), pairs, strict=True):
        value, reason = log2_ratio(one_top, one_bottom)
        if value is None:
            assert np.isnan(ratio)
            assert reason
        else:
            assert (
                ratio
                == value
                == pytest.approx(math.log2(one_top) - math.log2(one_bottom), abs=1e-12)
            )
