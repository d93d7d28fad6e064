"""The board: models by tests, with findings and figures, and what it is filtered by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gendalens.comparison.comparability import Comparability
from gendalens.comparison.groups import Group, Row
from gendalens.report.html.bars import Bar, draw_bar, find_scale
from gendalens.report.html.overview import PUBLISHED
from gendalens.report.provenance import list_reservations
from gendalens.results.model_info import ModelInfo
from gendalens.results.model_labels import count_up, label_models
from gendalens.results.result import Result
from gendalens.words import Message, phrase

#: What tells a model from all others.
Identity = tuple[str, str, str]


def identify_model(result: Result) -> Identity:
    """The model of a result: its name, revision and dtype."""
    model = result.model
    return model.name, model.revision, model.dtype


@dataclass(frozen=True, slots=True)
class BoardModel:
    """A row of the board: a model, with its label and the address of its page, if it has one."""

    place: int
    label: str
    info: ModelInfo
    address: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """What one result says: its row in its group, and its path in the comparison."""

    row: Row
    path: str
    bar: Bar | None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the board: comparable results of one test, drawn on one scale."""

    place: int
    group: Group
    about: Message
    settings: tuple[str, ...]
    address: str
    cells: Mapping[int, tuple[Cell, ...]] = field(default_factory=dict)

    @property
    def results(self) -> int:
        """The number of its results."""
        return sum(len(cells) for cells in self.cells.values())

    def find_cell(self, row: Row) -> Cell:
        """The cell of a row of the group."""
        return next(cell for cells in self.cells.values() for cell in cells if cell.row is row)

    def find_place(self, row: Row) -> int:
        """The place of the model of a row."""
        return next(
            place for place, cells in self.cells.items() if any(cell.row is row for cell in cells)
        )


@dataclass(frozen=True, slots=True)
class Facet:
    """Something to filter by: its values in words, in order."""

    name: str
    title: Message
    values: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Board:
    """Models by tests. Each column holds results that may be compared; nothing is averaged."""

    models: tuple[BoardModel, ...]
    columns: tuple[Column, ...]

    def list_cells(self, model: BoardModel) -> Iterator[tuple[Column, tuple[Cell, ...]]]:
        """The cells of a model, one entry per column."""
        for column in self.columns:
            yield column, column.cells.get(model.place, ())

    @property
    def facets(self) -> list[Facet]:
        """What the board can be filtered by, if there is a choice."""
        found = [
            Facet("kind", phrase("Kind of model"), _list_values(map(_name_kind, self.models))),
            *(
                Facet(name, title, _list_values(map(find, self.columns)))
                for name, title, find in _COLUMN_FACETS
            ),
        ]
        return [facet for facet in found if len(facet.values) > 1]

    def to_data(self) -> dict[str, Any]:
        """What the script filters by: for each facet, the number of the value of a row or column."""
        names = {facet.name: facet.values for facet in self.facets}
        finders = [(name, find) for name, _, find in _COLUMN_FACETS if name in names]
        return {
            "models": [
                {
                    "text": f"{model.info.name} {model.label}".lower()[:500],
                    "kind": _find_value(names["kind"], _name_kind(model))
                    if "kind" in names
                    else None,
                    "columns": [
                        column.place for column in self.columns if model.place in column.cells
                    ],
                }
                for model in self.models
            ],
            "columns": [
                {name: _find_value(names[name], find(column)) for name, find in finders}
                for column in self.columns
            ],
        }


def make_board(
    groups: Sequence[Group],
    *,
    find_model: Callable[[Result], str | None] = lambda result: None,
    find_result: Callable[[Result], str | None] = lambda result: None,
    find_test: Callable[[int, Group], str] = lambda place, group: f"#group-{place + 1}",
    numbers: Sequence[int] | None = None,
) -> Board:
    """The board of comparable results.

    ``find_model``, ``find_result`` and ``find_test`` give the addresses of pages, if there are any.
    ``numbers`` are those of the groups in the comparison, if these are only some of them.
    """
    results = [row.result for group in groups for row in group.rows]
    labels = dict(zip(map(identify_model, results), label_models(results), strict=True))
    ordered = sorted(labels, key=lambda identity: (count_up(labels[identity]), identity))
    places = {identity: place for place, identity in enumerate(ordered)}
    first = {identify_model(result): result for result in reversed(results)}
    models = tuple(
        BoardModel(place, labels[identity], first[identity].model, find_model(first[identity]))
        for identity, place in places.items()
    )
    return Board(
        models,
        tuple(
            _make_column(
                place, group, groups, places, find_result, find_test(number, group), number
            )
            for place, (number, group) in enumerate(
                zip(numbers or range(len(groups)), groups, strict=True)
            )
        ),
    )


def _make_column(
    place: int,
    group: Group,
    groups: Sequence[Group],
    places: Mapping[Identity, int],
    find_result: Callable[[Result], str | None],
    address: str,
    number: int,
) -> Column:
    most = find_scale(row.figures.effect for row in group.rows)
    cells: dict[int, tuple[Cell, ...]] = {}
    for i, row in enumerate(group.rows):
        model = places[identify_model(row.result)]
        one = Cell(
            row,
            f"groups.{number}.models.{i}",
            draw_bar(row.figures.effect, most),
            find_result(row.result),
        )
        cells[model] = (*cells.get(model, ()), one)
    settings = _list_settings(group, groups)
    return Column(place, group, _describe_data(group), settings, address, cells)


def _describe_data(group: Group) -> Message:
    """Whose data a group of results is about, and the size of the sample."""
    whole, *rest = list_reservations(group.rows[0].result) or [PUBLISHED]
    for note in rest:
        whole = phrase("{first}; {last}", first=whole, last=note)
    return whole


def _list_settings(group: Group, groups: Sequence[Group]) -> tuple[str, ...]:
    """What tells a group from others of the same test: options, checksums of data, the version."""
    own = _list_facts(group.comparability)
    others = [
        _list_facts(other.comparability)
        for other in groups
        if other is not group and other.test == group.test
    ]
    return tuple(
        f"{name} {value}"
        for name, value in own.items()
        if name != "sample" and any(other.get(name) != value for other in others)
    )


def _list_facts(key: Comparability) -> dict[str, str]:
    data = {name: checksum[:8] for name, checksum in key.data}
    return {**data, **dict(key.options), "gendalens": key.version}


def _name_kind(model: BoardModel) -> Message:
    return model.info.kind


def _name_protocol(column: Column) -> Message:
    return Message("", str(column.group.comparability.protocol))


def _name_version(column: Column) -> Message:
    return Message("", "{version}", {"version": column.group.comparability.version})


def _name_data(column: Column) -> Message:
    return column.about


_COLUMN_FACETS: tuple[tuple[str, Message, Callable[[Column], Message]], ...] = (
    ("data", phrase("Data"), _name_data),
    ("protocol", phrase("Protocol"), _name_protocol),
    ("version", phrase("Version of GenDa Lens"), _name_version),
)


def _list_values(values: Any) -> tuple[Message, ...]:
    """Distinct messages, ordered by their English text."""
    distinct = {str(value): value for value in values}
    return tuple(distinct[text] for text in sorted(distinct))


def _find_value(values: Sequence[Message], wanted: Message) -> int:
    return list(map(str, values)).index(str(wanted))
