"""The cache of answers on disk: a killed run resumes, and nothing is asked twice."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gendalens.errors import UserError
from gendalens.models.answer_fields import AnswerError
from gendalens.models.answer_rules import read_stored_answer
from gendalens.models.requests import Answer, Request
from gendalens.system.file_writing import make_private_folder
from gendalens.system.guarded_database import ForeignSchemaError, open_database
from gendalens.words import N_

SCHEMA = 2  # schema 1 had no checksums; they are added when such a cache is opened
WAIT = 60.0  # seconds to wait for another process that is writing
#: Advice by a part of SQLite's error message.
_FIXES = {
    "readonly": N_(
        "The cache {path} is read-only; make it writable, set GENDALENS_HOME, or use --no-cache."
    ),
    "unable to open": N_(
        "The cache {path} cannot be opened; is its folder writable? Set GENDALENS_HOME, or use "
        "--no-cache."
    ),
    "full": N_(
        "The cache {path} cannot grow, the disk is full; free some space and run again to resume."
    ),
    "disk I/O": N_(
        "The cache {path} cannot grow, the disk is full; free some space and run again to resume."
    ),
    "locked": N_(
        "The cache {path} is locked by another program; try again when that has ended, or use "
        "--no-cache."
    ),
}
_TOO_SLOW = N_(
    "The cache {path} takes too long to search; move it away, set GENDALENS_HOME, or use --no-cache."
)
_OTHER_FIX = N_("The cache {path} cannot be used ({reason}); set GENDALENS_HOME or use --no-cache.")
LOOKUP = 500  # SQLite's smallest default limit on variables in one statement is 999.
#: Seconds that a lookup or a transaction may take, the wait for other processes included.
LONGEST_QUERY = 3 * WAIT
#: Seconds that opening may take: a large cache is searched for damage, and brought up to date.
LONGEST_OPENING = 600.0
_TABLE = (
    "CREATE TABLE answers (key BLOB PRIMARY KEY, kind TEXT NOT NULL, answer TEXT NOT NULL{checksum})"
    " WITHOUT ROWID"
)
#: The only statements that may stand in a cache: schema 1, schema 1 brought up to date, schema 2.
_TABLES = tuple(
    _TABLE.format(checksum=column)
    for column in (
        "",
        ", checksum INTEGER NOT NULL DEFAULT 0",
        ", checksum INTEGER NOT NULL",
    )
)


def request_key(model: str, request: Request) -> bytes:
    """The digest that is the key of a model's answer to a request."""
    text = json.dumps([model, request.kind, *_field_values(request)], ensure_ascii=False)
    return hashlib.sha256(text.encode()).digest()


def checksum(key: bytes, kind: bytes, answer: bytes) -> int:
    """A checksum of a stored row, which detects any flipped bit."""
    return zlib.crc32(answer, zlib.crc32(kind, zlib.crc32(key)))


def pack(answer: Answer) -> str:
    """An answer as JSON; floats survive the round trip exactly."""
    return json.dumps(_field_values(answer), ensure_ascii=False, allow_nan=False)


def unpack(request: Request, text: str) -> Answer:
    """The answer that :func:`pack` wrote, or ValueError if a model cannot have given it.

    The rules are those for files of answers.
    """
    try:
        values: Any = _JSON.decode(text)
        if not isinstance(values, list):
            raise ValueError(f"not a stored {request.kind} answer")
        return read_stored_answer(request, values)
    except (AnswerError, RecursionError) as error:
        raise ValueError(f"not a stored {request.kind} answer") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


_JSON = json.JSONDecoder(parse_constant=_refuse_constant)


def _field_values(record: Any) -> list[Any]:
    """The values of the fields in order; ``astuple`` would deep-copy each of thousands of records."""
    kind: type = type(record)
    return [getattr(record, name) for name in _field_names(kind)]


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _make_row(key: bytes, kind: str, answer: str) -> tuple[bytes, str, str, int]:
    return key, kind, answer, checksum(key, kind.encode(), answer.encode())


def _is_readable(request: Request, text: str) -> bool:
    try:
        unpack(request, text)
    except ValueError:
        return False
    return True


