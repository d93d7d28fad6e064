"""A matrix of pairwise differences between the models of one test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gendalens.comparison.groups import Group, Pair
from gendalens.report.html.figures import count_digits
from gendalens.results.figures import count_decimals, in_points
from gendalens.results.result import Contrast
from gendalens.words import Message, phrase

_SIGNS = {
    "first_leans_further": ("▲", phrase("the row leans further to the male or stereotypical side")),
    "second_leans_further": (
        "▼",
        phrase("the column leans further to the male or stereotypical side"),
    ),
}
_GROUPS_DIFFER = ("G", phrase("they differ in groups"))


@dataclass(frozen=True, slots=True)
class Cell:
    """Two models: the difference of their main effect, its path, and what was found, as signs."""

    one: Contrast
    path: str
    signs: tuple[tuple[str, Message], ...]


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A model of the matrix with its number, its place on the board, and a cell for every later one."""

    number: int
    label: str
    place: int
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """The differences of the first figure of the main effect, for every two models."""

    figure: Message
    unit: str
    digits: int
    rows: tuple[MatrixRow, ...]


def make_matrix(group: Group, column: int, places: Mapping[str, int]) -> Matrix | None:
    """The matrix of a group; None if it has too few models for one.

    ``places`` are those of the models on the board, by label.
    """
    labels = [row.label for row in group.rows]
    if len(labels) < 3 or not all(pair.main for pair in group.pairs):
        return None
    numbers = {(pair.first, pair.second): number for number, pair in enumerate(group.pairs)}
    first = group.pairs[0].main[0]
    name = first.name.values.get("figure")
    digits = count_digits([pair.main[0] for pair in group.pairs], 2 if first.unit == "bits" else 3)
    return Matrix(
        figure=name if isinstance(name, Message) else first.name,
        unit=first.unit,
        digits=count_decimals(first.unit) if in_points(first.unit) else digits,
        rows=tuple(
            MatrixRow(
                i,
                label,
                places[label],
                tuple(
                    _make_cell(group.pairs[numbers[label, other]], column, numbers[label, other])
                    if (label, other) in numbers
                    else None
                    for other in labels[1:]
                ),
            )
            for i, label in enumerate(labels, 1)
        ),
    )


def _make_cell(pair: Pair, column: int, number: int) -> Cell:
    finding = pair.finding
    signs = [_SIGNS[finding.main]] if finding.main in _SIGNS else []
    if finding.groups == "differ":
        signs.append(_GROUPS_DIFFER)
    path = f"groups.{column}.differences.{number}.main.0"
    return Cell(pair.main[0], path, tuple(signs))
