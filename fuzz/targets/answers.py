"""Answer files of all kinds: ``gendalens score TASK answers.jsonl``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import small_dane
import small_names
from answering import asked, choice
from small_answers import answer_all
from small_data import small_data

from fuzz.target import Input, Target
from gendalens.errors import UserError
from gendalens.models.requests import Request
from gendalens.predictions.answer_file import AnswerFile
from gendalens.predictions.form import request_id

# fill, score, top-token, reconstruct, resolve and tag.
TESTS = (
    *(("lm-dawinobias", 2), ("lm-abc", 2), ("lm-dawinobias", 1), ("lm-abc", 1)),
    *(("coref-dawinobias", 2), ("coref-abc", 2), ("ner-dane", 2)),
)
# Measuring takes a hundred times as long as reading, so only this share of the accepted is measured.
MEASURED = 0.02


class Answers(Target):
    """Accepted: exactly the answers in the file, one per request, ready to be measured."""

    name: ClassVar[str] = "answers"
    share: ClassVar[float] = 170
    words: ClassVar[tuple[bytes, ...]] = (
        *(
            b'"id": ',
            b'"log_probs": ',
            b'"first": null',
            b'"entities": ',
            b'"clusters": ',
            b"[[0, 1]]",
        ),
        *(b"null", b"true", b"{}", b"[]", b'"format": "gendalens-answers"', b'"labels": ["PER"]'),
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        register, minority = small_names.write(folder / "lists")
        data = {
            **small_data(folder / "data"),
            "dane": small_dane.write(folder / "own.conllu"),
            "names": register,
            "minority-names": minority,
        }
        self.path = folder / "answers.jsonl"
        self.tests: dict[str, tuple[Any, Sequence[Any], list[Request]]] = {}
        found = {}
        for name, protocol in TESTS:
            chosen = choice(name, data, protocol, sample=4, repeats=1)
            task = chosen.plan.task
            self.tests[task.card.id] = task, chosen.plan.items, chosen.requests
            found[task.card.id, "answers.jsonl"] = b"".join(answer_all(asked(chosen, folder)))
        self.bases = found

    def check_input(self, given: Input) -> None:
        """Read the file, compare with its content, and measure now and then."""
        task, items, requests = self.tests[given.base]
        self.path.write_bytes(given.content)
        file = AnswerFile(self.path, requests, name="mangled")
        held = read_plain(given.content)
        assert held.keys() == {request_id(request) for request in requests}
        found = dict(zip(requests, file.answer(file.encode(requests)), strict=True))
        for request, answer in found.items():
            plain = json.loads(json.dumps(asdict(answer)))
            for name, value in held[request_id(request)].items():
                assert plain[name] == value, f"{name} is {value!r} in the file"
        if Random(given.content).random() < MEASURED:
            # An accepted file may still not suffice for a measurement, which is a user error.
            with suppress(UserError):
                fitted = task.fit(file)
                records = fitted.records(items, found)
                measures = fitted.measure(records, seed=0, resamples=20)
                plain = asdict(replace(measures, alternatives=()), dict_factory=_leave_out_draws)
                json.dumps([records, plain], allow_nan=False).encode()


def _leave_out_draws(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A dictionary without the draws behind an estimate, which no file holds."""
    return {name: value for name, value in pairs if name != "draws"}


def read_plain(content: bytes) -> dict[str, Any]:
    """The content of an accepted file, read without any of the package's code."""
    _, *rest = content.decode("utf-8-sig").split("\n")
    plain = [json.loads(line) for line in rest if line]
    found = {one.pop("id"): one for one in plain}
    assert len(found) == len(plain), "an id twice"
    return found
