"""The chart of a figure over the steps of a training run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from gendalens.report.charts.charts import FILE_WIDTH, ROWS, Spec, Width, add_rows
from gendalens.report.charts.style import FOUND, GRID, INK, MUTED, NONE, UNCLEAR
from gendalens.words import translate

HEIGHT = 170  # of one panel
_STATES = ("found", "none", "unclear")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPoint:
    """A figure at one step, what was found (``state``: found, none, unclear), and its band."""

    step: int
    value: float | None
    low: float | None
    high: float | None
    state: str
    verdict: str
    band: float | None = None


@dataclass(frozen=True, slots=True)
class TrainingPanel:
    """One test over the steps: its title, the title of its axis, and a point per step."""

    title: str
    axis: str
    points: tuple[TrainingPoint, ...]


def draw_training(
    panels: Sequence[TrainingPanel], language: str, width: Width = FILE_WIDTH
) -> Spec:
    """A figure with its interval at every step, one panel per test, all on the same steps."""
    rows = [
        {
            "panel": place,
            "step": point.step,
            "value": point.value,
            "low": point.low,
            "high": point.high,
            "state": _name_state(point.state, language),
            "verdict": point.verdict,
        }
        for place, panel in enumerate(panels)
        for point in panel.points
    ]
    steps = [point.step for panel in panels for point in panel.points] or [0, 1]
    drawn = [
        _draw_panel(
            place, panel, (min(steps), max(steps)), language, width, place == len(panels) - 1
        )
        for place, panel in enumerate(panels)
    ]
    heading = translate("Bias over the steps of training", language)
    subtitle = translate(
        "95% intervals; effects within the grey band are too small to matter", language
    )
    title = alt.TitleParams(
        heading, subtitle=subtitle, anchor="start", fontSize=14, subtitleColor=MUTED, offset=14
    )
    chart = alt.vconcat(*drawn, spacing=14, title=title).properties(description=heading)
    spec = add_rows(chart.to_dict(validate=False), rows)
    return spec | {"config": spec["config"] | {"background": "white", "padding": 12}}


def _draw_panel(
    place: int,
    panel: TrainingPanel,
    steps: tuple[int, int],
    language: str,
    width: Width,
    is_last: bool,
) -> Any:
    # A margin on both sides keeps the marks of the first and last step off the frame.
    margin = max(1.0, 0.03 * (steps[1] - steps[0]))
    across = alt.Scale(domain=[steps[0] - margin, steps[1] + margin], nice=False, zero=False)
    x = alt.X(
        "step:Q",
        scale=across,
        axis=alt.Axis(
            title=translate("Step", language) if is_last else None,
            format=",d",
            tickMinStep=1,
            grid=False,
        ),
    )
    reach = _find_reach(panel)
    up = alt.Scale(domain=reach, nice=True, zero=False)
    axis = alt.Axis(title=panel.axis, format=".2~f", tickCount=5)
    y = alt.Y("value:Q", scale=up, axis=axis)
    colours = alt.Scale(
        domain=[_name_state(state, language) for state in _STATES], range=[FOUND, NONE, UNCLEAR]
    )
    shapes = alt.Scale(domain=colours.domain, range=["diamond", "circle", "square"])
    legend = alt.Legend(title=None, orient="top", symbolOpacity=1) if place == 0 else None
    colour = alt.Color("state:N", scale=colours, legend=legend)
    base = alt.Chart(ROWS).transform_filter(f"datum.panel == {place}")
    tooltip = [
        alt.Tooltip("step:Q", title=translate("Step", language), format=",d"),
        alt.Tooltip("value:Q", title=panel.axis, format=".3~f"),
        alt.Tooltip("low:Q", format=".3~f"),
        alt.Tooltip("high:Q", format=".3~f"),
        alt.Tooltip("verdict:N", title=translate("Verdict", language)),
    ]
    layers = []
    if (band := next((one.band for one in panel.points if one.band is not None), None)) is not None:
        ends = alt.Chart(alt.InlineData(values=[{"from": -band, "to": band}]))
        layers.append(
            ends.mark_rect(color=GRID, opacity=0.55).encode(
                y=alt.Y("from:Q", scale=up, axis=axis), y2="to:Q"
            )
        )
    layers += [
        alt.Chart(alt.InlineData(values=[{"value": 0}]))
        .mark_rule(color=INK, strokeWidth=1)
        .encode(y=y),
        base.transform_filter("isValid(datum.value)")
        .mark_line(color=MUTED, strokeWidth=1.5, opacity=0.6)
        .encode(x=x, y=y, order="step:Q"),
        base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_rule(strokeWidth=2.5, strokeCap="round")
        .encode(
            x=x,
            y=alt.Y("low:Q", scale=up, axis=axis),
            y2="high:Q",
            color=colour,
            tooltip=tooltip,
        ),
        base.transform_filter("isValid(datum.value)")
        .mark_point(size=80, filled=True, opacity=1)
        .encode(
            x=x,
            y=y,
            color=colour,
            shape=alt.Shape("state:N", scale=shapes, legend=legend),
            tooltip=tooltip,
        ),
    ]
    title = alt.TitleParams(
        panel.title, anchor="start", fontSize=13, fontWeight="bold", color=INK, offset=8
    )
    return alt.layer(*layers).properties(width=width, height=HEIGHT, title=title)


def _name_state(state: str, language: str) -> str:
    names = {
        "found": translate("bias found", language),
        "none": translate("no difference that matters", language),
        "unclear": translate("undecided or not measurable", language),
    }
    return names[state]


def _find_reach(panel: TrainingPanel) -> list[float]:
    """The ends of the vertical axis: all intervals, zero, and the band of what is negligible."""
    ends = [
        end for one in panel.points for end in (one.value, one.low, one.high) if end is not None
    ]
    bands = [end for one in panel.points if one.band for end in (-one.band, one.band)]
    low, high = min(0.0, *ends, *bands, 0.0), max(0.0, *ends, *bands, 0.0)
    margin = 0.06 * (high - low) or 0.5
    return [low - margin, high + margin]
