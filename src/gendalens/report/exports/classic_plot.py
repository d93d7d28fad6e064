"""The interaction plot that GenDa Lens 0.0.3 draws from a detailed table, as an Altair chart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gendalens.errors import UserError
from gendalens.report.escape import one_line

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

#: Main effect first, then the two groups, which also differ in lightness and dash.
COLOURS, DASHES = ["#6b7280", "#d95f02", "#5e3c99"], [[1, 0], [5, 3], [2, 2]]


@dataclass(frozen=True, slots=True)
class Layout:
    """The labels of a framework's plot: axes, the two conditions, and the groups."""

    title: str
    axis: str
    conditions: tuple[str, str]
    value: str
    groups: tuple[str, str]
    main: str | None


WINO = Layout(
    "DaWinoBias",
    "Condition",
    ("Anti-stereotypical", "Pro-stereotypical"),
    "Performance",
    ("Female (F1)", "Male (F1)"),
    "Main effect (accuracy)",
)
OCCUPATIONS = ("Female occupations", "Male occupations")
PRONOUN = "Anti-reflexive pronoun"
LAYOUTS: dict[tuple[str, str | None], Layout] = {
    ("ner", None): Layout(
        "NER, augmented DaNE",
        "Augmentation",
        ("Female names", "Male names"),
        "F1",
        ("Majority", "Minority"),
        None,
    ),
    ("dawinobias", "lm"): WINO,
    ("dawinobias", "coref"): WINO,
    ("abc", "lm"): Layout(
        "ABC", PRONOUN, ("Female", "Male"), "Median perplexity", OCCUPATIONS, "Main effect"
    ),
    ("abc", "coref"): Layout(
        "ABC", PRONOUN, ("Female", "Male"), "False positive rate", OCCUPATIONS, "Main effect"
    ),
}
TASKS = {"lm": "language model", "coref": "coreference"}


def classic_plot(
    data: pd.DataFrame, framework: str, model_name: str, task: str | None
) -> alt.LayerChart:
    """The plot of two conditions, with a line per group and one for the main effect."""
    import altair as alt

    task = None if framework == "ner" else task
    if (framework, task) not in LAYOUTS:
        raise UserError(
            "There is no plot of framework {framework} with task {task}; choose 'ner', or 'abc' or "
            "'dawinobias' with task 'lm' or 'coref'.",
            framework=repr(framework),
            task=repr(task),
        )
    layout = LAYOUTS[framework, task]
    names = [*([layout.main] if layout.main else []), *layout.groups]
    rows = _list_points(data, layout)
    order = alt.Scale(domain=names)
    colours, dashes = COLOURS[-len(names) :], DASHES[-len(names) :]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "condition:N",
            title=layout.axis,
            sort=list(layout.conditions),
            axis=alt.Axis(labelAngle=0),
        ),
        y=alt.Y("value:Q", title=layout.value, scale=alt.Scale(zero=False)),
        color=alt.Color(
            "group:N", title=None, scale=alt.Scale(domain=names, range=colours), sort=names
        ),
        tooltip=["group:N", "condition:N", "value:Q"],
    )
    lines = base.mark_line().encode(
        strokeDash=alt.StrokeDash(
            "group:N", title=None, scale=alt.Scale(domain=names, range=dashes), sort=names
        )
    )
    shapes = base.mark_point(filled=True, size=90, opacity=1).encode(
        shape=alt.Shape("group:N", title=None, scale=order, sort=names)
    )
    kind = f", {TASKS[task]} task" if task else ""
    title = f"{layout.title}{kind}: {one_line(model_name, 80)}"
    return alt.LayerChart(layer=[lines, shapes], width=360, height=280, title=title)


def _list_points(data: pd.DataFrame, layout: Layout) -> list[dict[str, object]]:
    """A row per group and condition, read from the third and fifth line of a detailed table."""
    lines = [[_read_figure(cell) for cell in line] for line in data.itertuples(index=False)]
    try:
        main = [figure for figure in lines[2] if figure is not None]
        fine = [figure for figure in lines[4] if figure is not None]
        points = [
            (group, condition, fine[2 * c + g])
            for c, condition in enumerate(layout.conditions)
            for g, group in enumerate(layout.groups)
        ]
        if layout.main is not None:
            points += [(layout.main, cond, main[c]) for c, cond in enumerate(layout.conditions)]
    except IndexError:
        raise UserError(
            "This is not a detailed table of that test: pass the second of the two tables that "
            "Evaluator returns, or that table read back from CSV."
        ) from None
    return [
        {"group": group, "condition": condition, "value": value}
        for group, condition, value in points
    ]


def _read_figure(cell: object) -> float | None:
    """The number at the start of a cell such as ``9.18 (7.87, 11.16)``, or None."""
    start = str(cell).split(" ")[0]
    try:
        value = float(start)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
