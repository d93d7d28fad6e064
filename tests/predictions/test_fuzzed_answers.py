"""Mangled files of answers: one sentence, or exactly the answers that the file holds; never else."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import small_dane
import small_names
from answering import asked, choice
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_answers import answer_all
from small_data import small_data

from gendalens.errors import UserError
from gendalens.models.requests import ANSWER_TYPES, Answer, Request, Trial
from gendalens.predictions.answer_file import AnswerFile
from gendalens.predictions.form import request_id
from gendalens.tasks.base import Task

CASES = [
    ("lm-dawinobias", 2),
    ("lm-dawinobias", 1),
    ("lm-abc", 2),
    ("lm-abc", 1),
    ("chat-abc", 2),
    ("coref-dawinobias", 2),
    ("coref-dawinobias", 1),
    ("coref-abc", 2),
    ("coref-abc", 1),
    ("ner-dane", 2),
    ("ner-dane", 1),
]
fuzzed = settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def leave_out_draws(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """A dictionary without the draws behind an estimate, which no file holds."""
    return {name: value for name, value in pairs if name != "draws"}


@dataclass(frozen=True)
class Case:
    """A test on small data, and the lines of a sound file of answers to it."""

    task: Task[Any]
    items: Sequence[Any]
    requests: list[Request]
    lines: tuple[bytes, ...]

    def read(self, content: bytes, folder: Path) -> AnswerFile:
        path = folder / "answers.jsonl"
        path.write_bytes(content)
        return AnswerFile(path, self.requests, name="mangled")

    def measured(self, file: AnswerFile) -> dict[str, Any]:
        """Everything that a run would write, as far as this file decides it."""
        found = file.answer(file.encode(self.requests))
        return self.measure(file, dict(zip(self.requests, found, strict=True)))

    def measure(self, file: AnswerFile, found: dict[Request, Answer]) -> dict[str, Any]:
        """What a run makes of these answers, under the labels of the file."""
        task = self.task.fit(file)
        records = task.records(self.items, found)
        measures = replace(task.measure(records, seed=0, resamples=20), alternatives=())
        plain = {"records": records, **asdict(measures, dict_factory=leave_out_draws)}
        json.dumps(plain, ensure_ascii=False, allow_nan=False).encode()
        return plain


@cache
def case(name: str, protocol: int) -> Case:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        register, minority = small_names.write(folder / "lists")
        own = {"dane": small_dane.write(folder / "own.conllu")}
        data = {**small_data(folder / "data"), **own, "names": register, "minority-names": minority}
        chosen = choice(name, data, protocol, sample=8, repeats=1)
        plan = chosen.plan
        lines = tuple(answer_all(asked(chosen, folder)))
        return Case(plan.task, plan.items, chosen.requests, lines)


@cache
def figures(name: str, protocol: int) -> dict[str, Any]:
    """What the sound file gives."""
    one = case(name, protocol)
    with tempfile.TemporaryDirectory() as made:
        return one.measured(one.read(b"".join(one.lines), Path(made)))


def said(lines: bytes) -> dict[str, Any]:
    """What a file says, read without any of the package's code; for files that were accepted."""
    _, *rest = lines.decode("utf-8-sig").split("\n")
    plain = [json.loads(line) for line in rest if line]
    found = {one.pop("id"): one for one in plain}
    assert len(found) == len(plain)
    return found


def plain(answer: Answer) -> dict[str, Any]:
    return dict(json.loads(json.dumps(asdict(answer))))


def accepted(one: Case, content: bytes, folder: Path) -> AnswerFile | None:
    """The file if it was accepted, and then only with the answers it holds."""
    refused = ""
    try:
        file = one.read(content, folder)
    except UserError as error:
        refused = str(error)
    if refused:
        assert "\n" not in refused
        refused.encode()
        return None
    held = said(content)
    assert held.keys() == {request_id(request) for request in one.requests}
    for request in one.requests:
        (answer,) = file.answer(file.encode([request]))
        found = plain(answer)
        for name, value in held[request_id(request)].items():
            assert found[name] == value
    return file


@pytest.mark.parametrize(("name", "protocol"), CASES)
@fuzzed
@given(data=st.data())
def test_what_changes_no_answer_changes_no_figure(
    name: str, protocol: int, data: st.DataObject, tmp_path: Path
) -> None:
    one = case(name, protocol)
    header, *rest = one.lines
    rest = data.draw(st.permutations(rest))
    objects = [json.loads(line) for line in rest]
    turned = [dict(reversed(plain.items())) for plain in objects]
    ascii_ = data.draw(st.booleans())
    space = data.draw(st.sampled_from(["", " ", "\t", "\r"]))
    rest = [(json.dumps(o, ensure_ascii=ascii_) + space + "\n").encode() for o in turned]
    mark = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    content = mark + header + b"".join(rest)
    if data.draw(st.booleans()):
        content = content.rstrip(b"\n")
    file = accepted(one, content, tmp_path)
    assert file is not None
    assert one.measured(file) == figures(name, protocol)


