"""A cache that somebody else has written: nothing in it is believed that no model can have answered."""

from __future__ import annotations

import signal
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from gendalens.engine import cache as cache_module
from gendalens.engine.cache import Cache, checksum, request_key
from gendalens.errors import UserError
from gendalens.models.requests import Fill, Reconstruct, Request, Resolve, Score, Tag, TopToken
from gendalens.system import guarded_database

FILL = Fill("Det er ", " båd.", ("hans", "hendes"))
SCORE = Score("Hun sejler.")
TAG = Tag("Åse bor i Ribe.")
RESOLVE = Resolve("Bo ved, at han sover.", (), (11, 14), ((0, 2),))
RECONSTRUCT = Reconstruct("Hun maler sit hus.", ("sit",), "hans")
HUGE = "1" + "0" * 400


def plant(path: Path, request: Request, answer: str) -> None:
    """Write a row with a right checksum."""
    with Cache(path):
        pass
    key, kind = request_key("m", request), request.kind
    row = (key, kind, answer, checksum(key, kind.encode(), answer.encode()))
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("INSERT INTO answers VALUES (?, ?, ?, ?)", row)


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (SCORE, "[-3.5, 0, 0, 0]"),
        (SCORE, "[-3.5, -5, 0, 0]"),
        (SCORE, '["-3.5", 4, 0, 0]'),
        (SCORE, "[-3.5, 4.5, 0, 0]"),
        (SCORE, "[-3.5, true, 0, 0]"),
        (SCORE, "[NaN, 4, 0, 0]"),
        (SCORE, "[-Infinity, 4, 0, 0]"),
        (SCORE, f"[-{HUGE}, 4, 0, 0]"),
        (SCORE, f"[-3.5, {HUGE}, 0, 0]"),
        (SCORE, "[-1e999, 4, 0, 0]"),
        (SCORE, "[0.5, 4, 0, 0]"),
        (SCORE, "[-3.5, 4, 2, 0]"),
        (SCORE, "[-3.5, 4, 0, -1]"),
        (SCORE, "[-3.5, 4]"),
        (SCORE, '{"log_likelihood": -3.5, "tokens": 4}'),
        (SCORE, "[" * 100_000),
        (FILL, '[[-1.0], [1], "hans", 0]'),
        (FILL, '[[-1.0, -2.0, -3.0], [1, 1, 1], "hans", 0]'),
        (FILL, '[[-1.0, 0.5], [1, 1], "hans", 0]'),
        (FILL, '[[-1.0, null], [1, 1], "hans", 0]'),
        (FILL, '[[-1.0, -2.0], [0, 1], "hans", 0]'),
        (FILL, "[[-1.0, -2.0], [1, 1], 7, 0]"),
        (FILL, "[null, null, null, null]"),
        (TAG, '[[[0, 99, "PER"]], 7]'),
        (TAG, '[[[-3, 3, "PER"]], 7]'),
        (TAG, '[[["0", 3, "PER"]], 7]'),
        (TAG, "[[[0, 3, 5]], 7]"),
        (TAG, "[[[0, 3]], 7]"),
        (RESOLVE, "[[[[0, 2], [11, 99]]], [], [], 0]"),
        (RESOLVE, "[[[0, 2]], [], [], 0]"),
        (RESOLVE, "[[], [NaN, -1.0], [], 0]"),
        (RESOLVE, "[[], [-1.0, -2.0, -3.0], [], 0]"),
        (RESOLVE, '[[], ["a", "b"], [], 0]'),
        (RECONSTRUCT, "[-3.0]"),
        (RECONSTRUCT, "[1e300]"),
        (TopToken("Det er ", " båd."), "[5]"),
    ],
)
def test_an_answer_that_no_model_can_have_given_counts_as_damaged(
    tmp_path: Path, request_: Request, answer: str
) -> None:
    path = tmp_path / "c.sqlite"
    plant(path, request_, answer)
    with Cache(path) as cache:
        assert cache.lookup("m", [request_]) == {}
        assert cache.damaged == 1


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON answers BEGIN SELECT 1; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE VIRTUAL TABLE f USING fts5(x)",
        "CREATE TABLE other (x)",
        "CREATE INDEX i ON answers (kind)",
        "CREATE INDEX i ON answers (abs(checksum))",
        "ALTER TABLE answers ADD COLUMN x AS (abs(checksum))",
        "ALTER TABLE answers RENAME COLUMN kind TO sort",
        "DROP TABLE answers; CREATE VIEW answers AS SELECT x'00' AS key",
        "DROP TABLE answers; CREATE TABLE answers (key BLOB PRIMARY KEY, kind, answer, checksum)",
    ],
)
def test_a_database_with_anything_but_the_answers_is_refused(
    tmp_path: Path, statement: str
) -> None:
    path = tmp_path / "c.sqlite"
    with Cache(path):
        pass
    with closing(sqlite3.connect(path)) as db:
        db.executescript(statement)
    before = path.read_bytes()
    with pytest.raises(UserError, match="holds other things than answers"):
        Cache(path)
    assert path.read_bytes() == before


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def test_an_endless_query_ends_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Cache(tmp_path / "c.sqlite") as cache:
        with pytest.raises(UserError, match="takes too long"), cache._explain_errors(0.1):
            cache._db.execute(ENDLESS).fetchall()
        assert cache.lookup("m", [SCORE]) == {}
    monkeypatch.setattr(cache_module, "LONGEST_OPENING", -1.0)
    monkeypatch.setattr(guarded_database, "STEPS", 1)
    with pytest.raises(UserError, match="takes too long"):
        Cache(tmp_path / "c.sqlite")


def test_a_signal_ends_an_endless_query(tmp_path: Path) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        with Cache(tmp_path / "c.sqlite") as cache:
            timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGTERM])
            timer.start()
            with pytest.raises(KeyboardInterrupt), cache._explain_errors(30):
                cache._db.execute(ENDLESS).fetchall()
            timer.join()
    finally:
        signal.signal(signal.SIGTERM, before)


def test_an_answer_that_breaks_the_rules_is_not_stored(tmp_path: Path) -> None:
    from gendalens.models.requests import ScoreAnswer

    with Cache(tmp_path / "c.sqlite") as cache:
        cache.store("m", [(SCORE, ScoreAnswer(0.0, 0, 1))])
        assert cache.lookup("m", [SCORE]) == {}
        assert cache.damaged == 0
