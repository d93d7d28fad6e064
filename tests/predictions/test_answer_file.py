"""Every flaw of a file of answers is counted and reported, and nothing is scored."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import small_dane
import small_names
from answering import asked, choice, scored
from small_answers import answer_all
from small_data import small_data

from gendalens.cli.predictions import write_requests
from gendalens.errors import UserError
from gendalens.models.answer_fields import AnswerError
from gendalens.models.answer_rules import KINDS, read_answer
from gendalens.models.requests import (
    ANSWER_TYPES,
    Choose,
    ChooseAnswer,
    Resolve,
    Tag,
    TagAnswer,
    Trial,
)
from gendalens.predictions.answer_file import ANSWERED_ELSEWHERE
from gendalens.predictions.form import request_id
from gendalens.tasks import all_tasks


@pytest.fixture
def data(tmp_path: Path) -> dict[str, Path]:
    register, minority = small_names.write(tmp_path / "lists")
    own = small_dane.write(tmp_path / "own.conllu")
    sets = small_data(tmp_path / "data")
    return {**sets, "dane": own, "names": register, "minority-names": minority}


Refuse = Callable[..., str]


@pytest.fixture
def refuse(data: dict[str, Path], tmp_path: Path) -> Refuse:
    """The sentence about a file whose lines were changed."""

    def refused(task: str, change: Callable[[list[bytes]], Any], protocol: int = 2) -> str:
        chosen = choice(task, data, protocol, sample=2, repeats=1)
        lines = answer_all(asked(chosen, tmp_path))
        change(lines)
        path = tmp_path / "answers.jsonl"
        path.write_bytes(b"".join(lines))
        with pytest.raises(UserError) as caught:
            scored(chosen, path)
        sentence = str(caught.value)
        assert "\n" not in sentence
        assert sentence.startswith(str(path))
        return sentence

    return refused


def put(at: int, **fields: Any) -> Callable[[list[bytes]], None]:
    """A change of the fields of one line; None takes a field away."""

    def change(lines: list[bytes]) -> None:
        plain = {**json.loads(lines[at]), **fields}
        kept = {name: value for name, value in plain.items() if value is not ...}
        lines[at] = json.dumps(kept).encode() + b"\n"

    return change


def test_every_request_and_answer_fits_its_schema(data: dict[str, Path], tmp_path: Path) -> None:
    package = resources.files("gendalens.predictions")
    schemas = {
        name: json.loads(package.joinpath(f"{name}.schema.json").read_text(encoding="utf-8"))
        for name in ("requests", "answers")
    }
    kinds = set()
    for name, protocol in all_tasks():
        requests = asked(choice(name, data, protocol, sample=2, repeats=1), tmp_path)
        lines = {
            "requests": requests.read_text(encoding="utf-8").splitlines(),
            "answers": [line.decode() for line in answer_all(requests)],
        }
        kinds |= set(json.loads(lines["requests"][0])["kinds"])
        for side, schema in schemas.items():
            check = jsonschema.Draft202012Validator(schema)
            for line in lines[side]:
                check.validate(json.loads(line))
    # Each kind has been seen, and each has a form of its own on both sides.
    assert kinds == KINDS == set(ANSWER_TYPES)
    for schema in schemas.values():
        assert kinds < set(schema["$defs"])


def test_an_id_is_a_digest_of_all_that_is_asked(data: dict[str, Path]) -> None:
    for name, protocol in all_tasks():
        found = choice(name, data, protocol, repeats=1).requests
        assert len({request_id(request) for request in found}) == len(set(found))
    assert request_id(found[0]).startswith(f"{found[0].kind}:")


def test_ids_stay_what_the_documentation_shows() -> None:
    text = "Kokken maler sine stole."
    places = ((0, 6), (7, 12), (13, 17), (18, 23), (23, 24))
    shown = request_id(Resolve(text, places, (13, 17), ((0, 6),)))
    page = Path(__file__).parents[2] / "docs" / "prediction-files.md"
    assert page.read_text(encoding="utf-8").count(f'"id": "{shown}"') == 2


def test_requests_of_one_text_and_other_hints_have_other_ids(data: dict[str, Path]) -> None:
    ids: dict[int, set[str]] = {}
    for protocol in (1, 2):
        found = choice("ner-dane", data, protocol, repeats=1).requests
        plain = [one for one in found if "regner" in getattr(one, "text", "")]
        ids[protocol] = {request_id(request) for request in plain}
    assert len(ids[1]) == len(ids[2]) == 1
    assert ids[1] != ids[2]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda lines: lines.pop(), r"requests without an answer: 1 \(resolve:\w{32}\)\."),
        (lambda lines: lines.__delitem__(slice(1, 6)), r"without an answer: 5 \(.*; .*; .*; …\)"),
        (lambda lines: lines.append(lines[2]), r"twice: 1 \(line 8, resolve:\w+: the same in line"),
        (
            put(2, id="resolve:abc"),
            r"that match no request of this test: 1 \(line 3, resolve:abc\)",
        ),
        (put(2, id=7), r"answers without an id: 1 \(line 3\)"),
        (put(2, id="\x1b[31m\ud800"), r"line 3, \\x1b\[31m\\ud800"),
        (put(2, id=...), r"answers without an id: 1 \(line 3\)"),
        (lambda lines: lines.insert(2, lines[0]), r"without an id: 1 \(line 3: a second header"),
        (lambda lines: lines.insert(3, b" \r\n"), r"blank lines: 1 \(line 4\)"),
        (lambda lines: lines.append(b"\n"), r"blank lines: 1 \(line 8\)"),
        (lambda lines: lines.insert(1, b"\xff\n"), r"not UTF-8: 1 \(line 2: byte 1\)"),
        (lambda lines: lines.append(b"[1]\n"), r"no JSON object: 1 \(line 8\)"),
        (lambda lines: lines.append(lines.pop()[:-9]), r"line 7: the file ends in the middle"),
        (lambda lines: lines.append(b'{"id": NaN}\n'), r"not JSON: 1 \(line 8: NaN is not a JSON"),
        (lambda lines: lines.append(b'{"id": 1, "id": 2}\n'), r"a name occurs twice"),
        (lambda lines: lines.append(b"[" * 100_000 + b"\n"), r"nested too deeply"),
        (lambda lines: lines.append(b'{"id": ' + b"9" * 5000 + b"}\n"), r"not JSON: 1 \(line 8"),
        (put(3, clusters=[[[0, 4000]]]), r"outside the text: 1 \(line 4, .*: \[0, 4000\] in \d+"),
        (put(3, clusters=[[[-1, 4]]]), r"outside the text: 1"),
        (put(3, clusters=[[[4, 4]]]), r"outside the text: 1"),
        (put(3, clusters=[[[0, 10**400]]]), r"outside the text: 1"),
        (put(3, clusters=[[[0, 4.0]]]), r"wrong field: 1 .* is not a span of two whole numbers"),
        (put(3, clusters=[[[False, 4]]]), r"is not a span of two whole numbers"),
        (put(3, clusters=[[[0, 4, 5]]]), r"\[0, 4, 5\] is not a span"),
        (put(3, clusters=[[]]), r"\[\] is not a cluster"),
        (put(3, clusters=[[0, 4]]), r"0 is not a span"),
        (put(3, clusters={}), r"clusters is \{\}, which is not a list"),
        (put(3, clusters=...), r"clusters is missing"),
        (put(3, text="x"), r"text is not a field of such an answer"),
    ],
)
def test_a_flaw_is_counted_and_its_place_named(refuse: Refuse, change: Any, reason: str) -> None:
    sentence = refuse("coref-abc", change)
    assert re.search(reason, sentence), sentence
    assert "nothing was" in sentence


@pytest.mark.parametrize(
    ("task", "protocol", "fields", "reason"),
    [
        ("lm-abc", 2, {"log_likelihood": 0.1}, "above 0, and no probability"),
        ("lm-abc", 2, {"log_likelihood": "-3"}, "-3, which is not a number"),
        ("lm-abc", 2, {"log_likelihood": True}, "True, which is not a number"),
        ("lm-abc", 2, {"log_likelihood": -(10**400)}, "is not finite"),
        ("lm-abc", 2, {"log_likelihood": -1e300}, "which is implausibly low"),
        ("lm-abc", 2, {"log_likelihood": None}, "None, which is not a number"),
        ("lm-abc", 2, {"tokens": 0}, "tokens is 0, below 1"),
        ("lm-abc", 2, {"tokens": 3.0}, "3.0, which is not a whole number"),
        ("lm-abc", 2, {"tokens": 10**30}, "above 1,000,000"),
        ("lm-abc", 2, {"unscored": 2}, "only a first token"),
        ("lm-abc", 2, {"unknown": -1}, "unknown is -1, below 0"),
        ("lm-abc", 1, {"loss": -1}, "loss is -1, which is out of range"),
        ("lm-abc", 1, {"loss": 501}, "which is out of range"),
        ("lm-dawinobias", 2, {"log_probs": [-1]}, "log_probs has 1 numbers for 2 candidates"),
        ("lm-dawinobias", 2, {"pieces": [1, 0]}, "pieces is 0, below 1"),
        ("lm-dawinobias", 2, {"first": ""}, "printable"),
        ("lm-dawinobias", 2, {"first": "\ud800"}, "a lone surrogate"),
        ("lm-dawinobias", 2, {"first": "\x1b"}, "printable"),
        ("lm-dawinobias", 2, {"first": None}, "without a first choice where others have one: 1"),
        ("lm-dawinobias", 1, {"token": 7}, "7, which is not a text"),
        ("lm-dawinobias", 1, {"token": "\udfff"}, "a lone surrogate"),
        ("ner-dane", 2, {"entities": [[0, 2]]}, "is not an entity"),
        ("ner-dane", 2, {"entities": [[0, 2, 3]]}, "label is 3, which is not a text"),
        ("ner-dane", 2, {"entities": [[0, 2000, "PER"]]}, "span outside the text: 1"),
        ("ner-dane", 2, {"entities": [[0, 2, "PER"]] * 2}, "same entity occurs twice"),
    ],
)
def test_what_cannot_be_true_is_refused(
    refuse: Refuse, task: str, protocol: int, fields: dict[str, Any], reason: str
) -> None:
    assert reason in refuse(task, put(2, **fields), protocol)


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (b"", "has no header"),
        (b'{"format": "gendalens-answers", "version": 2}\n', "version 2 of the format"),
        (b'{"format": "gendalens-answers", "version": true}\n', "version True of the format"),
        (b'{"format": "gendalens-answers"}\n', "version None of the format"),
        (b'{"format": "gendalens-requests", "version": 1}\n', "is a file of requests"),
        (b'{"format": "gendalens-answers", "version": 1, "x": 1}\n', "x is not part of a header"),
        (
            b'{"format": "gendalens-answers", "version": 1, "labels": "PER"}\n',
            "not a list of words",
        ),
        (
            b'{"format": "gendalens-answers", "version": 1, "software": ["a|b"]}\n',
            "not a list of words",
        ),
        ('{"format": "gendalens-answers", "version": 1}\n'.encode("utf-16"), "has no header"),
    ],
)
def test_a_file_without_the_right_header_is_reported(
    refuse: Refuse, header: bytes, reason: str
) -> None:
    def change(lines: list[bytes]) -> None:
        lines[0] = header

    assert reason in refuse("ner-dane", change)


def test_a_label_that_the_header_does_not_name_is_reported(refuse: Refuse) -> None:
    sentence = refuse("ner-dane", put(0, labels=["PER", "LOC"]))
    assert "ORG is not one of the header's labels" in sentence


def test_an_empty_and_an_absent_file_are_reported(refuse: Refuse, data: dict[str, Path]) -> None:
    assert "is empty" in refuse("coref-abc", list.clear)
    with pytest.raises(UserError, match=r"ingen\.jsonl cannot be read \(No such file"):
        scored(choice("coref-abc", data), Path("ingen.jsonl"))
    with pytest.raises(UserError, match="cannot be read"):
        scored(choice("coref-abc", data), Path())


def test_answers_to_other_options_are_no_answers(data: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b"".join(answer_all(asked(choice("ner-dane", data, repeats=2), tmp_path))))
    with pytest.raises(
        UserError, match=r"that match no request of this test: 12 .* same test, protocol"
    ):
        scored(choice("ner-dane", data, repeats=1), path)


def test_the_result_says_that_the_answers_came_from_a_file(
    data: dict[str, Path], tmp_path: Path
) -> None:
    chosen = choice("coref-abc", data)
    lines = answer_all(asked(chosen, tmp_path))
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b"".join(lines))
    one = scored(chosen, path)
    assert one.model.kind == ANSWERED_ELSEWHERE()
    assert one.model.revision.startswith("answers sha256:")
    assert f"model:elsewhere@{one.model.revision}" in one.signature
    path.write_bytes(b"".join(lines).rstrip(b"\n"))
    assert scored(chosen, path).model.revision != one.model.revision


@pytest.mark.parametrize("length", [256, 5000])
def test_a_name_too_long_for_a_file_is_reported(
    data: dict[str, Path], tmp_path: Path, length: int
) -> None:
    with pytest.raises(UserError, match=r"The requests cannot be written to .*too long"):
        write_requests("coref-abc", choice("coref-abc", data).options, tmp_path / ("x" * length))


def gendalens(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "gendalens", *map(str, arguments)]
    return subprocess.run(command, capture_output=True)


@pytest.mark.slow
def test_the_commands_write_requests_and_score_answers(
    data: dict[str, Path], tmp_path: Path
) -> None:
    options = ["coref-abc", "--data", f"abc={data['abc']}", "--sample", "16"]
    listed = gendalens("requests", *options, "-o", "-")
    assert listed.returncode == 0, listed.stderr
    requests = tmp_path / "requests.jsonl"
    requests.write_bytes(listed.stdout)
    answers = tmp_path / "answers.jsonl"
    answers.write_bytes(b"".join(answer_all(requests)))
    named = ["--model-name", "stub", "--revision", "v2", "--out", tmp_path / "runs"]
    done = gendalens("score", *options[:1], answers, *options[1:], *named)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("\nstub ─".encode())
    assert b"coref-abc@2" in done.stdout
    (result,) = (tmp_path / "runs" / "stub").rglob("result.json")
    assert json.loads(result.read_text(encoding="utf-8"))["model"]["revision"].startswith("v2 ")
    answers.write_bytes(answers.read_bytes() * 2)
    done = gendalens("score", *options[:1], answers, *options[1:], *named)
    assert done.returncode == 2
    assert b"requests answered twice: 48" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("place", [".", "ingen/requests.jsonl"])
def test_a_place_that_takes_no_file_is_reported(
    place: str, data: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="-o - for standard output"):
        write_requests("coref-abc", choice("coref-abc", data).options, Path(place))


def test_a_device_is_written_to_and_not_replaced(data: dict[str, Path]) -> None:
    write_requests("coref-abc", choice("coref-abc", data, sample=2).options, Path("/dev/null"))
    assert Path("/dev/null").is_char_device()


CHOICE = Choose(("Han ler.", "Hun ler."))


def test_trials_of_a_chat_model_are_read() -> None:
    plain = {
        "log_probs": [-0.5, -1.0],
        "trials": [[0, 1, "answered", 1, [-0.5, -1]], [1, 0, "refused", -1, []]],
    }
    trials = (Trial(0, 1, "answered", 1, (-0.5, -1.0)), Trial(1, 0, "refused"))
    assert read_answer(CHOICE, plain) == ChooseAnswer((-0.5, -1.0), trials)
    tagged = {"entities": [], "trials": [[0, 0, "cut off", -1, []]], "invented": 3}
    assert read_answer(Tag("Anna ler."), tagged) == TagAnswer((), 0, (Trial(0, 0, "cut off"),), 3)


@pytest.mark.parametrize(
    "trial",
    [
        [0, 1, "answered", 2, []],
        [0, 1, "answered", -1, []],
        [0, 1, "answered", 1, [-0.5]],
        [0, 1, "asleep", 1, []],
        [0, 1, "answered", 1],
        [-1, 1, "answered", 1, []],
        [0, 1, "answered", 1, [0.5, -1]],
        [0, 1, ["answered"], 1, []],
        "answered",
    ],
)
def test_a_trial_that_cannot_be_is_refused(trial: Any) -> None:
    with pytest.raises(AnswerError):
        read_answer(CHOICE, {"log_probs": [-0.5, -1.0], "trials": [trial]})
