"""Figures for the eye: rounding, intervals, and the spread that protocol 1 has in an interval's place."""

from __future__ import annotations

import pytest

from gendalens.report.figures import interval, number, p_value, shown_condition
from gendalens.result import Cell
from gendalens.stats.estimate import Estimate


def test_numbers_have_a_true_minus_and_no_negative_zero() -> None:
    assert [number(x) for x in (-1234.5, -0.001, None)] == ["−1,234.50", "0.00", "–"]
    assert interval(Estimate(0.005, -0.1, 0.11)) == "0.005 [−0.100, 0.110]"


@pytest.mark.parametrize(
    ("p", "shown"), [(0.0004, "p < .001"), (0.0124, "p = .012"), (None, "no p")]
)
def test_p_is_written_in_the_usual_manner(p: float | None, shown: str) -> None:
    assert p_value(p) == shown


def test_the_spread_over_name_draws_stands_where_an_interval_would() -> None:
    """As protocol 1 of ner-dane tells it: a mean and the SD of its repetitions."""
    cells = [
        Cell(condition="female", metric="f1", value=0.4632, n=565, reason=reason)
        for reason in ("spread over name draws: SD 0.01", "no interval, says 0.0.3", None)
    ]
    assert shown_condition(cells) == ["0.46 (SD 0.01)", "0.46", "0.46"]
