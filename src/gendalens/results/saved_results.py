"""Saved results: finds, reads and checks what :mod:`gendalens.results.run_folder` wrote."""

from __future__ import annotations

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
from gendalens.results.result import SCHEMA, Record, Result
from gendalens.results.signature import parse_signature
from gendalens.system.file_reading import open_ordinary, read_ordinary
from gendalens.system.lazy_sequence import LazySequence
from gendalens.words import Message, Value, phrase

RESULT, RECORDS, RUN = "result.json", "records.jsonl", "run.json"
#: Fields of every signature, in order.
SIGNED = ("seed", "sample", "tests", "gendalens")
#: The most rows to read into memory; every test of fixed size has fewer.
MANY = 16_384
LONGEST_ROW = 16 * 1024**2  # bytes: a file without line breaks must not fill the memory
MOST_DIGITS = 18  # an integer that fits into 64 bits


@dataclass(frozen=True, slots=True)
class SavedResult:
    """A result on disk; its records are read on demand."""

    result: Result
    folder: Path

    def records(self) -> Sequence[Record]:
        """A row per item and condition, in the order of the file."""
        rows = RecordFile(self.folder / RECORDS)
        return list(rows) if len(rows) <= MANY else rows

    @property
    def run(self) -> dict[str, Any]:
        """When, where and how long the test ran; empty if this was not saved."""
        path = self.folder / RUN
        if not path.is_file():
            return {}
        found = _read_json(path)
        return found if isinstance(found, dict) else {}


