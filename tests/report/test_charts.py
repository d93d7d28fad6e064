"""The specifications of charts: what stands where, in which colour."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gendalens
from gendalens.report.charts import style
from gendalens.report.charts.charts import draw_interaction
from gendalens.report.charts.training_chart import TrainingPanel, TrainingPoint, draw_training
from gendalens.results.result import Result


@pytest.fixture(scope="module")
def result(small_run: Path) -> Result:
    return next(one for one in gendalens.load(small_run) if one.task == "coref-dawinobias")


def encode(layer: dict[str, Any]) -> dict[str, Any]:
    return {name: one["field"] for name, one in layer["encoding"].items() if "field" in one}


def test_lines_and_dots_stand_at_the_value_and_bars_reach_from_bound_to_bound(
    result: Result,
) -> None:
    lines, bars, dots = draw_interaction(result, "en")["layer"]
    assert [one["mark"]["type"] for one in (lines, bars, dots)] == ["line", "rule", "point"]
    assert encode(lines)["y"] == encode(dots)["y"] == "value"
    assert (encode(bars)["y"], bars["encoding"]["y2"]["field"]) == ("low", "high")
    for one in (lines, bars, dots):
        assert (encode(one)["x"], encode(one)["color"]) == ("condition", "group")
    # Lines and bars are equally thick, and the dots cover where they cross.
    assert lines["mark"]["strokeWidth"] == bars["mark"]["strokeWidth"] == 2


def test_groups_are_told_apart_without_colour(result: Result) -> None:
    [lines, *_] = draw_interaction(result, "en")["layer"]
    dashes = lines["encoding"]["strokeDash"]["scale"]
    assert len(dashes["domain"]) == len({str(one) for one in dashes["range"]}) == 3


def test_shares_are_drawn_from_nought_to_one_and_other_figures_as_far_as_they_go(
    result: Result,
) -> None:
    [lines, *_] = draw_interaction(result, "en")["layer"]
    assert lines["encoding"]["y"]["scale"]["domain"] == [0, 1]
    cells = tuple(replace(cell, value=5.0, low=2.0, high=9.0) for cell in result.nuance)
    [lines, *_] = draw_interaction(replace(result, nuance=cells), "en")["layer"]
    assert lines["encoding"]["y"]["scale"]["domain"][1] == 9.0


def test_text_is_darker_than_what_is_muted_and_both_than_the_grid() -> None:
    def lightness(colour: str) -> int:
        return sum(int(colour[at : at + 2], 16) for at in (1, 3, 5))

    assert lightness(style.INK) < lightness(style.MUTED) < lightness(style.GRID)
    assert style.CONFIG["axis"]["gridColor"] == style.GRID


def test_the_values_of_a_training_stand_over_its_steps_with_their_axis() -> None:
    figures = {"low": 0.0, "high": 1.0, "state": "found", "verdict": "bias"}
    points = tuple(TrainingPoint(step=step, value=step / 10, **figures) for step in (1, 2))  # type: ignore[arg-type]
    spec = draw_training([TrainingPanel(title="lm-abc", axis="bits", points=points)], "en")
    drawn = [
        layer["encoding"]["y"]
        for panel in spec["vconcat"]
        for layer in panel["layer"]
        if layer.get("encoding", {}).get("y", {}).get("field") == "value"
    ]
    assert drawn
    assert {(one["axis"]["title"], one["axis"]["format"]) for one in drawn} == {("bits", ".2~f")}
