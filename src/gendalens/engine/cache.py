"""Answers on disk, so that a killed run resumes and nothing is asked twice."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gendalens.errors import UserError
from gendalens.models.base import ANSWER_TYPES, Answer, Request

SCHEMA = 1
LOOKUP = 500  # SQLite's smallest default limit on variables in one statement is 999.


def request_key(model: str, request: Request) -> bytes:
    """The digest under which the answer of one model to one request is stored."""
    text = json.dumps([model, request.kind, *astuple(request)], ensure_ascii=False)
    return hashlib.sha256(text.encode()).digest()


def pack(answer: Answer) -> str:
    """An answer as text; Python writes floats so that they read back exactly."""
    return json.dumps(astuple(answer), ensure_ascii=False, allow_nan=False)


def unpack(kind: str, text: str) -> Answer:
    """The answer that :func:`pack` wrote."""
    values: Any = json.loads(text)
    answer_type: Any = ANSWER_TYPES[kind]
    if not isinstance(values, list) or len(values) != len(fields(answer_type)):
        raise ValueError(f"not a stored {kind} answer")
    answer: Answer = answer_type(*map(_frozen, values))
    return answer


def _frozen(value: Any) -> Any:
    """JSON has lists where answers have tuples."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


class Cache:
    """An SQLite file of answers, safe under kill -9 and for several processes at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"The cache folder {path.parent} cannot be made ({error.strerror}); "
                "set GENDALENS_HOME to a folder you can write, or use --no-cache."
            ) from None
        with self._explained():
            self._db = sqlite3.connect(path, timeout=60, isolation_level=None)
        try:
            with self._explained():
                # WAL lets a second process read while one writes; where the file system
                # cannot do it (network homes) SQLite keeps its rollback journal, which is safe too.
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=NORMAL")
                # Taking the write lock now tells a read-only file before the model is loaded.
                self._db.execute("BEGIN IMMEDIATE")
                version = self._db.execute("PRAGMA user_version").fetchone()[0]
                if version not in (0, SCHEMA):
                    raise UserError(
                        f"The cache {path} was written by another version of GenDa Lens; "
                        "move it away or set GENDALENS_HOME to another folder."
                    )
                self._db.execute(
                    "CREATE TABLE IF NOT EXISTS answers"
                    " (key BLOB PRIMARY KEY, kind TEXT NOT NULL, answer TEXT NOT NULL)"
                    " WITHOUT ROWID"
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
            with self._explained():
                rows = self._db.execute(
                    f"SELECT key, kind, answer FROM answers WHERE key IN ({marks})",  # noqa: S608 (only question marks are put in)
                    part,
                ).fetchall()
            for key, kind, text in rows:
                try:
                    found[by_key[key]] = unpack(kind, text)
                except (KeyError, TypeError, ValueError):
                    raise self._damaged() from None
        return found

    def store(self, model: str, answers: Iterable[tuple[Request, Answer]]) -> None:
        """Write answers in one transaction: all of them are kept, or none."""
        rows = [(request_key(model, r), r.kind, pack(a)) for r, a in answers]
        with self._explained():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?)", rows)
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _damaged(self) -> UserError:
        return UserError(
            f"The cache {self.path} is damaged; delete it (its answers will be asked again) "
            "or use --no-cache."
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """SQLite's complaints, each as a sentence that says what to do."""
        try:
            yield
        except sqlite3.OperationalError as error:
            text = str(error)
            if "readonly" in text:
                fix = "is read-only; make it writable, set GENDALENS_HOME, or use --no-cache"
            elif "unable to open" in text:
                fix = "cannot be opened; is its folder writable? Set GENDALENS_HOME, or use --no-cache"
            elif "full" in text or "disk I/O" in text:
                fix = "cannot grow, the disk is full; free some space and run again to resume"
            elif "locked" in text:
                fix = (
                    "is locked by another program; try again when that has ended, or use --no-cache"
                )
            else:
                fix = f"cannot be used ({text}); set GENDALENS_HOME or use --no-cache"
            raise UserError(f"The cache {self.path} {fix}.") from None
        except sqlite3.DatabaseError as error:
            if "not a database" in str(error):
                raise UserError(
                    f"The cache {self.path} is not an SQLite database; "
                    "move it away, set GENDALENS_HOME, or use --no-cache."
                ) from None
            raise self._damaged() from None
