"""The charts, interactive on pages and static in files.

Every chart is a function from plain figures and a language to a Vega-Lite spec, made with Altair; the
spec's description is the title of the chart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, Literal

import altair as alt
from altair.utils.schemapi import debug_mode

from gendalens.data.builtin import occupations as builtin
from gendalens.data.occupations import Occupation, read_occupations
from gendalens.report.charts.style import (
    ALL,
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
from gendalens.report.wording import capitalize, name_identifier, name_leaning_unit, shorten
from gendalens.results.figures import show_interval
from gendalens.results.result import Cell, Result
from gendalens.stats.findings import Finding
from gendalens.tasks.views import Leanings
from gendalens.words import Message, phrase, translate, write

Width = int | Literal["container"]
Spec = dict[str, Any]
FILE_WIDTH = 560
ROW_HEIGHT = 40  # of a forest plot
#: Decimal notation, never 9e+1, without zeros at the end.
NUMBERS = ",.6~r"
LABEL_WIDTH = 150  # of the column of labels, which must leave room for the plot on a phone
#: The lines of a row's label, without its number.
_LABEL_LINES = "slice(split(datum.value, '\\n'), 1)"
ROWS = alt.NamedData("rows")
#: The lines of groups, in turn.
DASHES = ([1, 0], [9, 4], [9, 3, 2, 3], [5, 2])
#: The states of verdicts; all others are unclear.
STATES = {"bias": "found", "negligible": "none"}
BY_TEST = phrase("Gender effect size by test")


def find_state(finding: Finding) -> str:
    """The state of a finding in charts: found, none, or unclear (too little data, not measurable)."""
    return STATES.get(finding.headline, "unclear")


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One row of a forest plot; ``model`` is the second line of its label if there are several."""

    label: str
    result: Result
    model: str = ""


def draw_forest(
    rows: Sequence[ForestRow],
    language: str,
    width: Width = FILE_WIDTH,
    title: Message = BY_TEST,
) -> Spec:
    """A forest plot: effects with their intervals on one axis, one per row."""
    plain = [_make_forest_row(i, row, language) for i, row in enumerate(rows)]
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
    sides = translate("← female / anti · GES · male / pro →", language)
    axis = alt.Axis(title=_break_on_phones(sides, 24, width), format=".2~f", tickCount=7)
    x = alt.X("value:Q", scale=scale, axis=axis)
    names = alt.Axis(
        title=None,
        domain=False,
        ticks=False,
        grid=False,
        labelExpr=_LABEL_LINES,
        labelLimit=LABEL_WIDTH,
        labelColor=INK,
        labelPadding=8,
    )
    y = alt.Y("row:N", axis=names, sort=None, scale=alt.Scale(paddingInner=0, paddingOuter=0.1))
    base = alt.Chart(ROWS).encode(y=y)
    tooltip = [
        alt.Tooltip("label:N", title=translate("Test", language)),
        alt.Tooltip("figure:N", title="GES"),
        alt.Tooltip("verdict:N", title=translate("Verdict", language)),
    ]
    state_scale = alt.Scale(domain=["found", "none", "unclear"], range=[FOUND, NONE, UNCLEAR])
    colour = alt.Color("state:N", scale=state_scale, legend=None)
    shape = alt.Shape(
        "state:N",
        scale=alt.Scale(domain=["found", "none", "unclear"], range=["diamond", "circle", "square"]),
        legend=None,
    )
    zero = (
        alt.Chart(alt.InlineData(values=[{"value": 0}]))
        .mark_rule(color=MUTED, strokeWidth=1)
        .encode(x=alt.X("value:Q", scale=scale, axis=axis))
    )
    spans = (
        base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_rule(strokeWidth=2.5, strokeCap="round")
        .encode(
            x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", color=colour, tooltip=tooltip
        )
    )
    dots = (
        base.transform_filter("isValid(datum.value)")
        .mark_point(size=90, filled=True, opacity=1)
        .encode(x=x, color=colour, shape=shape, tooltip=tooltip)
    )
    height = max(1, len(plain)) * ROW_HEIGHT
    return stack_layers((zero, spans, dots), plain, width, height, write(title, language))


