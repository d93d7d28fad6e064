from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest
from scripted import Question, Scripted

from gendalens.engine.cache import Cache
from gendalens.engine.executor import Tally, ask, survey
from gendalens.errors import UserError
from gendalens.models.requests import Answer, Fill, Request, Score

SENTENCES = [Score(f"{'ord ' * n}{i}.") for n in range(1, 8) for i in range(5)]


def test_a_duplicate_is_asked_once() -> None:
    backend = Scripted()
    answers = ask(backend, [*SENTENCES, *SENTENCES])
    assert len(backend.asked) == len(SENTENCES)
    assert list(answers) == SENTENCES
    tally = survey([[*SENTENCES, *SENTENCES]], backend).tally
    assert tally == Tally(2 * len(SENTENCES), len(SENTENCES), 0)


def test_a_stored_answer_is_not_asked_again(tmp_path: Path) -> None:
    with Cache(tmp_path / "c.sqlite") as cache:
        first = ask(Scripted(), SENTENCES[:20], cache=cache)
        backend = Scripted()
        tally = survey([SENTENCES], backend, cache).tally
        second = ask(backend, SENTENCES, cache=cache)
    assert tally.cached == 20
    assert set(backend.asked) == set(SENTENCES[20:])
    assert first.items() <= second.items()


def test_answers_that_were_looked_up_before_are_not_looked_up_again(tmp_path: Path) -> None:
    backend = Scripted()
    with Cache(tmp_path / "c.sqlite") as cache:
        first = ask(backend, SENTENCES[:20], cache=cache)
        surveyed = survey([SENTENCES], backend, cache)
        cache.lookup = None  # type: ignore[method-assign, assignment]
        again = ask(backend, SENTENCES, cache=cache, known=surveyed.known)
    assert len(backend.asked) == len(SENTENCES)
    assert first.items() <= again.items()


@pytest.mark.parametrize("stored", [0, 20, len(SENTENCES)])
def test_answers_come_in_the_order_of_the_requests_whatever_was_stored(
    tmp_path: Path, stored: int
) -> None:
    fills = [Fill("Så kom ", f" nummer {i}.", ("han", "hun")) for i in range(5)]
    asked: list[Request] = [*SENTENCES[::2], *fills, *SENTENCES]
    with Cache(tmp_path / "c.sqlite") as cache:
        ask(Scripted(), SENTENCES[:stored], cache=cache)
        answers = ask(Scripted(), asked, cache=cache)
    assert list(answers) == list(dict.fromkeys(asked))


def test_a_damaged_answer_is_asked_again_and_the_tally_says_so(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    with Cache(path) as cache:
        first = ask(Scripted(), SENTENCES, cache=cache)
    with sqlite3.connect(path) as db:
        db.execute(
            "UPDATE answers SET answer = answer || ' ' WHERE key IN (SELECT min(key) FROM answers)"
        )
    db.close()
    backend = Scripted()
    with Cache(path) as cache:
        before = survey([SENTENCES], backend, cache).tally
        second = ask(backend, SENTENCES, cache=cache)
        after = survey([SENTENCES], backend, cache).tally
        third = ask(backend, SENTENCES, cache=cache)
    assert first == second == third
    assert len(backend.asked) == 1
    assert "34 from the cache, 1 to run (1 of them again, because" in str(before.message)
    assert after == Tally(35, 35, 35)


def test_every_batch_is_stored_as_it_arrives(tmp_path: Path) -> None:
    class Dies(Scripted):
        def answer(self, batch: Sequence[Question]) -> list[Answer]:
            if len(self.batches) == 3:
                raise KeyboardInterrupt
            return super().answer(batch)

    backend = Dies()
    with Cache(tmp_path / "c.sqlite") as cache:
        with pytest.raises(KeyboardInterrupt):
            ask(backend, SENTENCES, cache=cache, batch_tokens=60)
        assert len(cache.lookup("scripted", SENTENCES)) == len(backend.asked) > 0


def test_too_little_memory_halves_the_batches_and_changes_no_answer() -> None:
    small = Scripted(fails_above=3)
    answers = ask(small, SENTENCES, batch_tokens=10_000)
    assert max(small.batches) <= 3
    assert answers == ask(Scripted(), SENTENCES)


def test_a_request_that_never_fits_is_told() -> None:
    with pytest.raises(UserError, match="does not fit into memory"):
        ask(Scripted(fails_above=0), SENTENCES)


def test_another_runtime_error_is_not_taken_for_memory() -> None:
    class Broken(Scripted):
        def answer(self, batch: Sequence[Question]) -> list[Answer]:
            raise RuntimeError("shape mismatch")

    with pytest.raises(RuntimeError, match="shape mismatch"):
        ask(Broken(), SENTENCES)


@pytest.mark.parametrize("number", [math.nan, -math.inf])
def test_answers_that_are_no_numbers_are_told_and_not_stored(tmp_path: Path, number: float) -> None:
    with Cache(tmp_path / "c.sqlite") as cache:
        with pytest.raises(UserError, match="not finite"):
            ask(Scripted(spoiled=number), SENTENCES, cache=cache)
        assert cache.lookup("scripted", SENTENCES) == {}


def test_kinds_of_request_are_not_mixed_in_a_batch() -> None:
    kinds: list[set[str]] = []

    class Watched(Scripted):
        def answer(self, batch: Sequence[Question]) -> list[Answer]:
            kinds.append({one.request.kind for one in batch})
            return super().answer(batch)

    fills = [Fill("Så kom ", f" nummer {i}.", ("han", "hun")) for i in range(10)]
    ask(Watched(), [x for pair in zip(SENTENCES, fills, strict=False) for x in pair])
    assert all(len(kind) == 1 for kind in kinds)
