"""A comparison as one HTML page: a forest plot, sortable tables, and differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from gendalens.comparison.comparison import Comparison, Group, Row
from gendalens.errors import UserError
from gendalens.report import provenance
from gendalens.report.charts import charts
from gendalens.report.html.page import Page, draw_all, render
from gendalens.report.html.texts import PageTexts
from gendalens.report.wording import explain_note
from gendalens.results.model_info import ModelInfo
from gendalens.results.result import Result
from gendalens.system.file_writing import write_target
from gendalens.tasks import get_task
from gendalens.tasks.base import HARMS, SOURCES
from gendalens.words import phrase


@dataclass(frozen=True, slots=True)
class Model:
    """A model with its results, for the list at the end of the page."""

    heading: str
    tests: tuple[Row, ...]

    @property
    def info(self) -> ModelInfo:
        """What the results say about the model."""
        return self.tests[0].result.model


def write(comparison: Comparison, path: Path) -> None:
    """Write the page of a comparison, atomically."""
    try:
        write_target(path, html(comparison))
    except OSError as error:
        raise UserError(
            "The page cannot be written to {path} ({reason}); choose another place.",
            path=str(path),
            reason=str(error.strerror),
        ) from None


def html(comparison: Comparison) -> str:
    """The comparison as one HTML page."""
    rows = [row for group in comparison.groups for row in group.rows]
    tests = [(row.result.task, row.result.protocol) for row in rows]
    texts = PageTexts.in_all_languages()
    title = phrase("Gender effect size by test and model")
    forest = partial(charts.draw_forest, _forest_rows(comparison.groups), title=title)
    return render(
        "compare.html.j2",
        Page(phrase("Models compared"), texts, draw_all({"forest": forest}, texts)),
        groups=comparison.groups,
        models=_group_by_model(rows),
        find_state=charts.find_state,
        explain_note=explain_note,
        differences=comparison.differences,
        cards=[get_task(*test).card for test in dict.fromkeys(tests)],
        limits=provenance.list_limits(row.result for row in rows),
        harms=HARMS,
        sources=SOURCES,
        data={
            (name, str(one["from"]), str(one["whose"]), str(one["sha256"]))
            for row in rows
            for name, one in row.result.data.items()
        },
    )


def _forest_rows(groups: Sequence[Group]) -> list[charts.ForestRow]:
    """The rows of the forest plot, ordered by test, so that models of one test are adjacent."""
    return [
        charts.ForestRow(group.test, _use_compared_figures(row), row.label)
        for group in groups
        for row in group.rows
    ]


def _use_compared_figures(row: Row) -> Result:
    """The result with the compared figures instead of its headline."""
    figures = row.figures
    return replace(row.result, gender_effect_size=figures.effect, finding=figures.finding)


def _group_by_model(rows: Sequence[Row]) -> list[Model]:
    labels = dict.fromkeys(row.label for row in rows)
    return [Model(label, tuple(row for row in rows if row.label == label)) for label in labels]
