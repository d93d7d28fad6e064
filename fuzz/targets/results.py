"""Results and records on disk: ``gendalens show``, ``compare``, ``report`` and ``gate``."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import report_run
from rich.console import Console

from fuzz.target import Input, Target
from gendalens.cli.show import FORMATS
from gendalens.comparison import gate
from gendalens.comparison.comparison import compare
from gendalens.compat import detailed
from gendalens.report.exports.comparison_tables import long_table as compared
from gendalens.report.exports.junit import junit
from gendalens.report.exports.tables import to_csv
from gendalens.report.terminal import result as terminal
from gendalens.results import saved_results
from gendalens.results.result import Result
from gendalens.results.saved_results import SavedResult

# The share of accepted inputs for which a page is drawn, which is slow.
PAGES = 0.01


class Results(Target):
    """Accepted: the result as written in the file, in every output format."""

    name: ClassVar[str] = "results"
    share: ClassVar[float] = 8
    words: ClassVar[tuple[bytes, ...]] = (
        *(b"null", b"true", b"1e999", b'"headline": ', b'"value": null', b'"signature": ""', b"|"),
        *(b"bias found", b"lm-abc", b'"n": -1', b"seed:", b"sample:", b"tests:"),
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        #: Whether every input is written in all output formats instead of one.
        self.thorough = False
        report_run.make(folder)
        self.places: dict[str, Path] = {}
        found = {}
        for one in saved_results.find_results([folder / "run"]):
            base = f"{one.result.task}-{one.result.model.name.partition(':')[2].partition('?')[0]}"
            self.places[base] = one.folder
            for name in (saved_results.RESULT, saved_results.RECORDS, saved_results.RUN):
                content = (one.folder / name).read_bytes()
                if name == saved_results.RECORDS:  # a few lines suffice
                    content = b"".join(content.splitlines(keepends=True)[:12])
                    (one.folder / name).write_bytes(content)
                found[base, name] = content
        self.bases = found

    def draw_input(self, dice: Random) -> Input:
        """Mostly the result itself, because the other files are rarely read."""
        while True:
            given = super().draw_input(dice)
            if given.file == saved_results.RESULT or dice.random() < 0.3:
                return given

    def check_input(self, given: Input) -> None:
        """Load the result, compare it with the file, and write it in one of the output formats."""
        folder = self.places[given.base]
        path = folder / given.file
        path.write_bytes(given.content)
        try:
            one = saved_results.load_result(folder)
            if given.file == saved_results.RESULT:
                plain = json.loads(one.result.to_json())
                content = json.loads(given.content)
                assert _without_texts(plain) == _without_texts(content), "the result as it stands"
            rows = list(one.records())
            # As bytes: text mode would treat a carriage return between two values as a line end.
            lines = (folder / saved_results.RECORDS).read_bytes().split(b"\n")
            assert len(rows) == sum(bool(line.strip()) for line in lines), "every record"
            assert isinstance(one.run, dict)
            dice = Random(given.content)
            for way in WAYS if self.thorough else (dice.choice(WAYS),):
                way(one)
            if dice.random() < PAGES:
                _write_page(one, self.folder / "page.html")
        finally:
            path.write_bytes(self.bases[given.base, given.file])


def _without_texts(plain: Any) -> Any:
    """A result without the English sentences, which are rebuilt from code and values."""
    if isinstance(plain, dict):
        return {key: _without_texts(one) for key, one in plain.items() if key != "text"}
    return [_without_texts(one) for one in plain] if isinstance(plain, list) else plain


def _show(one: SavedResult) -> None:
    console = Console(file=io.StringIO(), width=80)
    terminal.show(console, one.result, one.folder)
    terminal.show_summary(console, [one.result, one.result])


def _export(one: SavedResult) -> None:
    with redirect_stdout(io.StringIO()):
        for make in FORMATS.values():
            assert make([one])


def _compare(one: SavedResult) -> None:
    found = compare([one.folder])
    assert to_csv(compared(found))


def _judge(one: SavedResult) -> None:
    judgements = gate.judge([one.result], gate.Limits(effect=0.3))
    gate.decide(judgements)
    assert junit(judgements)


def _round_trip(one: SavedResult) -> None:
    assert repr(one.result)
    again = Result.from_dict(one.result.to_dict())
    assert again.to_json() == one.result.to_json()
    detailed(one.result)


def _write_page(one: SavedResult, path: Path) -> None:
    from gendalens.report.html.run_page import write

    write([one], path)


WAYS: tuple[Callable[[SavedResult], None], ...] = (_show, _export, _compare, _judge, _round_trip)
