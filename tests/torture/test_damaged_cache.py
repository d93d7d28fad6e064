from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from gendalens.engine.cache import Cache
from gendalens.models.requests import Score, ScoreAnswer
from torture import cache_file
from torture.surroundings import make_room, may_mount, small_disk

PAIRS = [(Score(f"Sætning {i}."), ScoreAnswer(-i / 7, i)) for i in range(1, 3001)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "count"),
    [(cache_file.truncate, 4), (cache_file.flip_bit, 12), (cache_file.flip_log_bit, 4)],
)
def test_a_damaged_cache_gives_the_same_result_or_one_sentence(
    damage: cache_file.Damage, count: int, tmp_path: Path
) -> None:
    trials = list(
        cache_file.run_damaged(damage.__name__, damage, count=count, seed=7, work=tmp_path)
    )
    assert len(trials) == count
    assert not [trial for trial in trials if trial.outcome == "lost"]


def test_a_lock_that_is_given_back_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    with (
        Cache(path) as cache,
        closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(0.5, other.execute, ["ROLLBACK"])
        timer.start()
        cache.store("m", PAIRS[:5])
        timer.join()
        assert len(cache.lookup("m", [request for request, _ in PAIRS])) == 5


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    if not may_mount():
        pytest.skip("a small disk can be mounted by root only")
    with small_disk(tmp_path / "disk", 200):
        yield tmp_path / "disk"


def test_a_full_disk_is_one_sentence_and_what_was_stored_stays(disk: Path) -> None:
    from gendalens.errors import UserError

    stored = 0
    with Cache(disk / "c.sqlite") as cache:
        with pytest.raises(UserError, match="disk is full"):  # noqa: PT012
            for start in range(0, len(PAIRS), 50):
                cache.store("m", PAIRS[start : start + 50])
                stored += 50
        assert 0 < stored < len(PAIRS)
    make_room(disk)
    with Cache(disk / "c.sqlite") as cache:
        assert cache.lookup("m", [request for request, _ in PAIRS]) == dict(PAIRS[:stored])
        cache.store("m", PAIRS)
        assert cache.lookup("m", [request for request, _ in PAIRS]) == dict(PAIRS)