def _make_forest_row(place: int, row: ForestRow, language: str) -> dict[str, Any]:
    ges = row.result.gender_effect_size
    figure = write(show_interval(ges), language)
    lines = [shorten(row.label, 24)]
    if row.model:
        lines.append(shorten(row.model, 20))
    if ges.value is None:
        figure = translate("undefined", language)
        lines.append(f"GES {figure}")
    return {
        # The number keeps rows apart that have the same label.
        "row": "\n".join([str(place), *lines]),
        "label": f"{row.label} · {shorten(row.model, 40)}" if row.model else row.label,
        "value": ges.value,
        "low": ges.low,
        "high": ges.high,
        "state": find_state(row.result.finding),
        "figure": figure,
        "verdict": write(row.result.finding.message, language),
    }


def draw_interaction(result: Result, language: str, width: Width = FILE_WIDTH) -> Spec:
    """An interaction plot of the conditions: a line per group, the main effect dotted."""
    metric = (result.nuance or result.conditions)[0].metric
    cells = [
        cell
        for cell in (*result.conditions, *result.nuance)
        if cell.metric == metric and cell.condition != "reflexive" and cell.value is not None
    ]
    groups = list(dict.fromkeys(cell.group for cell in result.nuance))
    everyone = translate("all", language)
    names = [everyone, *(_label(str(group), language) for group in groups)]
    title = name_identifier(metric, language)
    plain = [_make_datum(cell, everyone, language) for cell in cells]
    conditions = list(dict.fromkeys(row["condition"] for row in plain))
    ends = [end for cell in cells for end in (cell.value, cell.low, cell.high) if end is not None]
    share = metric != "median_relative_perplexity" and all(0 <= end <= 1 for end in ends)
    # Vega would warn of an infinite extent if it had to derive the domain and no cell has an interval.
    domain = [0, 1] if share or not ends else [min(ends), max(ends)]
    scale = alt.Scale(domain=domain, nice=not share)
    y_axis = alt.Axis(title=capitalize(title), format=".1f" if share else NUMBERS)
    palette = [FEMALE, MALE, MAJORITY, MINORITY]
    if "majority names" in groups:
        palette = [MAJORITY, MINORITY, FEMALE, MALE]
    colours = alt.Scale(domain=names, range=[ALL, *palette[: len(groups)]])
    # Groups differ in their dashes too, for eyes and printers that see no colours.
    dashes = alt.Scale(domain=names, range=[[2, 3], *islice(cycle(DASHES), len(groups))])
    # One below the other: side by side, long names are cut on a phone.
    legend = alt.Legend(title=None, orient="top", symbolType="stroke", columns=1, labelLimit=300)
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
            alt.Tooltip("condition:N", title=translate("Condition", language)),
            alt.Tooltip("group:N", title=translate("Group", language)),
            alt.Tooltip("value:Q", title=title, format=",.3~f"),
            alt.Tooltip("low:Q", title=translate("lower end", language), format=",.3~f"),
            alt.Tooltip("high:Q", title=translate("upper end", language), format=",.3~f"),
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
    heading = phrase("{metric} by condition and group", metric=capitalize(title))
    return stack_layers((lines, bars, dots), plain, width, 260, write(heading, language))


def _make_datum(cell: Cell, everyone: str, language: str) -> dict[str, Any]:
    return {
        "condition": _label(cell.condition, language),
        "group": everyone if cell.group is None else _label(cell.group, language),
        "value": cell.value,
        "low": cell.low,
        "high": cell.high,
    }


def _label(identifier: str, language: str) -> str:
    """An identifier as an axis label, kept short and plain because Vega compiles it into expressions."""
    return shorten(name_identifier(identifier, language), 40)


