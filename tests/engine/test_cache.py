from __future__ import annotations

import multiprocessing
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.engine.cache import Cache, pack, request_key, unpack
from gendalens.errors import UserError
from gendalens.models.base import (
    Fill,
    FillAnswer,
    Reconstruct,
    Request,
    Resolve,
    ResolveAnswer,
    Score,
    ScoreAnswer,
    Tag,
    TagAnswer,
    TopToken,
)

SCORE, ANSWER = Score("Hun hørte fuglen."), ScoreAnswer(-12.345678901234567, 4)


def test_an_answer_comes_back_exactly(tmp_path: Path) -> None:
    with Cache(tmp_path / "c.sqlite") as cache:
        cache.store("m", [(SCORE, ANSWER)])
    with Cache(tmp_path / "c.sqlite") as cache:
        assert cache.lookup("m", [SCORE, Score("Andet.")]) == {SCORE: ANSWER}


def test_spans_come_back_as_tuples(tmp_path: Path) -> None:
    request, answer = Tag("Bo så Rom."), TagAnswer(((0, 2, "PER"), (6, 9, "LOC")))
    with Cache(tmp_path / "c.sqlite") as cache:
        cache.store("m", [(request, answer)])
        assert cache.lookup("m", [request]) == {request: answer}


def test_clusters_come_back_as_tuples(tmp_path: Path) -> None:
    request = Resolve("Bo ved, at han sover.", ((0, 2),), (11, 14), ((0, 2),))
    answer = ResolveAnswer((((0, 2), (11, 14)), ()))
    with Cache(tmp_path / "c.sqlite") as cache:
        cache.store("m", [(request, answer)])
        assert cache.lookup("m", [request]) == {request: answer}


def test_another_model_has_answers_of_its_own(tmp_path: Path) -> None:
    with Cache(tmp_path / "c.sqlite") as cache:
        cache.store("m", [(SCORE, ANSWER)])
        assert cache.lookup("n", [SCORE]) == {}


def test_requests_that_differ_anywhere_have_different_keys() -> None:
    requests: list[Request] = [
        Score("a"),
        Score("a", given="b"),
        Fill("a", "b"),
        Fill("a", "b", ("c",)),
        Fill("a", "b", (), ("c",)),
        TopToken("a", "b"),
        Reconstruct("a", ("b",), None),
        Reconstruct("a", ("b",), "c"),
        Resolve("a"),
        Resolve("a", ((0, 1),)),
        Resolve("a", (), (0, 1)),
        Resolve("a", (), None, ((0, 1),)),
    ]
    assert len({request_key("m", request) for request in requests}) == len(requests)


@settings(deadline=None, derandomize=True)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=4),
    st.none() | st.text(),
    st.integers(0, 99),
)
def test_packing_keeps_every_bit(values: list[float], first: str | None, unknown: int) -> None:
    answer = FillAnswer(tuple(values), (1,) * len(values), first, unknown)
    assert unpack("fill", pack(answer)) == answer


def test_many_requests_are_looked_up_at_once(tmp_path: Path) -> None:
    pairs = [(Score(str(i)), ScoreAnswer(-float(i), i)) for i in range(1201)]
    with Cache(tmp_path / "c.sqlite") as cache:
        cache.store("m", pairs)
        assert cache.lookup("m", [request for request, _ in pairs]) == dict(pairs)


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    path.write_text("not a database, but long enough to look like a file " * 20)
    with pytest.raises(UserError, match="not an SQLite database"):
        Cache(path)
    assert path.read_text().startswith("not a database")


def test_a_cache_of_another_version_is_told(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version=99")
    db.close()
    with pytest.raises(UserError, match="another version"):
        Cache(path)


def test_a_read_only_cache_is_told_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.sqlite"
    with Cache(path):
        pass
    connect = sqlite3.connect
    # File permissions do not bind root, so SQLite itself is asked for a read-only connection.
    monkeypatch.setattr(
        sqlite3, "connect", lambda p, **kw: connect(f"file:{p}?mode=ro", uri=True, **kw)
    )
    with pytest.raises(UserError, match="read-only"):
        Cache(path)


def test_a_damaged_answer_is_told_and_not_used(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    with Cache(path) as cache:
        cache.store("m", [(SCORE, ANSWER)])
    with sqlite3.connect(path) as db:
        db.execute("UPDATE answers SET answer = '[1]'")
    db.close()
    with Cache(path) as cache, pytest.raises(UserError, match="damaged"):
        cache.lookup("m", [SCORE])


def test_a_full_disk_is_told_and_stored_answers_stay(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    with Cache(path) as cache:
        cache.store("m", [(SCORE, ANSWER)])
        pages = cache._db.execute("PRAGMA page_count").fetchone()[0]
        cache._db.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(UserError, match="disk is full"):
            cache.store("m", [(Score("x" * 9), FillAnswer((0.0,) * 9999, (), "æ"))])
        assert cache.lookup("m", [SCORE]) == {SCORE: ANSWER}


def _writer(path: str, start: int) -> None:
    with Cache(Path(path)) as cache:
        for i in range(start, start + 50):
            cache.store("m", [(Score(str(i)), ScoreAnswer(-1.0, i))])


def test_two_processes_write_to_one_cache(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_writer, args=(str(path), n)) for n in (0, 25)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    with Cache(path) as cache:
        assert len(cache.lookup("m", [Score(str(i)) for i in range(75)])) == 75
