"""A comparison as one HTML page: a forest plot over all results, tables to sort, differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gendalens.comparison.comparison import Comparison, Group, Row
from gendalens.errors import UserError
from gendalens.report import provenance
from gendalens.report.charts import charts
from gendalens.report.exports.comparison_tables import tests
from gendalens.report.html.page import Page, render
from gendalens.report.words import LANGUAGES, shortened, word
from gendalens.results.result import Result
from gendalens.results.run_folder import replace_file
from gendalens.tasks import get_task
from gendalens.tasks.base import HARMS, SOURCES


@dataclass(frozen=True, slots=True)
class Model:
    """A model with its results, as the end of a page lists them."""

    heading: str
    tests: tuple[Row, ...]

    @property
    def info(self) -> Any:
        """What the results say about the model."""
        return self.tests[0].result.model


def write(comparison: Comparison, path: Path) -> None:
    """The page of a comparison, written whole or not at all."""
    try:
        replace_file(path, html(comparison))
    except OSError as error:
        raise UserError(
            f"The page cannot be written to {path} ({error.strerror}); choose another place with -o."
        ) from None


def html(comparison: Comparison) -> str:
    """The comparison as one HTML page."""
    rows = [row for group in comparison.groups for row in group.rows]
    settings = [group.setting for group in comparison.groups]
    cards = {(one.task, one.protocol): get_task(one.task, one.protocol).card for one in settings}
    forest = _forest_rows(comparison.groups)
    with charts.unchecked():
        drawn = {str(one): charts.forest(forest, one, "container") for one in LANGUAGES}
    return render(
        "compare.html.j2",
        Page(word("compare_title"), {"forest": drawn}),
        groups=comparison.groups,
        models=_models(rows),
        states={row.figures.verdict: charts.state(row.figures.verdict) for row in rows},
        count=tests(comparison),
        cards=list(cards.values()),
        limits=provenance.limits(row.result for row in rows),
        harms=HARMS,
        sources=SOURCES,
        data={
            (name, str(one["from"]), str(one["sha256"]))
            for row in rows
            for name, one in row.result.data.items()
        },
    )


def _forest_rows(groups: Sequence[Group]) -> list[charts.ForestRow]:
    """Test by test, so that models which took the same one stand together."""
    return [
        charts.ForestRow(f"{group.test} · {shortened(row.label, 40)}", _as_compared(row))
        for group in groups
        for row in group.rows
    ]


def _as_compared(row: Row) -> Result:
    """The result with the figures that are lined up in place of its headline."""
    figures = row.figures
    return replace(row.result, gender_effect_size=figures.effect, verdict=figures.verdict)


def _models(rows: Sequence[Row]) -> list[Model]:
    labels = dict.fromkeys(row.label for row in rows)
    return [Model(label, tuple(row for row in rows if row.label == label)) for label in labels]
