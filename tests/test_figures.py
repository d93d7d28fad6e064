"""Figures for the eye: rounding, intervals, and the spread that protocol 1 has in an interval's place."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from small_data import small_data

import gendalens
from gendalens.report.exports.result_tables import short_tables
from gendalens.report.exports.tables import to_markdown
from gendalens.report.figures import interval, number, p_value, shown_condition
from gendalens.report.terminal import result as terminal
from gendalens.report.terminal.console import PlainConsole
from gendalens.results.result import Cell
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


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_figure_is_cut_however_narrow_the_terminal(width: int, tmp_path: Path) -> None:
    data = small_data(tmp_path / "data")
    for result in gendalens.run("control:stereotyped", data=data, tasks=["lm-abc"], cache=False):
        console = PlainConsole(file=io.StringIO(), width=width)
        terminal.show(console, result, None)
        terminal.summary(console, [result, result])
        text = console.file.getvalue()  # type: ignore[attr-defined]
        assert "…" not in text
        for cell in result.conditions:
            fine = [one for one in result.nuance if one.condition == cell.condition]
            for word in " ".join(shown_condition([cell, *fine])).split():
                assert word in text


def test_quartiles_are_not_taken_for_an_interval(tmp_path: Path) -> None:
    """GenDa Lens 0.0.3 gives the quartiles of lm-abc, and no interval."""
    data = small_data(tmp_path / "data")
    (result,) = gendalens.run("control:stereotyped", data=data, tasks=["lm-abc"], cache=False)
    reason = "low and high are the quartiles: GenDa Lens 0.0.3 gives no interval"
    cells = tuple(replace(cell, reason=reason) for cell in result.conditions)
    classic = replace(result, protocol=1, conditions=cells)
    console = PlainConsole(file=io.StringIO(), width=80)
    terminal.show(console, classic, None)
    text = to_markdown(short_tables([classic]))
    assert "in brackets: quartiles" in console.file.getvalue()  # type: ignore[attr-defined]
    assert "in brackets: quartiles" in text
    assert "which gives no intervals" in text
