"""A model that answers from a sheet, and runs of it through one test."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gendalens.engine.run_options import RunOptions
from gendalens.engine.session import Job, run_jobs
from gendalens.models.base import Backend, LoadOptions
from gendalens.models.requests import Answer, Request
from gendalens.results.model_info import ModelInfo
from gendalens.results.result import Result
from gendalens.tasks import get_task
from gendalens.version import __version__
from gendalens.words import phrase
from worked.messages import drop_texts, message
from worked.resampling import RESAMPLES

SEED = 7
MODEL: dict[str, Any] = {
    "name": "sheet",
    "kind": message(""),
    "revision": "r3",
    "dtype": "bfloat16",
    "tokenizer": "pieces",
    "software": ["abacus 1.5"],
    "hub_task": "fill-mask",
    "for_danish": True,
}


@dataclass(frozen=True)
class Question:
    request: Any
    rows: int = 1
    length: int = 1
    positions: int = 1


@dataclass
class AnswerSheet(Backend):
    """Answers by heart; a request that is not on the sheet is an error."""

    sheet: Mapping[Any, Answer]
    own_labels: tuple[str, ...] | None = None
    asked: list[Any] = field(default_factory=list)

    @property
    def info(self) -> ModelInfo:
        parts = {**MODEL, "kind": phrase("a sheet of answers"), "software": ("abacus 1.5",)}
        return ModelInfo(**parts)

    @property
    def answers(self) -> frozenset[str]:
        return frozenset(request.kind for request in self.sheet)

    @property
    def labels(self) -> tuple[str, ...] | None:
        return self.own_labels

    def fingerprint(self) -> str:
        return "sheet"

    def encode(self, requests: Sequence[Any]) -> list[Question]:
        return [Question(request) for request in requests]

    def answer(self, batch: Sequence[Question]) -> list[Answer]:
        self.asked += [one.request for one in batch]
        return [self.sheet[one.request] for one in batch]


@dataclass(frozen=True)
class WorkedRun:
    """What a run has written, as plain data without sentences."""

    result: Result
    plain: dict[str, Any]
    records: list[dict[str, Any]]
    asked: list[Request]


def run_sheet(
    tests: str | Sequence[str],
    protocol: int,
    sheet: Mapping[Any, Answer],
    data: Mapping[str, Path],
    out: Path,
    *,
    labels: tuple[str, ...] | None = None,
    resamples: int = RESAMPLES,
    **options: Any,
) -> list[WorkedRun]:
    """The runs of a sheet through one or more tests, with few resamples."""
    names = [tests] if isinstance(tests, str) else list(tests)
    model = AnswerSheet(sheet, labels)
    run_options = RunOptions(
        protocol=protocol,
        seed=SEED,
        data=data,
        out=out,
        use_cache=False,
        task_options=options,
        load=LoadOptions(offline=True),
    )
    with pytest.MonkeyPatch.context() as patch:
        for name in names:
            _draw_few(patch, type(get_task(name, protocol)), resamples)
        plans = [run_options.plan(get_task(name, protocol)) for name in names]
        report = run_jobs([Job(model, plans)], run_options)
    assert not report.failures
    found = []
    for outcome in report.outcomes:
        assert outcome.folder is not None
        plain = json.loads((outcome.folder / "result.json").read_text(encoding="utf-8"))
        lines = (outcome.folder / "records.jsonl").read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines]
        found.append(WorkedRun(outcome.result, drop_texts(plain), records, model.asked))
    return found


def _draw_few(patch: pytest.MonkeyPatch, task: Any, resamples: int) -> None:
    real = task.measure

    def measure(self: Any, records: Any, *, seed: int) -> Any:
        return real(self, records, seed=seed, resamples=resamples)

    patch.setattr(task, "measure", measure)


def checksum(*files: Path) -> str:
    """The SHA-256 of a set: of its files' own sums and names, in the order of the names."""
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted(files, key=lambda file: file.name)
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def own_set(sums: Mapping[str, str], place: str) -> dict[str, Any]:
    """The ``data`` of a result on the user's own files."""
    return {name: {"from": place, "sha256": sha, "whose": "own"} for name, sha in sums.items()}


def signature(test: str, sums: Mapping[str, str], *settings: str, tests: str = "") -> str:
    """The line that says how to reproduce a result."""
    sets = "+".join(f"{name}@{sha[:12]}" for name, sha in sums.items())
    fields = [
        test,
        f"data:{sets}",
        "model:sheet@r3",
        "dtype:bfloat16",
        f"seed:{SEED}",
        "sample:all",
        *settings,
        f"tests:{tests or test.partition('@')[0]}",
        f"gendalens:{__version__}",
        f"numpy:{np.__version__}",
        "abacus:1.5",
    ]
    return "|".join(fields)


def find_differences(found: Any, expected: Any, path: str = "") -> list[str]:
    """Where two pieces of plain data differ; numbers may differ in their last digits."""
    if isinstance(found, dict) and isinstance(expected, dict):
        lost = [f"{path}/{name} is missing" for name in expected if name not in found]
        new = [f"{path}/{name} is not expected" for name in found if name not in expected]
        both = [name for name in expected if name in found]
        inner = (find_differences(found[n], expected[n], f"{path}/{_name(n, found)}") for n in both)
        return [*lost, *new, *(one for part in inner for one in part)]
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        pairs = enumerate(zip(found, expected, strict=True))
        inner = (find_differences(f, e, f"{path}/{_name(i, f)}") for i, (f, e) in pairs)
        return [one for part in inner for one in part]
    if isinstance(found, float) and isinstance(expected, float | int):
        same = math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12)
    else:
        same = type(found) is type(expected) and found == expected
    return [] if same else [f"{path}: {found!r}, not {expected!r}"]


def _name(place: Any, part: Any) -> Any:
    """The place of a part; that of an extra figure by its id."""
    return part["id"] if isinstance(part, dict) and isinstance(part.get("id"), str) else place


TEXTS = ("name", "reason", "note")
FIGURES = ("gender_effect_size", "gap", "conditions", "nuance", "contrast", "extra", "coverage")


def find_equal_numbers(plain: Mapping[str, Any]) -> list[set[str]]:
    """The places of a result's figures and counts that hold the same number, if more than one do."""
    places: dict[float, set[str]] = {}
    for name in FIGURES:
        for path, number in _list_numbers(plain[name], name):
            places.setdefault(round(abs(number), 9), set()).add(path)
    return [paths for paths in places.values() if len(paths) > 1]


def _list_numbers(plain: Any, path: str) -> list[tuple[str, float]]:
    if isinstance(plain, bool) or plain is None or isinstance(plain, str):
        return []
    if isinstance(plain, int | float):
        return [(path, plain)]
    if isinstance(plain, dict):
        inner = [(one, f"{path}/{key}") for key, one in plain.items() if key not in TEXTS]
    else:
        inner = [(one, f"{path}/{_label(i, one)}") for i, one in enumerate(plain)]
    return [pair for one, at in inner for pair in _list_numbers(one, at)]


def _label(place: int, part: Any) -> Any:
    if not isinstance(part, dict):
        return place
    if "id" in part:
        return part["id"]
    names = (part.get("condition"), part.get("group"))
    return " ".join(filter(None, names)) or place
