from __future__ import annotations

import multiprocessing
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.engine.cache import Cache, checksum, pack, request_key, unpack
from gendalens.errors import UserError
from gendalens.models.requests import (
    ANSWERED,
    REFUSED,
    Answer,
    Choose,
    ChooseAnswer,
    Fill,
    FillAnswer,
    Reconstruct,
    ReconstructAnswer,
    Request,
    Resolve,
    ResolveAnswer,
    Score,
    ScoreAnswer,
    Tag,
    TagAnswer,
    TopToken,
    TopTokenAnswer,
    Trial,
)
from gendalens.system import guarded_database

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
    answer = ResolveAnswer((((0, 2), (11, 14)),))
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
    st.lists(st.floats(-1e6, 0.0), max_size=4),
    st.none() | st.sampled_from(("hun", "§", "Åse")),
    st.integers(0, 99),
)
def test_packing_keeps_every_bit(values: list[float], first: str | None, unknown: int) -> None:
    answer = FillAnswer(tuple(values), (1,) * len(values), first, unknown)
    assert unpack(Fill("a", "b", ("c",) * len(values)), pack(answer)) == answer


def test_many_requests_are_looked_up_at_once(tmp_path: Path) -> None:
    pairs = [(Score(str(i)), ScoreAnswer(-float(i), i)) for i in range(1, 1202)]
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


