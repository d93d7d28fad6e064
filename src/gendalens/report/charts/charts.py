"""The charts: one source for the page, where they are interactive, and for files.

Every chart is a function from plain figures to a Vega-Lite spec, made with Altair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
from altair.utils.schemapi import debug_mode

from gendalens.data.builtin import occupations as builtin
from gendalens.data.occupations import Occupation, occupations
from gendalens.report.charts.style import (
    ALL,
    BAND,
    CONFIG,
    FEMALE,
    FOUND,
    INK,
    MAJORITY,
    MALE,
    MINORITY,
    MUTED,
    NONE,
    UNCLEAR,
)
from gendalens.report.words import Language, capital, metric_name, number, said, shortened, word
from gendalens.results.result import Cell, Result
from gendalens.stats.findings import NEGLIGIBLE
from gendalens.tasks.shared.views import Leanings

Width = int | Literal["container"]
Spec = dict[str, Any]
FILE_WIDTH = 560
ROWS = alt.NamedData("rows")


def state(verdict: str) -> str:
    """What a verdict looks like: found, none, or unclear (too little data, not measurable)."""
    if verdict.startswith("bias found"):
        return "found"
    return "none" if verdict.startswith("no difference found") else "unclear"


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One line of a forest plot."""

    label: str
    result: Result


def forest(rows: Sequence[ForestRow], language: Language, width: Width = FILE_WIDTH) -> Spec:
    """Effects with their intervals on one axis, a row each."""
    plain = [_forest_row(i, row, language) for i, row in enumerate(rows)]
    ends = [
        abs(end)
        for row in rows
        for end in (
            row.result.gender_effect_size.value,
            row.result.gender_effect_size.low,
            row.result.gender_effect_size.high,
        )
        if end is not None
    ]
    most = max([0.5, *ends]) * 1.08
    scale = alt.Scale(domain=[-most, most], nice=False)
    axis = alt.Axis(title=word("forest_axis").of(language), format=".2~f", tickCount=7)
    x = alt.X("value:Q", scale=scale, axis=axis)
    y = alt.Y("row:O", axis=None, scale=alt.Scale(paddingInner=0, paddingOuter=0.1))
    base = alt.Chart(ROWS).encode(y=y)
    tooltip = [
        alt.Tooltip("label:N", title=word("test").of(language)),
        alt.Tooltip("figure:N", title="GES"),
        alt.Tooltip("verdict:N", title=word("verdict").of(language)),
    ]
    state_scale = alt.Scale(domain=["found", "none", "unclear"], range=[FOUND, NONE, UNCLEAR])
    colour = alt.Color("state:N", scale=state_scale, legend=None)
    shape = alt.Shape(
        "state:N",
        scale=alt.Scale(domain=["found", "none", "unclear"], range=["diamond", "circle", "square"]),
        legend=None,
    )
    band = (
        alt.Chart(alt.InlineData(values=[{"from": -NEGLIGIBLE, "to": NEGLIGIBLE}]))
        .mark_rect(color=BAND, opacity=1)
        .encode(x=alt.X("from:Q", scale=scale, axis=axis), x2="to:Q")
    )
    zero = (
        alt.Chart(alt.InlineData(values=[{"value": 0}]))
        .mark_rule(color=MUTED, strokeWidth=1)
        .encode(x=alt.X("value:Q", scale=scale, axis=axis))
    )
    spans = (
        base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_rule(strokeWidth=2.5, strokeCap="round", yOffset=9)
        .encode(
            x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", color=colour, tooltip=tooltip
        )
    )
    dots = (
        base.transform_filter("isValid(datum.value)")
        .mark_point(size=90, filled=True, opacity=1, yOffset=9)
        .encode(x=x, color=colour, shape=shape, tooltip=tooltip)
    )
    labels = base.mark_text(align="left", yOffset=-9, fontSize=12, color=INK).encode(
        x=alt.value(2), text="label:N", tooltip=tooltip
    )
    chart = alt.layer(band, zero, spans, dots, labels).properties(
        width=width, height=max(1, len(plain)) * 46, description=word("forest_title").of(language)
    )
    return finished(chart, plain)


