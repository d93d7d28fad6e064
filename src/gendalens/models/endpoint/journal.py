"""The journal of responses: each is kept from its arrival until the answers made of it are stored."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from gendalens.errors import UserError

NAME = "responses.sqlite"
_LOOKUP = 500


class Journal:
    """An SQLite file of responses by digest of the call, so that kill -9 loses none that has arrived.

    It is read and written under a lock, by the run's thread and by the client's.
    """

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                path, timeout=60, isolation_level=None, check_same_thread=False
            )
            with suppress(sqlite3.OperationalError):  # not on network drives
                self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS responses (key BLOB PRIMARY KEY, text TEXT NOT NULL)"
                " WITHOUT ROWID"
            )
        except (OSError, sqlite3.Error) as error:
            raise self._explain(error) from None

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Any]:
        """The responses that are kept; one that is damaged is asked for again."""
        found: dict[bytes, Any] = {}
        try:
            with self._lock:
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
                            found |= {key: plain} if isinstance(plain, dict) else {}
        except sqlite3.Error as error:
            raise self._explain(error) from None
        return found

    def keep(self, key: bytes, text: str) -> None:
        """Keep a response."""
        try:
            with self._lock:
                self._db.execute("INSERT OR REPLACE INTO responses VALUES (?, ?)", (key, text))
        except sqlite3.Error as error:
            raise self._explain(error) from None

    def drop(self, keys: Sequence[bytes]) -> None:
        """Forget responses."""
        try:
            with self._lock:
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
            reason=str(error),
        )


def digest_call(owner: str, route: str, body: str) -> bytes:
    """The key of a call to the model of a fingerprint."""
    return hashlib.sha256("\0".join((owner, route, body)).encode(errors="surrogatepass")).digest()