@pytest.mark.parametrize(("name", "protocol"), CASES[::2])
@fuzzed
@given(data=st.data())
def test_lines_that_are_lost_doubled_or_exchanged_are_always_reported(
    name: str, protocol: int, data: st.DataObject, tmp_path: Path
) -> None:
    one = case(name, protocol)
    lines = list(one.lines)
    at = data.draw(st.integers(1, len(lines) - 1))
    other = data.draw(st.integers(1, len(lines) - 1))
    how = data.draw(st.sampled_from(["lose", "double", "cut", "rename", "blank", "header"]))
    if how == "lose":
        del lines[at : max(at + 1, other)]
    elif how == "double":
        lines.insert(other, lines[at])
    elif how == "cut":
        content = b"".join(lines)
        # Somewhere inside a line: what ends with a line is a file that lost lines.
        lines = [content[: data.draw(st.integers(1, len(content) - 3))]]
    elif how == "rename":
        plain = json.loads(lines[at])
        plain["id"] = data.draw(st.text() | st.integers() | st.none() | st.just(plain["id"][:-1]))
        lines[at] = json.dumps(plain).encode() + b"\n"
    elif how == "blank":
        lines.insert(at, b"\n")
    else:
        lines.insert(at, lines[0])
    assert accepted(one, b"".join(lines), tmp_path) is None


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**320), 10**320)
    | st.floats()
    | st.floats(-800, 0)
    | st.text(st.characters(), max_size=5)
    | st.sampled_from(["\ud800", "\x00", "\x1b[2J", "NaN", "PER", "|", "han"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


def replaced(plain: Any, data: st.DataObject) -> Any:
    """A value with something in it, at any depth, exchanged for something else."""
    if isinstance(plain, dict) and plain and data.draw(st.integers(0, 4)):
        name = data.draw(st.sampled_from(sorted(plain)))
        return {**plain, name: replaced(plain[name], data)}
    if isinstance(plain, list) and plain and data.draw(st.integers(0, 3)):
        at = data.draw(st.integers(0, len(plain) - 1))
        return [*plain[:at], replaced(plain[at], data), *plain[at + 1 :]]
    if isinstance(plain, int | float) and data.draw(st.booleans()):
        return plain + data.draw(st.integers(-3, 60))
    return data.draw(values)


@pytest.mark.parametrize(("name", "protocol"), CASES)
@fuzzed
@given(data=st.data())
def test_any_value_in_the_place_of_another_is_reported_or_taken_as_it_is(
    name: str, protocol: int, data: st.DataObject, tmp_path: Path
) -> None:
    one = case(name, protocol)
    lines = list(one.lines)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        changed = replaced(json.loads(lines[at]), data)
        lines[at] = json.dumps(changed).encode() + b"\n"
    measure_if_accepted(one, b"".join(lines), tmp_path)


@pytest.mark.parametrize(("name", "protocol"), CASES)
@fuzzed
@given(data=st.data())
def test_any_bytes_in_the_place_of_others_are_reported_or_taken_as_they_are(
    name: str, protocol: int, data: st.DataObject, tmp_path: Path
) -> None:
    one = case(name, protocol)
    content = b"".join(one.lines)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        gone = data.draw(st.integers(0, 6))
        put = data.draw(st.binary(max_size=4) | st.sampled_from([b"1", b"9", b"-", b"e9", b"\n"]))
        content = content[:at] + put + content[at + gone :]
    measure_if_accepted(one, content, tmp_path)


def measure_if_accepted(one: Case, content: bytes, folder: Path) -> None:
    """A file that was accepted gives the figures of the answers that it says, or the same refusal."""
    file = accepted(one, content, folder)
    if file is None:
        return
    held = said(content)
    answers = {request: build(request, held[request_id(request)]) for request in one.requests}
    assert attempt(lambda: one.measured(file)) == attempt(lambda: one.measure(file, answers))


def build(request: Request, plain: dict[str, Any]) -> Answer:
    """The answer that plain data describe."""
    fields = {name: tupled(value) for name, value in plain.items()}
    if "trials" in fields:
        fields["trials"] = tuple(Trial(*one) for one in fields["trials"])
    return ANSWER_TYPES[request.kind](**fields)


def tupled(value: Any) -> Any:
    return tuple(map(tupled, value)) if isinstance(value, list) else value


def attempt(measure: Callable[[], dict[str, Any]]) -> dict[str, Any] | str:
    """The figures, or why there are none."""
    try:
        return measure()
    except UserError as error:
        return str(error)