def _forest_row(place: int, row: ForestRow, language: Language) -> dict[str, Any]:
    ges = row.result.gender_effect_size
    figure = number(ges.value, 2, language)
    if ges.low is not None and ges.high is not None:
        low, high = (number(end, 2, language) for end in (ges.low, ges.high))
        divider = "; " if language == "da" else ", "
        figure += f" [{low}{divider}{high}]"
    if ges.value is None:
        figure = word("undefined").of(language)
    undefined = f" · GES {figure}" if ges.value is None else ""
    return {
        "row": place,
        "label": shortened(row.label, 58) + undefined,
        "value": ges.value,
        "low": ges.low,
        "high": ges.high,
        "state": state(row.result.verdict),
        "figure": figure,
        "verdict": said(row.result.verdict).of(language),
    }


def interaction(result: Result, language: Language, width: Width = FILE_WIDTH) -> Spec:
    """The conditions against each other, a line per group, the main effect dashed."""
    metric = result.nuance[0].metric if result.nuance else result.conditions[0].metric
    cells = [
        cell
        for cell in (*result.conditions, *result.nuance)
        if cell.metric == metric and cell.condition != "reflexive" and cell.value is not None
    ]
    groups = list(dict.fromkeys(cell.group for cell in result.nuance))
    everyone = word("all").of(language)
    names = [everyone, *(_label(str(group), language) for group in groups)]
    title = metric_name(metric)
    plain = [_cell(cell, everyone, language) for cell in cells]
    conditions = list(dict.fromkeys(row["condition"] for row in plain))
    share = metric != "median_relative_perplexity"
    scale = alt.Scale(domain=[0, 1]) if share else alt.Scale(zero=False)
    y_axis = alt.Axis(title=capital(title.of(language)), format=".1f" if share else "~g")
    pair = [MAJORITY, MINORITY] if "majority names" in groups else [FEMALE, MALE]
    colours = alt.Scale(domain=names, range=[ALL, *pair])
    dashes = alt.Scale(domain=names, range=[[5, 4], [1, 0], [1, 0]])
    legend = alt.Legend(title=None, orient="top", symbolType="stroke")
    base = alt.Chart(ROWS).encode(
        x=alt.X(
            "condition:N",
            sort=conditions,
            title=None,
            axis=alt.Axis(labelAngle=0, labelFontSize=13),
            scale=alt.Scale(paddingInner=0.4),
        ),
        xOffset=alt.XOffset(
            "group:N", sort=names, scale=alt.Scale(paddingInner=0.6, paddingOuter=1)
        ),
        color=alt.Color("group:N", scale=colours, sort=names, legend=legend),
        tooltip=[
            alt.Tooltip("condition:N", title=word("condition").of(language)),
            alt.Tooltip("group:N", title=word("group").of(language)),
            alt.Tooltip("value:Q", title=title.of(language), format=",.3~f"),
            alt.Tooltip("low:Q", format=",.3~f"),
            alt.Tooltip("high:Q", format=",.3~f"),
        ],
    )
    y = alt.Y("value:Q", scale=scale, axis=y_axis)
    lines = base.mark_line(strokeWidth=2).encode(
        y=y, strokeDash=alt.StrokeDash("group:N", scale=dashes, sort=names, legend=legend)
    )
    bars = (
        base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_rule(strokeWidth=2)
        .encode(y=alt.Y("low:Q", scale=scale, axis=y_axis), y2="high:Q")
    )
    dots = base.mark_point(size=70, filled=True, opacity=1).encode(y=y)
    heading = word("interaction_title", metric=title.capital)
    chart = alt.layer(lines, bars, dots).properties(
        width=width, height=260, description=heading.of(language)
    )
    return finished(chart, plain)