@pytest.mark.parametrize(
    "damage",
    [
        "answer = '[1]'",
        "answer = replace(answer, '12.3', '12.4')",
        "answer = CAST(x'5bff5d' AS TEXT)",  # no UTF-8
        "answer = 7",
        "kind = 'tag'",
        "checksum = checksum + 1",
    ],
)
def test_a_damaged_answer_is_not_used_and_a_new_one_takes_its_place(
    tmp_path: Path, damage: str
) -> None:
    path = tmp_path / "c.sqlite"
    other, sound = Score("Andet."), ScoreAnswer(-1.0, 2)
    with Cache(path) as cache:
        cache.store("m", [(SCORE, ANSWER), (other, sound)])
    with sqlite3.connect(path) as db:
        db.execute(f"UPDATE answers SET {damage} WHERE key = ?", [request_key("m", SCORE)])
    db.close()
    with Cache(path) as cache:
        assert cache.lookup("m", [SCORE, other]) == {other: sound}
        assert cache.damaged == 1
        cache.store("m", [(SCORE, ANSWER)])
        assert cache.lookup("m", [SCORE, other]) == {SCORE: ANSWER, other: sound}
        assert cache.damaged == 1


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0), st.data())
def test_no_single_bit_of_a_row_can_turn_unseen(
    value: float, tokens: int, data: st.DataObject
) -> None:
    row = [request_key("m", SCORE), b"score", pack(ScoreAnswer(value, tokens)).encode()]
    before = checksum(*row)
    column = data.draw(st.integers(0, 2))
    bit = data.draw(st.integers(0, 8 * len(row[column]) - 1))
    turned = bytearray(row[column])
    turned[bit // 8] ^= 1 << bit % 8
    row[column] = bytes(turned)
    assert checksum(*row) != before


def test_a_cache_of_before_the_checksums_keeps_its_answers(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    pairs = [(Score(f"Sætning {i}."), ScoreAnswer(-i / 3, i)) for i in range(1, 51)]
    with sqlite3.connect(path) as db:
        db.execute(
            "CREATE TABLE answers"
            " (key BLOB PRIMARY KEY, kind TEXT NOT NULL, answer TEXT NOT NULL) WITHOUT ROWID"
        )
        rows = [(request_key("m", r), r.kind, pack(a)) for r, a in pairs]
        db.executemany("INSERT INTO answers VALUES (?, ?, ?)", rows)
        db.execute("PRAGMA user_version=1")
    db.close()
    for _ in range(2):  # brought up to date by the first, found so by the second
        with Cache(path) as cache:
            assert cache.lookup("m", [r for r, _ in pairs]) == dict(pairs)
            assert cache.damaged == 0
    with Cache(path) as cache:
        cache.store("m", [(SCORE, ANSWER)])
        assert cache.lookup("m", [SCORE]) == {SCORE: ANSWER}


def test_a_full_disk_is_told_and_stored_answers_stay(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    with Cache(path) as cache:
        cache.store("m", [(SCORE, ANSWER)])
        pages = cache._db.execute("PRAGMA page_count").fetchone()[0]
        cache._db.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(UserError, match="disk is full"):  # noqa: PT012
            many = 9999
            request = Fill("x", "y", ("z",) * many)
            cache.store("m", [(request, FillAnswer((0.0,) * many, (1,) * many, "æ"))])
        assert cache.lookup("m", [SCORE]) == {SCORE: ANSWER}


def _writer(path: str, start: int) -> None:
    with Cache(Path(path)) as cache:
        for i in range(start, start + 50):
            cache.store("m", [(Score(str(i)), ScoreAnswer(-1.0, i + 1))])


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


def test_switching_the_log_on_waits_for_a_process_that_does_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # SQLite gives up at once here, whatever its timeout: 4 processes that make a cache at the same
    # moment met this once in 150 times.
    class Busy(guarded_database.GuardedDatabase):
        refusals = 3

        def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
            if "journal_mode" in sql and self.refusals:
                self.refusals -= 1
                raise sqlite3.OperationalError("database is locked")
            return super().execute(sql, *parameters)

    monkeypatch.setattr(guarded_database, "GuardedDatabase", Busy)
    with Cache(tmp_path / "c.sqlite") as cache:
        cache.store("m", [(SCORE, ANSWER)])
        assert cache.lookup("m", [SCORE]) == {SCORE: ANSWER}
    monkeypatch.setattr("gendalens.engine.cache.WAIT", -1.0)
    with pytest.raises(UserError, match="locked by another program"):
        Cache(tmp_path / "c.sqlite")


TRIALS = (Trial(0, 1, ANSWERED, 1, (-0.5, -1.25)), Trial(1, 0, REFUSED))


def test_trials_come_back_as_they_were(tmp_path: Path) -> None:
    answers: dict[Request, Answer] = {
        Fill("Han ser ", " hund.", ("hans", "hendes")): FillAnswer(
            (-0.5, -1.25), (1, 1), None, trials=TRIALS
        ),
        Choose(("Han ler.", "Hun ler.")): ChooseAnswer((-0.5, -1.25), TRIALS),
        Tag("Anna ler."): TagAnswer(((0, 4, "PER"),), 0, (Trial(0, 0), Trial(1, 0, REFUSED)), 2),
        Resolve("Hun ler."): ResolveAnswer((), trials=TRIALS),
    }
    with Cache(tmp_path / "cache.sqlite") as cache:
        cache.store("m", answers.items())
        found = cache.lookup("m", list(answers))
    assert found == answers
    for answer in found.values():
        assert not isinstance(answer, ScoreAnswer | TopTokenAnswer | ReconstructAnswer)
        assert answer.trials[1].outcome == REFUSED


@pytest.mark.parametrize(
    ("request_", "text", "answer"),
    [
        (Fill("", " ler.", ("Hun",)), "[[-0.5], [1], null, 3]", FillAnswer((-0.5,), (1,), None, 3)),
        (Tag("Anna ler."), '[[[0, 4, "PER"]], 2]', TagAnswer(((0, 4, "PER"),), 2)),
        (Resolve("Hun ler."), "[[], [], [], 1]", ResolveAnswer((), (), (), 1)),
    ],
)
def test_rows_of_before_the_trials_stay_valid(request_: Request, text: str, answer: Answer) -> None:
    assert unpack(request_, text) == answer


@pytest.mark.parametrize("text", ["[[-0.5], [1]]", "[[-0.5], [1], null, 3, [], 5]"])
def test_a_row_with_too_few_or_too_many_fields_is_no_answer(text: str) -> None:
    with pytest.raises((TypeError, ValueError)):
        unpack(Fill("", " ler.", ("Hun",)), text)
