"""What the records of ``ner-dane`` say about a sentence's document and its names, in both protocols."""

from __future__ import annotations

from pathlib import Path

import pytest
import small_dane
import small_names

from gendalens.data.registry import find_source
from gendalens.models.requests import TagAnswer
from gendalens.results.result import Record
from gendalens.tasks import get_task


@pytest.fixture(params=[1, 2])
def records(request: pytest.FixtureRequest, tmp_path: Path) -> list[Record]:
    register, minority = small_names.write(tmp_path / "lists")
    paths = {
        "dane": small_dane.write(tmp_path / "own.conllu"),
        "names": register,
        "minority-names": minority,
    }
    task = get_task("ner-dane", request.param).configure({"repeats": 3})
    items = task.items({name: find_source(name, override=path) for name, path in paths.items()})
    answers = {asked: TagAnswer(()) for asked in task.requests(items)}
    return task.records(items, answers)


def test_a_record_names_the_document_of_its_sentence(records: list[Record]) -> None:
    found = {row["sentence"]: row["document"] for row in records}
    assert found == {
        "hund": "sentences 1-1",
        "bog": "sentences 2-2",
        "fest": "sentences 3-3",
        "regn": "sentences 4-4",
    }


def test_a_record_gives_the_first_name_of_each_name(records: list[Record]) -> None:
    given = [name for row in records for name in row["names"]]
    assert {type(name["first"]) for name in given if name["bearers"] is not None} == {str}
    assert all(name["first"] is None for name in given if name["bearers"] is None)
    assert all(name["name"].startswith(name["first"]) for name in given if name["first"])
