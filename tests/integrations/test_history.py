"""Bias over steps, as a frame and as a chart."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from altair.utils.schemapi import debug_mode

import gendalens
from gendalens.integrations import BiasHistory, BiasMeasurement
from gendalens.integrations.flat_figures import flatten_result, flatten_results


@pytest.fixture(scope="module")
def history() -> BiasHistory:
    """A model that comes to say *han* of everybody and then follows the stereotype, on two tests."""
    found = BiasHistory()
    models = ("control:fair", "control:always-han", "control:stereotyped?strength=0.9")
    for step, model in zip((0, 100, 200), models, strict=True):
        results = gendalens.run(
            model,
            tasks=["lm-dawinobias", "lm-abc"],
            data="builtin",
            sample=40,
            cache=False,
        )
        found.append(BiasMeasurement(tuple(results), seconds=2.0, step=step, epoch=step / 100))
    return found


def test_a_frame_has_a_row_per_step_and_test_with_numbers_as_numbers(history: BiasHistory) -> None:
    frame = history.to_frame()
    assert list(zip(frame.step, frame.task, strict=True)) == [
        (step, task) for step in (0, 100, 200) for task in ("lm-dawinobias", "lm-abc")
    ]
    numbers = frame[["gap", "gap_low", "gap_high", "gap_p", "ges", "contrast", "seconds"]]
    assert all(pd.api.types.is_float_dtype(kind) for kind in numbers.dtypes)
    last = history[-1].results[0]
    assert frame.iloc[4].gap == last.gap.value
    assert frame.iloc[4].finding == last.finding.headline == "bias"
    assert history.seconds == 6.0


def test_an_empty_history_has_an_empty_frame_and_chart() -> None:
    assert BiasHistory().to_frame().empty
    BiasHistory().plot().to_dict()


@pytest.mark.parametrize("figure", ["gap", "ges", "contrast"])
def test_a_chart_has_a_panel_per_test_and_every_interval(history: BiasHistory, figure: Any) -> None:
    with debug_mode(True):
        spec = history.plot(figure).to_dict(validate=True)
    assert [panel["title"]["text"] for panel in spec["vconcat"]] == ["lm-dawinobias", "lm-abc"]
    drawn = {(row["panel"], row["step"]): row for row in spec["datasets"]["rows"]}
    for measurement in history:
        for place, result in enumerate(measurement.results):
            row, figures = drawn[place, measurement.step], flatten_result(result)
            for shown, name in (("value", ""), ("low", "_low"), ("high", "_high")):
                assert row[shown] == figures.get(f"{figure}{name}")


def test_a_point_has_the_colour_of_its_own_verdict(history: BiasHistory) -> None:
    """A model that always says *han* is biased by the headline, and its gap is not what shows it."""
    rows = history.plot("gap").to_dict()["datasets"]["rows"]
    names = {"bias": "bias found", "negligible": "no difference that matters"}
    findings = [one.results[0].finding for one in history]
    verdicts = [next(e.verdict for e in one.evidence if e.id == "gap") for one in findings]
    assert verdicts != [one.headline for one in findings]  # so that the test can fail
    assert [row["state"] for row in rows if row["panel"] == 0] == [
        names.get(verdict, "undecided or not measurable") for verdict in verdicts
    ]


def test_undefined_figures_are_left_out_of_the_flat_figures(history: BiasHistory) -> None:
    figures = flatten_results(history[0].results)
    for result in history[0].results:
        assert (f"{result.task}/ges" in figures) == (result.gender_effect_size.value is not None)
        judged = result.finding.headline in ("bias", "negligible")
        assert (f"{result.task}/bias_found" in figures) == judged
    assert flatten_results(history[-1].results)["lm-dawinobias/bias_found"] == 1.0
    assert all(isinstance(one, float) for one in figures.values())
