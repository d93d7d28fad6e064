"""The interaction plot that GenDa Lens 0.0.3 draws from a detailed table, with its titles and labels.

As an Altair chart here, and by matplotlib in :mod:`gendalens.report.exports.classic_pyplot`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gendalens.errors import UserError
from gendalens.report.escape import one_line

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

#: The two groups, then the main effect; they also differ in dash.
COLOURS, DASHES = ["#f4a460", "#9370db", "#a9a9a9"], [[2, 2], [2, 2], [1, 0]]


@dataclass(frozen=True, slots=True)
class Layout:
    """The labels of a framework's plot: title, axes, legend, the two conditions, and the lines."""

    title: str
    axis: str
    value: str
    legend: str
    conditions: tuple[str, str]
    groups: tuple[str, str]
    main: str | None

    @property
    def lines(self) -> list[str]:
        """The lines of the plot: the groups, and the main effect if it is drawn."""
        return [*self.groups, *([self.main] if self.main else [])]


@dataclass(frozen=True, slots=True)
class Point:
    """The value of one line under one condition."""

    line: str
    condition: str
    value: float


def _lay_out_wino(task: str) -> Layout:
    return Layout(
        f"DaWinoBias, {task} Task",
        "Condition",
        "Performance",
        "Pronoun",
        ("Anti-stereotypical", "Pro-stereotypical"),
        ("Female (F1)", "Male (F1)"),
        "Main Effect (Accuracy)",
    )


def _lay_out_abc(task: str, value: str) -> Layout:
    return Layout(
        f"ABC {task} Task",
        "Anti-reflexive Pronoun",
        value,
        "Stereotypical Occupations",
        ("Female", "Male"),
        ("Female occupations", "Male occupations"),
        "Main Effect",
    )


LAYOUTS: dict[tuple[str, str | None], Layout] = {
    ("ner", None): Layout(
        "NER Task, Augmented DaNe",
        "Augmentation",
        "Performance",
        "Protected Group",
        ("Female Names", "Male Names"),
        ("Majority (F1)", "Minority (F1)"),
        None,
    ),
    ("dawinobias", "lm"): _lay_out_wino("LM"),
    ("dawinobias", "coref"): _lay_out_wino("Coreference"),
    ("abc", "lm"): _lay_out_abc("LM", "Median Perplexity"),
    ("abc", "coref"): _lay_out_abc("Coref", "False Positive Rates"),
}


def find_layout(framework: str, task: str | None) -> Layout:
    """The layout of a framework's plot; ``task`` is ignored for ``ner``, as in 0.0.3."""
    task = None if framework == "ner" else task
    if (framework, task) not in LAYOUTS:
        raise UserError(
            "There is no plot of framework {framework} with task {task}; choose 'ner', or 'abc' or "
            "'dawinobias' with task 'lm' or 'coref'.",
            framework=repr(framework),
            task=repr(task),
        )
    return LAYOUTS[framework, task]


def make_title(layout: Layout, model_name: str) -> str:
    """The title of the plot."""
    return f"{layout.title}: {one_line(model_name, 80)}"


def classic_plot(
    data: pd.DataFrame, framework: str, model_name: str, task: str | None
) -> alt.LayerChart:
    """The plot of two conditions, with a line per group and one for the main effect."""
    import altair as alt

    layout = find_layout(framework, task)
    names = layout.lines
    rows = [
        {"group": one.line, "condition": one.condition, "value": one.value}
        for one in list_points(data, layout)
    ]
    colours = alt.Scale(domain=names, range=COLOURS[: len(names)])
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "condition:N",
            title=layout.axis,
            sort=list(layout.conditions),
            axis=alt.Axis(labelAngle=0),
        ),
        y=alt.Y("value:Q", title=layout.value, scale=alt.Scale(zero=False)),
        color=alt.Color("group:N", title=layout.legend, scale=colours, sort=names),
        tooltip=["group:N", "condition:N", "value:Q"],
    )
    dashes = alt.Scale(domain=names, range=DASHES[: len(names)])
    lines = base.mark_line().encode(
        strokeDash=alt.StrokeDash("group:N", title=layout.legend, scale=dashes, sort=names)
    )
    points = base.mark_point(filled=True, size=90, opacity=1)
    title = make_title(layout, model_name)
    return alt.LayerChart(layer=[lines, points], width=360, height=280, title=title)


def list_points(data: pd.DataFrame, layout: Layout) -> list[Point]:
    """The points of the plot, read from the third and fifth line of a detailed table."""
    lines = [[_read_figure(cell) for cell in line] for line in data.itertuples(index=False)]
    try:
        main = [figure for figure in lines[2] if figure is not None]
        fine = [figure for figure in lines[4] if figure is not None]
        points = [
            Point(group, condition, fine[2 * c + g])
            for c, condition in enumerate(layout.conditions)
            for g, group in enumerate(layout.groups)
        ]
        if layout.main is not None:
            points += [Point(layout.main, one, main[c]) for c, one in enumerate(layout.conditions)]
    except IndexError:
        raise UserError(
            "This is not a detailed table of that test: pass the second of the two tables that "
            "Evaluator returns, or that table read back from CSV."
        ) from None
    return points


def _read_figure(cell: object) -> float | None:
    """The number at the start of a cell such as ``9.18 (7.87, 11.16)``, or None."""
    start = str(cell).split(" ")[0]
    try:
        value = float(start)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
