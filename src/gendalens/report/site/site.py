"""The pages of a site: the board of all models, and a page per model, test and occupation."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gendalens.comparison.comparison import Comparison, line_up
from gendalens.comparison.groups import Group
from gendalens.report.exports.result_tables import long_table
from gendalens.report.exports.tables import to_csv
from gendalens.report.html import run_page
from gendalens.report.html.bars import draw_value
from gendalens.report.html.board import Board, BoardModel, identify_model, make_board
from gendalens.report.html.comparison_page import describe_background
from gendalens.report.html.page import Page, Site, make_assets, render
from gendalens.report.html.texts import PageTexts
from gendalens.report.site.addresses import name_file
from gendalens.report.site.entries import Copy, Entries
from gendalens.report.site.occupations import Occupation, OccupationTable
from gendalens.report.wording import load_plugin_words, name_leaning_unit
from gendalens.results.frames import frame_figures
from gendalens.results.result import Result
from gendalens.tasks import get_task
from gendalens.tasks.base import Card
from gendalens.version import __version__
from gendalens.words import Message, phrase

#: Examples on the page of one model, shared by its tests.
EXAMPLES = 1000
TITLE = phrase("Gender bias in Danish language technology")
#: The folders of a site that hold nothing but its pages.
PAGES = ("models", "tests", "occupations")


@dataclass(frozen=True, slots=True)
class TestPage:
    """A test with the address of its page, relative to the first one."""

    card: Card
    groups: tuple[int, ...]

    @property
    def id(self) -> str:
        """Name and protocol."""
        return self.card.id

    @property
    def title(self) -> str:
        """What it asks."""
        return self.card.title

    @property
    def address(self) -> str:
        """The address of its page."""
        return f"tests/{self.card.name}-{self.card.protocol}.html"


@dataclass(frozen=True)
class SiteContent:
    """Everything that a site shows; its files are made one after the other."""

    entries: Entries

    @cached_property
    def comparison(self) -> Comparison:
        """The results in groups of comparable ones."""
        return line_up([one.result for one in self.entries.results])

    @cached_property
    def tests(self) -> list[TestPage]:
        """A page for each test and protocol."""
        places: dict[tuple[str, int], list[int]] = {}
        for place, group in enumerate(self.comparison.groups):
            key = group.comparability
            places.setdefault((key.task, key.protocol), []).append(place)
        return [TestPage(get_task(*test).card, tuple(found)) for test, found in places.items()]

    @cached_property
    def model_entries(self) -> dict[str, list[Copy]]:
        """The results of each model, by the name of its page."""
        found: dict[str, list[Copy]] = {}
        for one in self.entries.results:
            found.setdefault(_name_model_page(one.result), []).append(one)
        return found

    @cached_property
    def result_addresses(self) -> dict[str, str]:
        """Where each result stands, by signature."""
        return {
            one.result.signature: f"models/{page}.html#test-{number}"
            for page, entries in self.model_entries.items()
            for number, one in enumerate(entries, 1)
        }

    def make_board(self, root: str, numbers: Sequence[int] | None = None) -> Board:
        """The board of these groups (default: all), with addresses relative to a page."""
        chosen = range(len(self.comparison.groups)) if numbers is None else numbers
        tests = {place: test for test in self.tests for place in test.groups}

        def find_test(number: int, group: Group) -> str:
            test = tests[number]
            return f"{root}{test.address}#group-{test.groups.index(number) + 1}"

        return make_board(
            [self.comparison.groups[number] for number in chosen],
            find_model=lambda result: f"{root}models/{_name_model_page(result)}.html",
            find_result=lambda result: root + self.result_addresses[result.signature],
            find_test=find_test,
            numbers=tuple(chosen),
        )

    def write_files(self) -> Iterator[tuple[str, str | bytes]]:
        """Every file of the site with its relative path; models come first."""
        load_plugin_words()
        table = OccupationTable()
        board = self.make_board("../")
        columns = {
            row.result.signature: (column.place, column.find_place(row))
            for column in board.columns
            for row in column.group.rows
        }
        for page, entries in self.model_entries.items():
            models = run_page.prepare([one.shown for one in entries], EXAMPLES)
            yield f"models/{page}.html", run_page.render_models(models, Site("../"))
            for test in (test for model in models for test in model.tests):
                if test.leanings is not None:
                    table.add(*columns[test.result.signature], test.leanings)
        occupations = table.list_occupations()
        parquet = _write_parquet([one.result for one in self.entries.results])
        yield "index.html", self._write_index(occupations, parquet is not None)
        for own in self.tests:
            yield own.address, self._write_test(own, occupations)
        if occupations:
            yield "occupations/index.html", self._write_occupations(occupations, board)
            for name, text in self._write_each_occupation(occupations, board):
                yield f"occupations/{name}.html", text
        yield "data/results.csv", to_csv(long_table(one.result for one in self.entries.results))
        if parquet is not None:
            yield "data/results.parquet", parquet
        yield "data/results.json", self._write_json(occupations, board)
        for name, text in make_assets().items():
            yield f"assets/{name}", text

    def _write_index(self, occupations: Sequence[Occupation], has_parquet: bool) -> str:
        board = self.make_board("")
        return render(
            "site_index.html.j2",
            Page(TITLE, PageTexts.in_all_languages(), board=board.to_data()),
            Site(""),
            board=board,
            tests=self.tests,
            occupations=occupations,
            has_parquet=has_parquet,
            conflicts=self.entries.conflicts,
            merged=self.entries.merged,
            number_of_results=len(self.entries.results),
            wide=True,
            **self._describe(range(len(self.comparison.groups))),
        )

    def _describe(self, groups: Iterable[int]) -> dict[str, Any]:
        found = [self.comparison.groups[place] for place in groups]
        return describe_background([row for group in found for row in group.rows])

    def _write_test(self, own: TestPage, occupations: Sequence[Occupation]) -> str:
        board = self.make_board("../", own.groups)
        title = Message("", "{test}: {title:t}", {"test": own.id, "title": own.title})
        return render(
            "site_test.html.j2",
            Page(title, PageTexts.in_all_languages(), board=board.to_data()),
            Site("../"),
            own=own,
            board=board,
            tests=self.tests,
            occupations=occupations,
            wide=True,
            **self._describe(own.groups),
        )

    def _write_occupations(self, occupations: Sequence[Occupation], board: Board) -> str:
        units = {test.column: test.unit for one in occupations for test in one.tested}
        columns = [column for column in board.columns if column.place in units]
        rows = [
            {
                "text": f"{one.name} {one.english or ''}".lower()[:200],
                "columns": [columns.index(board.columns[test.column]) for test in one.tested],
            }
            for one in occupations
        ]
        data = {"counted": "occupations", "models": rows, "columns": [{} for _ in columns]}
        return render(
            "site_occupations.html.j2",
            Page(phrase("Occupations"), PageTexts.in_all_languages(), board=data),
            Site("../"),
            occupations=occupations,
            columns=columns,
            units={place: name_leaning_unit(unit) for place, unit in units.items()},
            tests=self.tests,
            wide=True,
        )

    def _write_each_occupation(
        self, occupations: Sequence[Occupation], board: Board
    ) -> Iterator[tuple[str, str]]:
        scales: dict[int, float] = {}
        for test in (test for one in occupations for test in one.tested):
            most = max(abs(test.lowest), abs(test.highest))
            scales[test.column] = max(scales.get(test.column, 0.0), most) or 1.0
        texts = PageTexts.in_all_languages()
        boards: dict[tuple[int, ...], tuple[Board, dict[int, int]]] = {}
        for place, own in enumerate(occupations):
            columns = tuple(test.column for test in own.tested)
            if columns not in boards:
                part = self.make_board("../", columns)
                boards[columns] = part, _match_models(board, part)
            part, places = boards[columns]
            title = Message("", "{name}", {"name": own.name[:80]})
            yield (
                own.file,
                render(
                    "site_occupation.html.j2",
                    Page(title, texts, board=part.to_data()),
                    Site("../"),
                    own=own,
                    place=place,
                    board=part,
                    board_places=places,
                    all_models=board.models,
                    scales=scales,
                    draw_value=draw_value,
                    name_leaning_unit=name_leaning_unit,
                    tests=self.tests,
                    find_state=None,
                ),
            )

    def _write_json(self, occupations: Sequence[Occupation], board: Board) -> str:
        plain = {
            "gendalens": __version__,
            "results": [one.result.to_dict() for one in self.entries.results],
            **self.comparison.to_dict(),
            "models": [_describe_model(model) for model in board.models],
            "occupations": [one.to_dict() for one in occupations],
            "conflicts": [
                {
                    "signature": conflict.signature,
                    "copies": [
                        {"place": one.place, "result": one.content, "records": one.records}
                        for one in conflict.copies
                    ],
                }
                for conflict in self.entries.conflicts
            ],
        }
        return json.dumps(plain, ensure_ascii=False, allow_nan=False) + "\n"


def _name_model_page(result: Result) -> str:
    return name_file(*identify_model(result))


def _describe_model(model: BoardModel) -> dict[str, Any]:
    return {"label": model.label, **model.info.to_dict()}


def _match_models(board: Board, part: Board) -> dict[int, int]:
    """The places of the models of a part of a board, by their places on the whole one."""
    places = {model.address: model.place for model in part.models}
    return {model.place: places[model.address] for model in board.models if model.address in places}


def _write_parquet(results: Sequence[Result]) -> bytes | None:
    """Every figure as a Parquet file; None without pyarrow."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return None
    file = io.BytesIO()
    frame_figures(results).to_parquet(file, engine="pyarrow", index=False)
    return file.getvalue()