def _cell(cell: Cell, everyone: str, language: Language) -> dict[str, Any]:
    return {
        "condition": _label(cell.condition, language),
        "group": everyone if cell.group is None else _label(cell.group, language),
        "value": cell.value,
        "low": cell.low,
        "high": cell.high,
    }


def _label(text: str, language: Language) -> str:
    """A word of the result for an axis: plain and short, as Vega compiles it into expressions."""
    return shortened(said(text).of(language), 40)


def leaning(found: Leanings, language: Language, width: Width = FILE_WIDTH) -> Spec:
    """Each occupation with a published Danish share: its leaning against the share of women."""
    plain = leaning_rows(found, language)
    most = max([abs(row["leaning"]) for row in plain], default=1.0) * 1.1 or 1.0
    what = f"{capital(said(found.what).of(language))} ({word(found.unit).of(language)})"
    scale = alt.Scale(domain=[-most, most], nice=False)
    y_axis = alt.Axis(title=_lines(what), format=".2~f", tickCount=7)
    classes = [word(name).of(language) for name in ("female", "male")]
    share_title = capital(word("share_women").of(language))
    dots = (
        alt.Chart(ROWS)
        .mark_point(size=70, filled=True, opacity=0.8)
        .encode(
            x=alt.X(
                "share:Q",
                title=share_title,
                scale=alt.Scale(domain=[0, 100]),
                axis=alt.Axis(tickCount=6),
            ),
            y=alt.Y("leaning:Q", scale=scale, axis=y_axis),
            color=alt.Color(
                "class:N",
                scale=alt.Scale(domain=classes, range=[FEMALE, MALE]),
                legend=alt.Legend(title=word("class").of(language), orient="top"),
            ),
            shape=alt.Shape(
                "class:N",
                scale=alt.Scale(domain=classes, range=["circle", "square"]),
                legend=alt.Legend(title=word("class").of(language), orient="top"),
            ),
            tooltip=[
                alt.Tooltip("occupation:N", title=word("occupation").of(language)),
                alt.Tooltip("english:N", title=word("in_english").of(language)),
                alt.Tooltip("share:Q", title=word("share_women").of(language), format=".3~f"),
                alt.Tooltip("leaning:Q", title=word("leaning").of(language), format="+.2f"),
            ],
        )
    )
    zero = (
        alt.Chart(alt.InlineData(values=[{"leaning": 0}]))
        .mark_rule(color=MUTED)
        .encode(y=alt.Y("leaning:Q", scale=scale, axis=y_axis))
    )
    chart = alt.layer(zero, dots).properties(
        width=width, height=320, description=word("occupations_title").of(language)
    )
    return finished(chart, plain)


def leaning_rows(found: Leanings, language: Language) -> list[dict[str, Any]]:
    """The dots of :func:`leaning`: occupations of the data set with a Danish share."""
    official = occupations(found.data)
    known: Mapping[str, Occupation | builtin.Occupation] = official
    if found.builtin:
        known = builtin.occupations()
    return [
        {
            "occupation": name,
            "english": official[name].english if name in official else "–",
            "share": known[name].dk_pct_women,
            "leaning": value,
            "class": word(known[name].stereotype).of(language),
        }
        for name, value in found.by_occupation.items()
        if name in known and known[name].dk_pct_women is not None
    ]


@contextmanager
def unchecked() -> Iterator[None]:
    """Altair without its checks and copies, which take most of its time; tests check the specs."""
    with debug_mode(False):
        yield


def finished(chart: Any, rows: Sequence[Mapping[str, Any]]) -> Spec:
    """The chart in the house style, with the rows that its marks show."""
    spec: Spec = chart.to_dict(validate=False)
    return spec | {"config": CONFIG, "datasets": spec.get("datasets", {}) | {"rows": list(rows)}}


def _lines(text: str, most: int = 44) -> list[str]:
    """An axis title broken into lines, so that it fits beside a chart on a phone."""
    lines = [""]
    for part in text.split():
        if len(lines[-1]) + len(part) >= most and lines[-1]:
            lines.append("")
        lines[-1] = f"{lines[-1]} {part}".strip()
    return lines
