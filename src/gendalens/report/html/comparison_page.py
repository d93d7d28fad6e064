"""A comparison as one HTML page: the board of models by tests, tables, and pairwise differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gendalens.comparison.comparison import Comparison
from gendalens.comparison.groups import Group, Pair, Row
from gendalens.errors import UserError
from gendalens.report import provenance
from gendalens.report.charts import charts
from gendalens.report.html.board import make_board
from gendalens.report.html.matrix import make_matrix
from gendalens.report.html.page import Page, render
from gendalens.report.html.texts import PageTexts
from gendalens.report.wording import explain_note
from gendalens.results.model_info import ModelInfo
from gendalens.system.file_writing import write_target
from gendalens.tasks import get_task
from gendalens.tasks.base import HARMS, SOURCES
from gendalens.words import phrase

#: With more models than this, the list of pairs has only those that differ; the matrix has all.
FULLY_LISTED = 12


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
    texts = PageTexts.in_all_languages()
    board = make_board(comparison.groups)
    places = [
        {row.label: column.find_place(row) for row in column.group.rows} for column in board.columns
    ]
    return render(
        "compare.html.j2",
        Page(phrase("Models compared"), texts, board=board.to_data()),
        board=board,
        places=places,
        matrices=[
            make_matrix(group, column, places[column])
            for column, group in enumerate(comparison.groups)
        ],
        list_pairs=list_pairs,
        number_of_differences=comparison.differences,
        wide=True,
        **describe_background(rows),
    )


def describe_background(rows: Sequence[Row]) -> dict[str, Any]:
    """What pages about many results need beside their tables: models, method, limits and data."""
    tests = [(row.result.task, row.result.protocol) for row in rows]
    return {
        "models": _group_by_model(rows),
        "find_state": charts.find_state,
        "explain_note": explain_note,
        "cards": [get_task(*test).card for test in dict.fromkeys(tests)],
        "limits": provenance.list_limits(row.result for row in rows),
        "harms": HARMS,
        "sources": SOURCES,
        "data": {
            (name, str(one["from"]), str(one["whose"]), str(one["sha256"]))
            for row in rows
            for name, one in row.result.data.items()
        },
    }


def list_pairs(group: Group) -> list[tuple[int, Pair]]:
    """The pairs of a group with their numbers; of very many, only those that differ."""
    numbered = list(enumerate(group.pairs))
    if len(group.rows) <= FULLY_LISTED:
        return numbered
    return [(number, pair) for number, pair in numbered if pair.finding.tells_apart]


def _group_by_model(rows: Sequence[Row]) -> list[Model]:
    labels: dict[str, list[Row]] = {}
    for row in rows:
        labels.setdefault(row.label, []).append(row)
    return [Model(label, tuple(own)) for label, own in labels.items()]