class Cache:
    """An SQLite file of answers that survives kill -9 and can be shared by several processes.

    With ``threads``, several threads of this process may use it as well.

    ``damaged`` counts the rows of a lookup whose checksum failed, or which no model can have given.
    They are treated as missing, so that their requests are asked again and the new answers replace
    them. A database with anything but the table of answers is refused.
    """

    def __init__(self, path: Path, *, threads: bool = False) -> None:
        self.path = path
        self._lock = threading.RLock()
        self.damaged = 0
        try:
            make_private_folder(path.parent)
        except OSError as error:
            raise UserError(
                "The cache folder {folder} cannot be created ({reason}); set GENDALENS_HOME to a folder "
                "you can write to, or use --no-cache.",
                folder=str(path.parent),
                reason=str(error.strerror),
            ) from None
        try:
            with self._explain_errors():
                self._db = open_database(path, wait=WAIT, threads=threads)
        except OSError as error:
            raise UserError(_OTHER_FIX, path=str(path), reason=str(error.strerror)) from None
        # Bytes, because a flipped bit may leave invalid UTF-8.
        self._db.text_factory = bytes
        try:
            with self._explain_errors(LONGEST_OPENING):
                # Before anything else, because a schema can hold code that any statement may run.
                self._check_schema(self._read_version())
                # WAL lets a second process read while one writes. On file systems without support
                # for it (network homes), SQLite keeps its rollback journal, which is safe too.
                self._db.enable_log(WAIT)
                self._db.execute("PRAGMA synchronous=NORMAL")
                # SQLite may silently lose rows if pages are inconsistent; the check takes 3 ms per MB.
                if self._db.execute("PRAGMA quick_check(1)").fetchone() != (b"ok",):
                    raise self._damage_error()
                # Taking the write lock now reveals a read-only file before the model is loaded.
                self._db.execute("BEGIN IMMEDIATE")
                version = self._read_version()
                if not self._check_schema(version):
                    self._db.execute(_TABLES[-1])
                elif version == 1:
                    self._add_checksums()
                self._db.execute(f"PRAGMA user_version={SCHEMA}")
                self._db.execute("COMMIT")
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._db.close()

    def lookup(self, model: str, requests: Sequence[Request]) -> dict[Request, Answer]:
        """The stored answers among those to the requests."""
        by_key = {request_key(model, request): request for request in requests}
        found: dict[Request, Answer] = {}
        keys = list(by_key)
        for start in range(0, len(keys), LOOKUP):
            part = keys[start : start + LOOKUP]
            marks = ",".join("?" * len(part))
            with self._explain_errors():
                rows = self._db.execute(
                    f"SELECT key, kind, answer, checksum FROM answers WHERE key IN ({marks})",  # noqa: S608 (only question marks are put in)
                    part,
                )
                # One at a time: planted rows may be long.
                for key, kind, text, stored in rows:
                    try:
                        request = by_key[key]
                        if checksum(key, kind, text) != stored or kind != request.kind.encode():
                            raise ValueError("a bit has turned")
                        found[request] = unpack(request, text.decode())
                    except (KeyError, TypeError, ValueError):
                        self.damaged += 1
        return found

    def store(self, model: str, answers: Iterable[tuple[Request, Answer]]) -> None:
        """Write the answers in one transaction: all or none.

        An answer that breaks the rules for stored ones is left out, and asked again by the next run.
        """
        packed = [(request, pack(answer)) for request, answer in answers]
        rows = [
            _make_row(request_key(model, request), request.kind, text)
            for request, text in packed
            if _is_readable(request, text)
        ]
        with self._explain_errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                # An existing row was damaged, or has just been written by another process.
                self._db.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", rows)
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _read_version(self) -> int:
        """The version of the schema; 0 in a new file."""
        version = int(self._db.execute("PRAGMA user_version").fetchone()[0])
        if version not in (0, 1, SCHEMA):
            raise UserError(
                "The cache {path} was written by another version of GenDa Lens; move it away "
                "or set GENDALENS_HOME to another folder.",
                path=str(self.path),
            )
        return version

    def _check_schema(self, version: int) -> bool:
        """Whether there is a table of answers; refuses a database with anything else."""
        try:
            found = self._db.holds_only(_TABLES[:1] if version == 1 else _TABLES[1:])
            if not found and version == 1:
                raise ForeignSchemaError
        except ForeignSchemaError:
            raise UserError(
                "The cache {path} holds other things than answers, and was not used; move it away, "
                "set GENDALENS_HOME, or use --no-cache.",
                path=str(self.path),
            ) from None
        return found

    def _add_checksums(self) -> None:
        """Migrate a cache from schema 1; the caller holds the write lock."""
        self._db.create_function("checksum", 3, checksum, deterministic=True)
        self._db.execute("ALTER TABLE answers ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0")
        self._db.execute(
            "UPDATE answers SET checksum = checksum(key, CAST(kind AS BLOB), CAST(answer AS BLOB))"
        )

    def _damage_error(self) -> UserError:
        return UserError(
            "The cache {path} is damaged; delete it (its answers will be asked again) or use "
            "--no-cache.",
            path=str(self.path),
        )

    @contextmanager
    def _explain_errors(self, seconds: float = LONGEST_QUERY) -> Iterator[None]:
        """Turn the errors of SQLite into user errors that say what to do; limits the time."""
        with self._lock, self._explain_errors_of_one(seconds):
            yield

    @contextmanager
    def _explain_errors_of_one(self, seconds: float) -> Iterator[None]:
        if hasattr(self, "_db"):
            self._db.deadline = time.monotonic() + seconds
        try:
            yield
        except sqlite3.OperationalError as error:
            reason = str(error)
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
                # Not by the clock, so by a signal's handler, whose exception SQLite has swallowed.
                if time.monotonic() <= self._db.deadline:
                    raise KeyboardInterrupt from None
                raise UserError(_TOO_SLOW, path=str(self.path)) from None
            fix = next((fix for sign, fix in _FIXES.items() if sign in reason), _OTHER_FIX)
            raise UserError(fix, path=str(self.path), reason=reason) from None
        except UnicodeDecodeError:  # SQLite quotes a damaged schema in its message
            raise self._damage_error() from None
        except sqlite3.DatabaseError as error:
            if "not a database" in str(error):
                raise UserError(
                    "The cache {path} is not an SQLite database; move it away, set GENDALENS_HOME, or "
                    "use --no-cache.",
                    path=str(self.path),
                ) from None
            raise self._damage_error() from None