def draw_leanings(found: Leanings, language: str, width: Width = FILE_WIDTH) -> Spec:
    """A scatter plot of leanings against the Danish share of women, for occupations that have one."""
    plain = list_leanings(found, language)
    most = max([abs(row["leaning"]) for row in plain], default=1.0) * 1.1 or 1.0
    unit = write(name_leaning_unit(found.unit), language)
    what = f"{capitalize(translate(found.what, language))} ({unit})"
    scale = alt.Scale(domain=[-most, most], nice=False)
    y_axis = alt.Axis(title=_break_lines(what), format=".2~f", tickCount=7)
    classes = [translate("female", language), translate("male", language)]
    share_title = translate("women in the occupation, Denmark (%)", language)
    class_title = translate("class in the data", language)
    dots = (
        alt.Chart(ROWS)
        .mark_point(size=70, filled=True, opacity=0.8)
        .encode(
            x=alt.X(
                "share:Q",
                title=_break_on_phones(capitalize(share_title), 26, width),
                scale=alt.Scale(domain=[0, 100]),
                axis=alt.Axis(tickCount=6),
            ),
            y=alt.Y("leaning:Q", scale=scale, axis=y_axis),
            color=alt.Color(
                "class:N",
                scale=alt.Scale(domain=classes, range=[FEMALE, MALE]),
                legend=alt.Legend(title=class_title, orient="top"),
            ),
            shape=alt.Shape(
                "class:N",
                scale=alt.Scale(domain=classes, range=["circle", "square"]),
                legend=alt.Legend(title=class_title, orient="top"),
            ),
            tooltip=[
                alt.Tooltip("occupation:N", title=translate("occupation", language)),
                alt.Tooltip("english:N", title=translate("in English", language)),
                alt.Tooltip("share:Q", title=share_title, format=".3~f"),
                alt.Tooltip("leaning:Q", title=translate("leaning", language), format="+.2f"),
            ],
        )
    )
    zero = (
        alt.Chart(alt.InlineData(values=[{"leaning": 0}]))
        .mark_rule(color=MUTED)
        .encode(y=alt.Y("leaning:Q", scale=scale, axis=y_axis))
    )
    heading = translate("The model's leaning and the share of women in Denmark", language)
    return stack_layers((zero, dots), plain, width, 320, heading)


def list_leanings(found: Leanings, language: str) -> list[dict[str, Any]]:
    """The dots of :func:`draw_leanings`: occupations with a published Danish share of women."""
    official = read_occupations(found.data)
    known: Mapping[str, Occupation | builtin.Occupation] = official
    if found.builtin:
        known = builtin.read_occupations()
    return [
        {
            "occupation": name,
            "english": official[name].english if name in official else "–",
            "share": known[name].dk_pct_women,
            "leaning": value,
            "class": translate(known[name].stereotype, language),
        }
        for name, value in found.by_occupation.items()
        if name in known and known[name].dk_pct_women is not None
    ]


@contextmanager
def skip_checks() -> Iterator[None]:
    """Disable Altair's validation and copying, which take most of its time; tests validate the specs."""
    with debug_mode(False):
        yield


def stack_layers(
    layers: Sequence[alt.Chart],
    rows: Sequence[Mapping[str, Any]],
    width: Width,
    height: int,
    title: str,
) -> Spec:
    """The spec of layers upon each other, with the rows that they show.

    Altair would do the same, but it copies every layer several times, which takes most of its time.
    """
    parts = [layer.to_dict(validate=False) for layer in layers]
    datasets: dict[str, Any] = {}
    for part in parts:
        datasets |= part.pop("datasets", {})
        schema = part.pop("$schema")
        part.pop("config")
    spec = {"$schema": schema, "description": title, "width": width, "height": height}
    return add_rows(spec | {"layer": parts, "datasets": datasets}, rows)


def add_rows(spec: Spec, rows: Sequence[Mapping[str, Any]]) -> Spec:
    """The spec in the house style, with its data."""
    return spec | {"config": CONFIG, "datasets": spec.get("datasets", {}) | {"rows": list(rows)}}


def _break_on_phones(text: str, most: int, width: Width) -> str | list[str]:
    """The title of a horizontal axis; a page with room joins its lines (``page.js``)."""
    return _break_lines(text, most) if width == "container" else text


def _break_lines(text: str, most: int = 44) -> list[str]:
    """An axis title broken into lines that fit beside a chart on a phone."""
    lines = [""]
    for part in text.split():
        if len(lines[-1]) + len(part) >= most and lines[-1]:
            lines.append("")
        lines[-1] = f"{lines[-1]} {part}".strip()
    return lines
