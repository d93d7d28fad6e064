"""Files of requests answered by the scripts in examples/, which know nothing of the package."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gendalens.cli.predictions import write_requests
from gendalens.engine.request_plan import RequestPlan
from gendalens.engine.run_options import RunOptions
from gendalens.engine.session import Job, run_jobs
from gendalens.models.base import LoadOptions
from gendalens.models.requests import Request
from gendalens.predictions.answer_file import AnswerFile
from gendalens.results.result import Result
from gendalens.tasks import get_task

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name: str) -> Any:
    """A script of examples/, loaded."""
    found = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def pretend(monkeypatch: pytest.MonkeyPatch, name: str, **contents: Any) -> None:
    """Have a package that is not installed here, of which only the named contents are used."""
    module = ModuleType(name)
    vars(module).update(contents)
    monkeypatch.setitem(sys.modules, name, module)


@dataclass(frozen=True)
class Chosen:
    """A test and the options that decide what it asks."""

    task: str
    options: RunOptions

    @property
    def plan(self) -> RequestPlan:
        return self.options.plan(get_task(self.task, self.options.protocol))

    @property
    def requests(self) -> list[Request]:
        return [request for portion in self.plan.portions for request in portion.requests]


def choice(
    task: str, data: dict[str, Path], protocol: int = 2, sample: int | None = None, **options: Any
) -> Chosen:
    return Chosen(
        task,
        RunOptions(
            protocol=protocol,
            data=data,
            sample=sample,
            use_cache=False,
            # An option of another test would be refused, because it could have no effect.
            task_options=options if task == "ner-dane" else {},
            load=LoadOptions(offline=True),
        ),
    )


def asked(chosen: Chosen, folder: Path) -> Path:
    """The file of requests."""
    path = folder / "requests.jsonl"
    write_requests(chosen.task, chosen.options, path)
    return path


def scored(chosen: Chosen, answers: Path) -> Result:
    """The result of a file of answers."""
    file = AnswerFile(answers, chosen.requests, name="elsewhere")
    report = run_jobs([Job(file, [chosen.plan])], chosen.options)
    assert not report.failures
    return report.outcomes[0].result


def figures(result: Result) -> dict[str, Any]:
    """A result without what names the model."""
    plain = result.to_dict()
    return {key: plain[key] for key in plain if key not in ("model", "signature")}


def close(one: Any, other: Any) -> bool:
    """Equal, numbers to 1e-6 of their size."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(close(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=1e-6, abs=1e-6)
    return bool(one == other)
