"""Databases that somebody prepared: SQLite obeys the files beside them and the code in their schema."""

from __future__ import annotations

import os
import sqlite3
import stat
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from gendalens.engine.cache import Cache
from gendalens.errors import UserError
from gendalens.models.endpoint.journal import Journal
from gendalens.models.requests import Score, ScoreAnswer

SENTENCE = Score("Hun sejler.")
MAGIC = bytes.fromhex("d9d505f920a163d7")


def use_cache(path: Path) -> None:
    with Cache(path) as cache:
        cache.store("m", [(SENTENCE, ScoreAnswer(-3.0, 4))])
        assert cache.lookup("m", [SENTENCE])


def use_journal(path: Path) -> None:
    journal = Journal(path)
    journal.keep(b"key", "{}")
    assert journal.find([b"key"]) == {b"key": {}}
    journal.close()


DATABASES = {"cache.sqlite": use_cache, "responses.sqlite": use_journal}


@pytest.fixture
def letter(tmp_path: Path) -> Path:
    """A file of the user's that lies elsewhere."""
    (tmp_path / "letter.txt").write_text("kære Ida")
    return tmp_path / "letter.txt"


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / "home" / str(request.param)


def use(path: Path) -> None:
    DATABASES[path.name](path)


def put_superior(path: Path, named: Path) -> None:
    """A journal that SQLite rolls back; it then deletes the file that the journal names."""
    name = str(named).encode()
    total = sum(byte if byte < 128 else byte - 256 for byte in name) & 0xFFFFFFFF
    head = MAGIC + struct.pack(">IIIII", 0, 0, path.stat().st_size // 4096, 512, 4096)
    tail = struct.pack(">I", 0x40000000 // 4096 + 1) + name + struct.pack(">II", len(name), total)
    journal = path.with_name(f"{path.name}-journal")
    journal.write_bytes(head.ljust(512, b"\0") + tail + MAGIC)


def test_a_journal_that_names_another_file_is_not_obeyed(database: Path, letter: Path) -> None:
    use(database)
    put_superior(database, letter)
    with pytest.raises(UserError, match="-journal names another file"):
        use(database)
    assert letter.read_text() == "kære Ida"


def test_the_journal_of_a_killed_process_is_no_reason_to_refuse_a_database(database: Path) -> None:
    use(database)
    database.with_name(f"{database.name}-journal").write_bytes(MAGIC + b"\0" * 504)
    use(database)


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("kind", ["link", "link to nowhere", "second name", "pipe"])
def test_what_has_another_name_is_not_written_to(
    kind: str, suffix: str, database: Path, letter: Path
) -> None:
    database.parent.mkdir()
    if suffix:
        use(database)
    nowhere = letter.with_name("nowhere")
    file = database.with_name(database.name + suffix)
    put: dict[str, Callable[[], object]] = {
        "link": lambda: file.symlink_to(letter),
        "link to nowhere": lambda: file.symlink_to(nowhere),
        "second name": lambda: os.link(letter, file),
        "pipe": lambda: os.mkfifo(file),
    }
    put[kind]()
    with pytest.raises(UserError, match=r"is not an ordinary file|has another name as well"):
        use(database)
    assert letter.read_text() == "kære Ida"
    assert not nowhere.exists()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON {0} BEGIN SELECT 1; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE other (x)",
        "CREATE INDEX i ON {0} (abs(key))",
        "ALTER TABLE {0} ADD COLUMN x AS (abs(key))",
        "DROP TABLE {0}; CREATE VIEW {0} AS SELECT x'00' AS key",
    ],
)
def test_a_database_with_anything_but_its_table_is_refused_and_unchanged(
    statement: str, database: Path
) -> None:
    use(database)
    with closing(sqlite3.connect(database)) as db:
        table = db.execute("SELECT name FROM sqlite_schema").fetchone()[0]
        db.executescript(statement.format(table))
    before = database.read_bytes()
    with pytest.raises(UserError, match="holds other things than"):
        use(database)
    assert database.read_bytes() == before


def test_the_folder_of_a_database_can_be_entered_by_the_user_alone(database: Path) -> None:
    before = os.umask(0o022)
    try:
        use(database)
    finally:
        os.umask(before)
    assert stat.S_IMODE(database.parent.stat().st_mode) == 0o700
