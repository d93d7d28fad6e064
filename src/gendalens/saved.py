"""Results read back from disk: what ``runfolder`` wrote, found and checked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from gendalens.errors import UserError
from gendalens.result import SCHEMA, Result
from gendalens.tasks.base import Record

RESULT, RECORDS, RUN = "result.json", "records.jsonl", "run.json"


@dataclass(frozen=True, slots=True)
class Saved:
    """One test of one model on disk; the records are read when asked for."""

    result: Result
    folder: Path

    def records(self) -> Iterator[Record]:
        """A row per item and condition, in the order of the file."""
        path = self.folder / RECORDS
        try:
            with path.open(encoding="utf-8") as lines:
                for number, line in enumerate(lines, start=1):
                    row = json.loads(line)
                    if not isinstance(row, dict):
                        raise UserError(_damaged(path, f"line {number} is no record"))
                    yield row
        except (OSError, ValueError, RecursionError) as error:
            raise UserError(_damaged(path, _reason(error))) from None

    @property
    def run(self) -> dict[str, Any]:
        """When, where and how long the test ran; empty where that was not kept."""
        path = self.folder / RUN
        if not path.is_file():
            return {}
        found = _json(path)
        return found if isinstance(found, dict) else {}


def find(paths: Iterable[Path]) -> list[Saved]:
    """The results in run folders, model folders, result folders or files, each once, by path."""
    folders: dict[Path, None] = {}
    for path in paths:
        if path.name == RESULT and path.is_file():
            found = [path.parent]
        elif path.is_dir():
            found = sorted(result.parent for result in path.rglob(RESULT))
        else:
            raise UserError(
                f"{path} does not exist: name a run folder, as `gendalens run` made it."
            )
        if not found:
            raise UserError(
                f"{path} holds no {RESULT}: name a run folder, as `gendalens run` made it."
            )
        folders |= dict.fromkeys(found)
    return [load(folder) for folder in folders]


def load(folder: Path) -> Saved:
    """The result in one folder, checked against the published schema."""
    path = folder / RESULT
    plain = _json(path)
    if isinstance(plain, dict) and plain.get("schema", SCHEMA) != SCHEMA:
        raise UserError(
            f"{path} has schema {plain['schema']!r} and this version reads {SCHEMA}: use the version "
            "of GenDa Lens that wrote it, or run the test again."
        )
    problem = next(_validator().iter_errors(plain), None)
    if problem is not None:
        place = "/".join(map(str, problem.absolute_path)) or "the whole"
        raise UserError(_damaged(path, f"{place}: {problem.message[:200]}"))
    return Saved(Result.from_dict(plain), folder)


@cache
def _validator() -> Draft202012Validator:
    text = resources.files(__package__).joinpath("result.schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(_damaged(path, _reason(error))) from None


def _reason(error: BaseException) -> str:
    return str(getattr(error, "strerror", None) or error) or type(error).__name__


def _damaged(path: Path, reason: str) -> str:
    return f"{path} cannot be used ({reason}): run the test again."
