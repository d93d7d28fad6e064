"""Answers on disk, so that a killed run resumes and nothing is asked twice."""

from __future__ import annotations

import hashlib
import json
import sqlite3
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
from gendalens.models.base import ANSWER_TYPES, Answer, Request
from gendalens.words import N_

SCHEMA = 2  # 1 had no checksums; they are added when such a cache is opened
WAIT = 60.0  # seconds, for another process that writes
#: What SQLite complains about, and what to do about it.
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
_OTHER_FIX = N_("The cache {path} cannot be used ({reason}); set GENDALENS_HOME or use --no-cache.")
LOOKUP = 500  # SQLite's smallest default limit on variables in one statement is 999.


def request_key(model: str, request: Request) -> bytes:
    """The digest under which the answer of one model to one request is stored."""
    text = json.dumps([model, request.kind, *_field_values(request)], ensure_ascii=False)
    return hashlib.sha256(text.encode()).digest()


def checksum(key: bytes, kind: bytes, answer: bytes) -> int:
    """What a stored row adds up to: no bit of it can turn without changing this."""
    return zlib.crc32(answer, zlib.crc32(kind, zlib.crc32(key)))


def pack(answer: Answer) -> str:
    """An answer as text; Python writes floats so that they read back exactly."""
    return json.dumps(_field_values(answer), ensure_ascii=False, allow_nan=False)


def unpack(kind: str, text: str) -> Answer:
    """The answer that :func:`pack` wrote."""
    values: Any = json.loads(text)
    answer_type: Any = ANSWER_TYPES[kind]
    if not isinstance(values, list) or len(values) != len(fields(answer_type)):
        raise ValueError(f"not a stored {kind} answer")
    answer: Answer = answer_type(*map(_to_tuples, values))
    return answer


def _field_values(record: Any) -> list[Any]:
    """The fields in order; ``astuple`` would copy them deeply first, tens of thousands of times."""
    kind: type = type(record)
    return [getattr(record, name) for name in _field_names(kind)]


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _to_tuples(value: Any) -> Any:
    """JSON has lists where answers have tuples."""
    return tuple(map(_to_tuples, value)) if isinstance(value, list) else value


def _make_row(key: bytes, kind: str, answer: str) -> tuple[bytes, str, str, int]:
    return key, kind, answer, checksum(key, kind.encode(), answer.encode())


class Cache:
    """An SQLite file of answers, safe under kill -9 and for several processes at once.

    ``damaged`` counts the rows that lookups met and did not believe: they are taken as not there,
    so that they are asked again, and the new answers take their place.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged = 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                "The cache folder {folder} cannot be created ({reason}); set GENDALENS_HOME to a folder "
                "you can write to, or use --no-cache.",
                folder=str(path.parent),
                reason=str(error.strerror),
            ) from None
        with self._explain_errors():
            self._db = sqlite3.connect(path, timeout=WAIT, isolation_level=None)
        # Bytes, because a turned bit may leave text that is no UTF-8.
        self._db.text_factory = bytes
        try:
            with self._explain_errors():
                # WAL lets a second process read while one writes; where the file system
                # cannot do it (network homes) SQLite keeps its rollback journal, which is safe too.
                self._use_log()
                self._db.execute("PRAGMA synchronous=NORMAL")
                # Where pages do not fit together, SQLite may lose rows in silence; 3 ms a MB.
                if self._db.execute("PRAGMA quick_check(1)").fetchone() != (b"ok",):
                    raise self._damaged()
                # Taking the write lock now tells a read-only file before the model is loaded.
                self._db.execute("BEGIN IMMEDIATE")
                version = self._db.execute("PRAGMA user_version").fetchone()[0]
                if version not in (0, 1, SCHEMA):
                    raise UserError(
                        "The cache {path} was written by another version of GenDa Lens; move it away "
                        "or set GENDALENS_HOME to another folder.",
                        path=str(path),
                    )
                if version == 1:
                    self._add_checksums()
                self._db.execute(
                    "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, kind TEXT NOT NULL,"
                    " answer TEXT NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID"
                )
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
        """The stored answers to those of the requests that have one."""
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
                ).fetchall()
            for key, kind, text, stored in rows:
                try:
                    if checksum(key, kind, text) != stored:
                        raise ValueError("a bit has turned")
                    found[by_key[key]] = unpack(kind.decode(), text)
                except (KeyError, TypeError, ValueError):
                    self.damaged += 1
        return found

    def store(self, model: str, answers: Iterable[tuple[Request, Answer]]) -> None:
        """Write answers in one transaction: all of them are kept, or none."""
        rows = [_make_row(request_key(model, r), r.kind, pack(a)) for r, a in answers]
        with self._explain_errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                # A row that is there already was damaged, or another process was quicker.
                self._db.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", rows)
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _use_log(self) -> None:
        """Turn the write-ahead log on; for this SQLite does not wait by itself.

        Two processes that make a cache at the same moment would find each other in the way.
        """
        end = time.monotonic() + WAIT
        while True:
            try:
                self._db.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > end:
                    raise
            time.sleep(0.01)

    def _add_checksums(self) -> None:
        """Bring a cache of schema 1 up to date; whoever opened it holds the write lock."""
        self._db.create_function("checksum", 3, checksum, deterministic=True)
        self._db.execute("ALTER TABLE answers ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0")
        self._db.execute(
            "UPDATE answers SET checksum = checksum(key, CAST(kind AS BLOB), CAST(answer AS BLOB))"
        )

    def _damaged(self) -> UserError:
        return UserError(
            "The cache {path} is damaged; delete it (its answers will be asked again) or use "
            "--no-cache.",
            path=str(self.path),
        )

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """SQLite's complaints, each as a sentence that says what to do."""
        try:
            yield
        except sqlite3.OperationalError as error:
            said = str(error)
            fix = next((fix for sign, fix in _FIXES.items() if sign in said), _OTHER_FIX)
            raise UserError(fix, path=str(self.path), reason=said) from None
        except UnicodeDecodeError:  # SQLite quotes a damaged schema in its complaint
            raise self._damaged() from None
        except sqlite3.DatabaseError as error:
            if "not a database" in str(error):
                raise UserError(
                    "The cache {path} is not an SQLite database; move it away, set GENDALENS_HOME, or "
                    "use --no-cache.",
                    path=str(self.path),
                ) from None
            raise self._damaged() from None
