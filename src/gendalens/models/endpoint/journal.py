"""The journal of responses: each is kept from its arrival until the answers made of it are stored."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from gendalens.errors import UserError
from gendalens.system.file_writing import make_private_folder
from gendalens.system.guarded_database import ForeignSchemaError, open_database
from gendalens.words import phrase

NAME = "responses.sqlite"
_LOOKUP = 500
_WAIT = 60.0  # seconds to wait for another process that is writing
_LONGEST = 3 * _WAIT  # seconds that a statement may take
_TABLE = "CREATE TABLE responses (key BLOB PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID"


class Journal:
    """An SQLite file of responses by digest of the call, so that kill -9 loses none that has arrived.

    It is read and written under a lock, by the run's thread and by the client's.
    """

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._path = path
        try:
            make_private_folder(path.parent)
            self._db = open_database(path, wait=_WAIT, threads=True)
            self._set_deadline()
            # Before anything else, because a schema can hold code that any statement may run.
            self._db.holds_only([_TABLE])
            with suppress(sqlite3.OperationalError):  # not on network drives
                self._db.enable_log(_WAIT)
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("BEGIN IMMEDIATE")
            if not self._db.holds_only([_TABLE]):
                self._db.execute(_TABLE)
            self._db.execute("COMMIT")
        except (OSError, sqlite3.Error, ForeignSchemaError) as error:
            raise self._explain(error) from None

    def _set_deadline(self) -> None:
        self._db.deadline = time.monotonic() + _LONGEST

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Any]:
        """The responses that are kept; one that is damaged is asked for again."""
        found: dict[bytes, Any] = {}
        try:
            with self._lock:
                self._set_deadline()
                for start in range(0, len(keys), _LOOKUP):
                    part = keys[start : start + _LOOKUP]
                    marks = ",".join("?" * len(part))
                    rows = self._db.execute(
                        f"SELECT key, text FROM responses WHERE key IN ({marks})",  # noqa: S608 (only question marks are put in)
                        part,
                    ).fetchall()
                    for key, text in rows:
                        with suppress(ValueError, TypeError, RecursionError):
                            plain = json.loads(text)
                            if isinstance(plain, dict) and "error" not in plain:
                                found[key] = plain
        except sqlite3.Error as error:
            raise self._explain(error) from None
        return found

    def keep(self, key: bytes, text: str) -> None:
        """Keep a response."""
        try:
            with self._lock:
                self._set_deadline()
                self._db.execute("INSERT OR REPLACE INTO responses VALUES (?, ?)", (key, text))
        except sqlite3.Error as error:
            raise self._explain(error) from None

    def drop(self, keys: Sequence[bytes]) -> None:
        """Forget responses."""
        try:
            with self._lock:
                self._set_deadline()
                self._db.execute("BEGIN IMMEDIATE")
                self._db.executemany(
                    "DELETE FROM responses WHERE key = ?", [(key,) for key in keys]
                )
                self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._explain(error) from None

    def close(self) -> None:
        """Close the file, once nothing is being written."""
        with self._lock:
            self._db.close()

    def _explain(self, error: Exception) -> UserError:
        return UserError(
            "The responses of the endpoint cannot be kept in {path} ({reason}): set GENDALENS_HOME to "
            "a folder you can write to, or use --no-cache.",
            path=str(self._path),
            reason=phrase("it holds other things than responses")
            if isinstance(error, ForeignSchemaError)
            else str(getattr(error, "strerror", None) or error),
        )


def digest_call(owner: str, route: str, body: str) -> bytes:
    """The key of a call to the model of a fingerprint."""
    return hashlib.sha256("\0".join((owner, route, body)).encode(errors="surrogatepass")).digest()
