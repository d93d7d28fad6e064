"""Figures for the eye: rounding, intervals, and the spread that protocol 1 has in an interval's place."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from small_data import small_data

import gendalens
from gendalens.report.exports.result_tables import short_tables
from gendalens.report.exports.tables import to_markdown
from gendalens.report.figures import (
    head_conditions,
    list_conditions,
    show_cells,
    title_conditions,
)
from gendalens.report.terminal import result as terminal
from gendalens.report.terminal.console import PlainConsole
from gendalens.results.figures import (
    show_contrast,
    show_interval,
    show_number,
    show_p,
    show_p_value,
)
from gendalens.results.result import Cell, Contrast
from gendalens.stats.estimate import Estimate
from gendalens.words import phrase, write


@pytest.mark.parametrize(
    ("value", "digits", "english", "danish"),
    [
        (1234.5, 1, "1,234.5", "1.234,5"),
        (-1234.5, 2, "−1,234.50", "−1.234,50"),
        (-0.126, 2, "−0.13", "−0,13"),
        (-0.001, 2, "0.00", "0,00"),
        (None, 2, "–", "–"),
    ],
)
def test_numbers_have_a_true_minus_no_negative_zero_and_the_language_s_marks(
    value: float | None, digits: int, english: str, danish: str
) -> None:
    assert str(show_number(value, digits)) == english
    assert write(show_number(value, digits), "da") == danish


def test_an_interval_has_as_many_digits_as_its_figure() -> None:
    interval = show_interval(Estimate(0.005, -0.1, 0.11))
    assert str(interval) == "0.005 [−0.100, 0.110]"
    assert write(interval, "da") == "0,005 [−0,100; 0,110]"
    assert str(show_interval(Estimate(0.5, None, None, phrase("why")))) == "0.50"


def test_a_difference_has_its_unit_and_rates_one_digit_more() -> None:
    name = phrase("gap")
    bits = Contrast(name=name, unit="bits", value=0.5, low=0.25, high=0.75)
    assert str(show_contrast(bits)) == "0.50 [0.25, 0.75] bits"
    rate = Contrast(name=name, unit="share", value=0.5)
    assert (str(show_contrast(rate)), write(show_contrast(rate), "da")) == (
        "0.500 share",
        "0,500 andel",
    )
    nothing = Contrast(name=name, unit="share", value=None, reason=phrase("why"))
    assert str(show_contrast(nothing)) == "–"


@pytest.mark.parametrize(
    ("p", "alone", "english", "danish"),
    [
        (0.0004, "< .001", "p < .001", "p < 0,001"),
        (0.0124, ".012", "p = .012", "p = 0,012"),
        (0.001, ".001", "p = .001", "p = 0,001"),
        (0.9996, "1.000", "p = 1.000", "p = 1,000"),
        (1.0, "1.000", "p = 1.000", "p = 1,000"),
        (None, "no p", "no p", "intet p"),
    ],
)
def test_p_is_written_in_the_usual_manner(
    p: float | None, alone: str, english: str, danish: str
) -> None:
    assert str(show_p(p)) == alone
    assert str(show_p_value(p)) == english
    assert write(show_p_value(p), "da") == danish


def test_the_spread_over_name_draws_stands_where_an_interval_would() -> None:
    """As protocol 1 of ner-dane tells it: a mean and the SD of its repetitions."""
    cells = [
        Cell(condition="female", metric="f1", value=0.4632, n=565, sd=sd, reason=phrase("why"))
        for sd in (0.01, None)
    ]
    assert show_cells(cells) == ["0.46 (SD 0.01)", "0.46"]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_figure_is_cut_however_narrow_the_terminal(width: int, tmp_path: Path) -> None:
    data = small_data(tmp_path / "data")
    for result in gendalens.run("control:stereotyped", data=data, tasks=["lm-abc"], cache=False):
        console = PlainConsole(file=io.StringIO(), width=width)
        terminal.show(console, result, None)
        terminal.show_summary(console, [result, result])
        text = console.file.getvalue()  # type: ignore[attr-defined]
        assert "…" not in text
        for cell in result.conditions:
            fine = [one for one in result.nuance if one.condition == cell.condition]
            for word in " ".join(show_cells([cell, *fine])).split():
                assert word in text


def test_quartiles_are_not_taken_for_an_interval(tmp_path: Path) -> None:
    """GenDa Lens 0.0.3 gives the quartiles of lm-abc, and no interval."""
    data = small_data(tmp_path / "data")
    (result,) = gendalens.run("control:stereotyped", data=data, tasks=["lm-abc"], cache=False)
    cells = tuple(replace(cell, brackets="quartiles") for cell in result.conditions)
    classic = replace(result, protocol=1, conditions=cells)
    console = PlainConsole(file=io.StringIO(), width=80)
    terminal.show(console, classic, None)
    text = to_markdown(short_tables([classic]))
    assert "in brackets: quartiles" in console.file.getvalue()  # type: ignore[attr-defined]
    assert "in brackets: quartiles" in text
    assert "which gives no intervals" in text


def make_cell(metric: str, value: float, group: str | None = None) -> Cell:
    return Cell(condition="pro", group=group, metric=metric, value=value, n=1)


@pytest.mark.parametrize(
    ("overall", "title", "row"),
    [
        ("accuracy", "accuracy, F1", ["pro", "accuracy 0.51", "F1 0.30", "F1 0.63"]),
        ("f1", "F1", ["pro", "0.51", "0.30", "0.63"]),
    ],
)
def test_a_table_that_mixes_metrics_names_them_in_every_cell(
    overall: str, title: str, row: list[str]
) -> None:
    mixed: Any = SimpleNamespace(
        conditions=(make_cell(overall, 0.51),),
        nuance=(
            make_cell("f1", 0.3, "female occupations"),
            make_cell("f1", 0.63, "male occupations"),
        ),
    )
    assert title_conditions(mixed) == title
    assert list_conditions(mixed) == [row]
    assert head_conditions(mixed)[2:] == ["female occupations", "male occupations"]
