"""Results read back from disk: what ``runfolder`` wrote, found and checked."""

from __future__ import annotations

import errno
import json
import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, BinaryIO

from jsonschema import Draft202012Validator

from gendalens.errors import UserError
from gendalens.results.result import SCHEMA, Result
from gendalens.results.signature import parts
from gendalens.system.lazy_sequence import ByPlace
from gendalens.tasks.base import Record

RESULT, RECORDS, RUN = "result.json", "records.jsonl", "run.json"
#: Parts of every signature, in their order.
SIGNED = ("seed", "sample", "tests", "gendalens")
#: Rows that memory may hold; the largest test of fixed size has fewer.
MANY = 16_384
MOST_DIGITS = 18  # what any program holds in 64 bits


@dataclass(frozen=True, slots=True)
class Saved:
    """One test of one model on disk; the records are read when asked for."""

    result: Result
    folder: Path

    def records(self) -> Sequence[Record]:
        """A row per item and condition, in the order of the file."""
        rows = RecordFile(self.folder / RECORDS)
        return list(rows) if len(rows) <= MANY else rows

    @property
    def run(self) -> dict[str, Any]:
        """When, where and how long the test ran; empty where that was not kept."""
        path = self.folder / RUN
        if not path.is_file():
            return {}
        found = _json(path)
        return found if isinstance(found, dict) else {}


class RecordFile(ByPlace[Record]):
    """The rows of a ``records.jsonl``, read and checked anew each time: memory holds one of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._starts = array("q")
        at = 0
        with self._opened() as lines:
            for line in lines:
                self._starts.append(at)
                at += len(line)

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[Record]:
        with self._opened() as lines:
            for place, line in enumerate(lines):
                yield self._checked(place, line)

    def _at(self, place: int) -> Record:
        with self._opened() as lines:
            lines.seek(self._starts[place])
            return self._checked(place, lines.readline())

    def _checked(self, place: int, line: bytes) -> Record:
        try:
            row = _parsed(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise UserError(_damaged(self.path, f"line {place + 1}: {_reason(error)}")) from None
        if not isinstance(row, dict):
            raise UserError(_damaged(self.path, f"line {place + 1} is no record"))
        return row

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        try:
            _check_ordinary(self.path)
            with self.path.open("rb") as lines:
                yield lines
        except OSError as error:
            raise UserError(_damaged(self.path, _reason(error))) from None


def find(paths: Iterable[Path]) -> list[Saved]:
    """The results in run folders, model folders, result folders or files, each once, by path."""
    folders: dict[Path, None] = {}
    for path in paths:
        try:
            what, found = _folders(path)
        except OSError as error:  # a forbidden folder, a long name
            what, found = f"cannot be read ({_reason(error)})", []
        if not found:
            raise UserError(f"{path} {what}: name a run folder, as `gendalens run` made it.")
        folders |= dict.fromkeys(found)
    return [load(folder) for folder in folders]


def _folders(path: Path) -> tuple[str, list[Path]]:
    """The folders with results at a path, and what is to be said of it where there are none."""
    if path.name == RESULT and path.is_file():
        return "", [path.parent]
    if path.is_dir():
        return f"holds no {RESULT}", sorted(result.parent for result in path.rglob(RESULT))
    return f"is no {RESULT}" if path.exists() else "does not exist", []


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
    try:
        result = Result.from_dict(plain)
        _check(result)
    except ValueError as error:
        raise UserError(_damaged(path, str(error))) from None
    return Saved(result, folder)


def _check(result: Result) -> None:
    """Raise where the parts of a result do not belong together, which no schema can say."""
    fields = parts(result.signature)
    named = [name for name in fields if name in SIGNED]
    if named != list(SIGNED) or not (fields["seed"].isascii() and fields["seed"].isdigit()):
        raise ValueError(f"signature: it lacks {' or '.join(SIGNED)}, or has them out of order")
    if not result.conditions:
        raise ValueError("conditions: there is none")
    cells = {(cell.condition, cell.group) for cell in result.nuance}
    for cell in result.conditions:
        for group in {group for _, group in cells}:
            if (cell.condition, group) not in cells:
                raise ValueError(f"nuance: it has nothing on {cell.condition} and {group}")


@cache
def _validator() -> Draft202012Validator:
    text = resources.files(__package__).joinpath("result.schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))


def _json(path: Path) -> Any:
    try:
        _check_ordinary(path)
        return _parsed(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(_damaged(path, _reason(error))) from None


def _check_ordinary(path: Path) -> None:
    """Raise where a reader would wait for ever, or read without end: a pipe, a device."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no ordinary file")


def _parsed(text: str) -> Any:
    found = json.loads(text, parse_float=_finite, parse_int=_whole, parse_constant=_finite)
    if "\\u" in text:  # only so can UTF-8 hide half of a character, which no file can hold again
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("a text in it has half of a character") from None
    return found


def _finite(text: str) -> float:
    """A number; JSON can write some that are none (NaN, 1e999)."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is no finite number")
    return number


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"{text[:40]}… is too long for a number")
    return int(text)


def _reason(error: BaseException) -> str:
    return str(getattr(error, "strerror", None) or error) or type(error).__name__


def _damaged(path: Path, reason: str) -> str:
    return f"{path} cannot be used ({reason}): run the test again."