class RecordFile(LazySequence[Record]):
    """The rows of a ``records.jsonl``, read and checked on each access; memory holds one at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._starts = array("q")
        at = 0
        with self._open() as lines:
            for line in _read_lines(lines):
                self._starts.append(at)
                at += len(line)

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[Record]:
        with self._open() as lines:
            for place, line in enumerate(_read_lines(lines)):
                yield self._read_row(place, line)

    def _member_at(self, place: int) -> Record:
        with self._open() as lines:
            lines.seek(self._starts[place])
            return self._read_row(place, lines.readline(LONGEST_ROW))

    def _read_row(self, place: int, line: bytes) -> Record:
        try:
            row = _parse_json(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            reason = phrase("line {number}: {reason}", number=place + 1, reason=_find_reason(error))
            raise _file_error(self.path, reason) from None
        if not isinstance(row, dict):
            reason = phrase("line {number} is not a record", number=place + 1)
            raise _file_error(self.path, reason)
        return row

    @contextmanager
    def _open(self) -> Iterator[BinaryIO]:
        try:
            with open_ordinary(self.path) as lines:
                yield lines
        except (OSError, DamageError) as error:
            raise _file_error(self.path, _find_reason(error)) from None


class DamageError(ValueError):
    """Raised if the content of a file is damaged."""

    def __init__(self, reason: Message) -> None:
        super().__init__(reason)
        self.reason = reason


def _read_lines(lines: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; raises if one is longer than any row."""
    while line := lines.readline(LONGEST_ROW):
        if len(line) == LONGEST_ROW:
            raise DamageError(phrase("it is larger than {limit} MB", limit=LONGEST_ROW // 1024**2))
        yield line


def find_results(paths: Iterable[Path]) -> list[SavedResult]:
    """The results in run folders, model folders, result folders or files, without duplicates."""
    return [load_result(folder) for folder in list_result_folders(paths)]


def list_result_folders(paths: Iterable[Path]) -> list[Path]:
    """The folders of these results, without duplicates; nothing in them is read."""
    folders: dict[Path, None] = {}
    for path in paths:
        try:
            found = _find_folders(path)
        except OSError as error:  # a forbidden folder, an over-long name
            raise UserError(
                "{path} cannot be read ({reason}): name a run folder made by `gendalens run`.",
                path=str(path),
                reason=_find_reason(error),
            ) from None
        folders |= dict.fromkeys(found)
    return list(folders)


def _find_folders(path: Path) -> list[Path]:
    """The result folders at a path."""
    if path.name == RESULT and path.is_file():
        return [path.parent]
    if path.is_dir():
        found = sorted(result.parent for result in path.rglob(RESULT))
        if found:
            return found
        raise UserError(
            "{path} holds no {file}: name a run folder made by `gendalens run`.",
            path=str(path),
            file=RESULT,
        )
    if path.exists():
        raise UserError(
            "{path} is not a {file}: name a run folder made by `gendalens run`.",
            path=str(path),
            file=RESULT,
        )
    raise UserError(
        "{path} does not exist: name a run folder made by `gendalens run`.", path=str(path)
    )


def load_result(folder: Path) -> SavedResult:
    """The result in one folder, checked against the published schema."""
    path = folder / RESULT
    plain = _read_json(path)
    if isinstance(plain, dict) and plain.get("schema", SCHEMA) != SCHEMA:
        raise UserError(
            "{path} has result schema {found} and this version of GenDa Lens reads {schema}: run the "
            "test again, or use the version that wrote it.",
            path=str(path),
            found=repr(plain["schema"]),
            schema=SCHEMA,
        )
    try:
        _check_schema(plain)
        result = Result.from_dict(plain)
        if not result.finding.agrees_with(plain["finding"]):
            raise DamageError(phrase("the finding does not follow from its evidence"))
        _check_consistency(result)
    except RecursionError:
        raise _file_error(path, phrase("it is nested too deeply")) from None
    except ValueError as error:
        raise _file_error(path, _find_reason(error)) from None
    return SavedResult(result, folder)


def check_result(result: Result) -> None:
    """Raise a ``ValueError`` if a result could not be read back once it is saved."""
    _check_schema(result.to_dict())
    _check_consistency(result)


def _check_schema(plain: Any) -> None:
    """Raise at the first violation of the published schema."""
    problem = next(_validator().iter_errors(plain), None)
    if problem is not None:
        place = "/".join(map(str, problem.absolute_path)) or phrase("the whole file")
        raise DamageError(phrase("{place}: {reason}", place=place, reason=problem.message[:200]))


def _check_consistency(result: Result) -> None:
    """Raise if the parts of a result contradict each other, which a schema cannot express."""
    fields = parse_signature(result.signature)
    named = [name for name in fields if name in SIGNED]
    if named != list(SIGNED) or not (fields["seed"].isascii() and fields["seed"].isdigit()):
        raise DamageError(
            phrase("the signature needs these parts in this order: {parts}", parts=SIGNED)
        )
    if not result.conditions:
        raise DamageError(phrase("there are no conditions"))
    cells = {(cell.condition, cell.group) for cell in result.nuance}
    for cell in result.conditions:
        for group in {group for _, group in cells}:
            if (cell.condition, group) not in cells:
                raise DamageError(
                    phrase(
                        "the nuance table has nothing on {condition:t} and {group:t}",
                        condition=cell.condition,
                        group=group,
                    )
                )


@cache
def _validator() -> Draft202012Validator:
    text = resources.files(__package__).joinpath("result.schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))


def read_plain(folder: Path) -> Any:
    """What ``result.json`` in a folder holds, as it is written."""
    return _read_json(folder / RESULT)


def _read_json(path: Path) -> Any:
    try:
        return _parse_json(read_ordinary(path).decode())
    except (OSError, ValueError, RecursionError) as error:
        raise _file_error(path, _find_reason(error)) from None


def _parse_json(text: str) -> Any:
    found = json.loads(
        text, parse_float=_parse_finite, parse_int=_parse_whole, parse_constant=_parse_finite
    )
    if "\\u" in text:  # an escaped lone surrogate could not be written to a file again
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise DamageError(phrase("a text in it has half of a character")) from None
    return found


def _parse_finite(text: str) -> float:
    """A finite number; JSON also allows NaN and 1e999."""
    number = float(text)
    if not math.isfinite(number):
        raise DamageError(phrase("{text} is not a finite number", text=text[:40]))
    return number


def _parse_whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise DamageError(phrase("{text}… is too long for a number", text=text[:40]))
    return int(text)


def _find_reason(error: Exception) -> Value:
    if isinstance(error, DamageError):
        return error.reason
    return str(getattr(error, "strerror", None) or error) or type(error).__name__


def _file_error(path: Path, reason: Value) -> UserError:
    return UserError(
        "{path} cannot be used ({reason}): run the test again.", path=str(path), reason=reason
    )
