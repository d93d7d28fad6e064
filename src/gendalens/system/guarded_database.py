"""The one place that opens databases: their files, their schema and their statements are distrusted.

A database comes with files beside it whose content SQLite obeys: it writes into a log that is a second
name of another file, and deletes the file that a journal names as its superior. The schema can hold
code that any statement may run.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import sys
import time
from collections.abc import Collection
from pathlib import Path

from gendalens.system.file_reading import open_ordinary
from gendalens.words import say

STEPS = 10_000  # of SQLite's virtual machine, between two looks at the clock
_JOURNAL = "-journal"
_BESIDE = ("", _JOURNAL, "-wal", "-shm")
#: What the files of SQLite's journals begin with; a journal with a superior ends with it, too.
_MAGIC = bytes.fromhex("d9d505f920a163d7")
#: What no database of ours needs: long values, long or deep statements, other databases, triggers.
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 16 * 1024**2,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 10_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 20,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
}


class ForeignSchemaError(Exception):
    """A database that holds anything but its own table."""


class GuardedDatabase(sqlite3.Connection):
    """A connection that looks at the clock while a statement runs, and at the schema on demand."""

    deadline = float("inf")  # by time.monotonic()

    def holds_only(self, tables: Collection[str]) -> bool:
        """Whether the database has its table; raises if it has anything else.

        The text of the statement is compared with those allowed, which leaves no room for triggers,
        views, virtual tables, generated columns, constraints or indices.
        """
        found = self.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
        if not found:
            return False
        names = [sql.split()[2] for sql in tables]
        expected = [("table", name, name, sql) for name, sql in zip(names, tables, strict=True)]
        if len(found) != 1 or tuple(map(_as_text, found[0])) not in expected:
            raise ForeignSchemaError
        return True

    def enable_log(self, wait: float) -> None:
        """Enable the write-ahead log, retrying while another process holds the lock.

        SQLite does not wait here by itself, so two processes that create a database at the same moment
        would fail.
        """
        end = time.monotonic() + wait
        while True:
            try:
                self.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > end:
                    raise
            time.sleep(0.01)

    def _watch(self) -> bool:
        """Whether to stop the statement that runs; Python handles signals before it gets here."""
        return time.monotonic() > self.deadline


def open_database(path: Path, *, wait: float, threads: bool = False) -> GuardedDatabase:
    """A connection to a database; ``wait`` is the time for other processes, in seconds.

    With ``threads``, other threads may use it, one at a time.
    """
    check_files(path)
    database = sqlite3.connect(
        path,
        timeout=wait,
        isolation_level=None,
        check_same_thread=not threads,
        factory=GuardedDatabase,
    )
    try:
        database.set_progress_handler(database._watch, STEPS)
        database.execute("PRAGMA trusted_schema=OFF")
        database.execute("PRAGMA cell_size_check=ON")
        for limit, most in _LIMITS.items():
            database.setlimit(limit, most)
        if sys.version_info >= (3, 12):
            database.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
            database.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, False)
            database.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW, False)
    except BaseException:
        database.close()
        raise
    return database


def check_files(path: Path) -> None:
    """Raise unless the database and the files beside it are ordinary ones of this name only."""
    for suffix in _BESIDE:
        file = path.with_name(path.name + suffix)
        try:
            status = file.lstat()
            named = suffix == _JOURNAL and stat.S_ISREG(status.st_mode) and _has_superior(file)
        except FileNotFoundError:  # there is none, or another process has just deleted its own
            continue
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, say("{file} is not an ordinary file", file=file.name))
        if status.st_nlink > 1:
            raise OSError(errno.EINVAL, say("{file} has another name as well", file=file.name))
        if named:
            raise OSError(errno.EINVAL, say("{file} names another file", file=file.name))


def _has_superior(journal: Path) -> bool:
    """Whether a journal names the journal of several databases; ours never do, having one database."""
    with open_ordinary(journal) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - len(_MAGIC)))
        return size > len(_MAGIC) and file.read() == _MAGIC


def _as_text(value: object) -> object:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
