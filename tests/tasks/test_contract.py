"""What holds for every test, in both protocols."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest
import small_answers
import small_dane
import small_names
from small_data import small_data

from gendalens import tasks
from gendalens.data.registry import find_source
from gendalens.models.answer_rules import read_answer
from gendalens.models.requests import Answer, Request
from gendalens.results.model_info import ModelInfo
from gendalens.results.result import Measures, Result
from gendalens.tasks import all_tasks, get_task
from gendalens.tasks.base import Readings, Task
from gendalens.words import Message, phrase
from tools.messages import find_messages

PACKAGES = ("lm_dawinobias", "lm_abc", "chat_abc", "coref_dawinobias", "coref_abc", "ner_dane")
FOLDER = Path(tasks.__file__).parent
RESAMPLES = 2000
TESTS = sorted(key for key in all_tasks() if key[0].replace("-", "_") in PACKAGES)


def answer(request: Request) -> Answer:
    """An answer by a digest of the request."""
    plain = json.loads(json.dumps(asdict(request)))
    found = small_answers.answer({**plain, "kind": request.kind, "id": repr(request)})
    return read_answer(request, {name: value for name, value in found.items() if name != "id"})


@pytest.fixture(params=TESTS, ids=lambda one: f"{one[0]}@{one[1]}")
def task(request: pytest.FixtureRequest) -> Task[Any]:
    found = get_task(*request.param)
    return found.configure({"repeats": 2})


@pytest.fixture
def records(task: Task[Any], tmp_path: Path) -> list[dict[str, Any]]:
    register, minority = small_names.write(tmp_path / "lists")
    data = small_data(tmp_path) | {
        "dane": small_dane.write(tmp_path / "own.conllu"),
        "names": register,
        "minority-names": minority,
    }
    items = task.items({name: find_source(name, override=data[name]) for name in task.card.data})
    return task.records(items, {request: answer(request) for request in task.requests(items)})


@pytest.fixture
def result(task: Task[Any], records: list[dict[str, Any]]) -> Result:
    measures = task.measure(records, seed=0, resamples=50)
    return Result(
        task=task.card.name,
        protocol=task.card.protocol,
        model=ModelInfo("scripted", phrase("scripted model"), "1", "float32"),
        data={},
        signature="",
        harms={},
        sources={},
        **{one.name: getattr(measures, one.name) for one in fields(Measures)},
    )


@pytest.fixture(scope="module")
def marked() -> set[str]:
    """Every text that translators get to see."""
    return {found.text for found in find_messages()}


def find_texts(result: Result) -> Iterator[Message | None]:
    """Every message of a result."""
    figures = (result.gap, result.contrast, *result.conditions, *result.nuance, *result.extra)
    for figure in (result.gender_effect_size, *figures):
        for name in ("name", "reason", "note"):
            yield getattr(figure, name, None)
    yield from result.warnings
    yield from (result.problem, result.finding.reason)


def test_all_that_a_result_says_is_a_message_with_a_code(result: Result) -> None:
    for text in filter(None, find_texts(result)):
        assert isinstance(text, Message)
        assert re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)?", text.code)
        assert "{" not in str(text)


def test_every_figure_beside_the_headline_has_an_id_of_its_own(result: Result) -> None:
    ids = [extra.id for extra in result.extra]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", one) for one in ids)


def test_a_result_is_read_back_from_its_json(result: Result) -> None:
    assert Result.from_dict(json.loads(result.to_json())) == result


def test_protocol_one_has_no_clusters_and_no_controls(
    task: Task[Any], records: list[dict[str, Any]]
) -> None:
    assert (task.clusters(records) is None) == (task.card.protocol == 1)
    assert task.has_controls == (task.card.protocol == 2)


def test_options_are_fields_with_their_defaults() -> None:
    for task in all_tasks().values():
        defaults = {one.name: one.default for one in fields(task)}
        for option in task.options:
            assert defaults[option.name] == option.default


def test_every_word_that_people_read_is_marked_for_translation(
    task: Task[Any], result: Result, records: list[dict[str, Any]], marked: set[str]
) -> None:
    cells = (*result.conditions, *result.nuance)
    shown = {word for cell in cells for word in (cell.condition, cell.group or "")}
    shown |= {cell.metric.replace("_", " ").replace("f1", "F1") for cell in cells}
    shown |= {result.gap.unit, result.contrast.unit, *(extra.unit for extra in result.extra)}
    shown |= {word for one in task.examples(records) for word in (one.condition, one.outcome)}
    for name, value in result.coverage.items():
        shown.add(name.replace("_", " "))
        if isinstance(value, Mapping) and name != "labels":  # a model's own words
            shown |= set(value)
    assert {word for word in shown if word and word not in marked} == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_a_test_needs_no_other_test_and_protocol_two_not_protocol_one(package: str) -> None:
    for path in (FOLDER / package).glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {
            f"{node.module}.{name.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        for other in set(PACKAGES) - {package}:
            assert not any(name.startswith(f"gendalens.tasks.{other}") for name in imported)
        if path.stem not in ("__init__", "protocol1"):
            first = f"gendalens.tasks.{package}.protocol1"
            assert not any(name.startswith(first) for name in imported)


def test_what_tests_share_needs_none_of_them() -> None:
    for path in (FOLDER / "shared").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not any(f"gendalens.tasks.{package}" in text for package in PACKAGES)


@pytest.mark.parametrize("name", sorted({name for name, _ in all_tasks()}))
def test_every_finding_of_a_test_has_a_sentence_of_its_own(name: str) -> None:
    readings, defaults = get_task(name, 2).card.readings, Readings()
    own = (readings.male, readings.female, readings.alike)
    assert not {defaults.male, defaults.female, defaults.alike}.intersection(own)
    assert len({*own, *readings.groups.values()}) == 3 + len(readings.groups)


def test_every_test_resamples_as_often_as_the_documents_say() -> None:
    for task in all_tasks().values():
        assert inspect.signature(task.measure).parameters["resamples"].default == RESAMPLES
