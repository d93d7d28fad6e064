from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch
from scripted import Question, Scripted

from gendalens.engine.cache import Cache
from gendalens.engine.executor import ask
from gendalens.errors import UserError
from gendalens.models.parallel_batches import start_workers
from gendalens.models.requests import Answer, Score

SENTENCES = [Score(f"{'ord ' * n}{i}.") for n in range(1, 8) for i in range(5)]


@dataclass
class Busy(Scripted):
    """Two batches at once; remembers in which threads, and how many ran together at most."""

    workers: int = 2
    threads: set[str] = field(default_factory=set)
    running: int = 0
    together: int = 0

    def answer(self, batch: Sequence[Question]) -> list[Answer]:
        self.threads.add(threading.current_thread().name)
        self.running += 1
        self.together = max(self.together, self.running)
        time.sleep(0.005)
        try:
            return super().answer(batch)
        finally:
            self.running -= 1


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_batches_run_together_and_change_no_answer() -> None:
    backend = Busy()
    answers = ask(backend, SENTENCES, batch_tokens=60)
    assert answers == ask(Scripted(), SENTENCES, batch_tokens=60)
    assert sorted(map(str, backend.asked)) == sorted(map(str, SENTENCES))
    assert backend.together == 2


def test_the_longest_request_runs_alone_and_first_in_the_main_thread() -> None:
    backend = Busy()
    ask(backend, SENTENCES, batch_tokens=60)
    assert backend.batches[0] == 1
    assert backend.asked[0] == SENTENCES[-5]
    assert len(backend.threads) == 3


def test_one_batch_needs_no_threads() -> None:
    backend = Busy()
    ask(backend, SENTENCES)
    assert backend.threads == {threading.current_thread().name}
    assert backend.batches == [len(SENTENCES)]


def test_memory_that_is_too_small_for_two_batches_is_enough_for_one() -> None:
    class Tight(Busy):
        def answer(self, batch: Sequence[Question]) -> list[Answer]:
            if self.running:
                raise MemoryError
            return super().answer(batch)

    backend = Tight()
    answers = ask(backend, SENTENCES, batch_tokens=60)
    assert answers == ask(Scripted(), SENTENCES)
    assert backend.together == 1


@pytest.mark.parametrize("started", [0, 1])
def test_where_no_more_threads_start_batches_run_one_at_a_time(
    started: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, tried = threading.Thread.start, []

    def limited(self: threading.Thread) -> None:
        tried.append(self)
        if len(tried) > started:
            raise RuntimeError("can't start new thread")
        start(self)

    before = set(threading.enumerate())
    monkeypatch.setattr(threading.Thread, "start", limited)
    backend = Busy()
    answers = ask(backend, SENTENCES, batch_tokens=60)
    assert tried
    assert answers == ask(Scripted(), SENTENCES)
    assert backend.together == 1
    assert set(threading.enumerate()) == before


def test_an_error_of_whoever_takes_the_answers_is_not_taken_for_memory() -> None:
    def full(_: int) -> None:
        raise MemoryError("while the answers were counted")

    with pytest.raises(MemoryError, match="counted"):
        ask(Busy(), SENTENCES, batch_tokens=60, on_answers=full)


def test_too_little_memory_for_a_batch_halves_it() -> None:
    backend = Busy(fails_above=2)
    answers = ask(backend, SENTENCES, batch_tokens=120)
    assert answers == ask(Scripted(), SENTENCES)
    assert max(backend.batches) <= 2
    with pytest.raises(UserError, match="does not fit into memory"):
        ask(Busy(fails_above=0), SENTENCES, batch_tokens=60)


def test_what_was_answered_before_a_failure_is_stored(tmp_path: Path) -> None:
    class Dies(Busy):
        def answer(self, batch: Sequence[Question]) -> list[Answer]:
            if len(self.batches) >= 4:
                raise UserError("The model went away.")
            return super().answer(batch)

    before = set(threading.enumerate())
    with Cache(tmp_path / "c.sqlite") as cache:
        with pytest.raises(UserError, match="went away"):
            ask(Dies(), SENTENCES, cache=cache, batch_tokens=60)
        stored = cache.lookup("scripted", SENTENCES)
    assert stored
    assert set(threading.enumerate()) == before


def test_a_failure_to_store_ends_the_threads_at_once(tmp_path: Path) -> None:
    class Full(Cache):
        def store(self, *_: object) -> None:
            raise UserError("The disk is full.")

    before = set(threading.enumerate())
    with Full(tmp_path / "c.sqlite") as cache, pytest.raises(UserError, match="full") as caught:
        ask(Busy(), SENTENCES, cache=cache, batch_tokens=60)
    assert caught.tb  # which holds on to everything that was at work
    assert set(threading.enumerate()) == before


@pytest.mark.usefixtures("two_threads")
def test_the_cores_are_shared_and_given_back() -> None:
    with start_workers(2) as map_in_order:
        inside = list(map_in_order(lambda _: torch.get_num_threads(), range(6)))
    assert inside == [1] * 6
    assert torch.get_num_threads() == 2


def test_what_is_found_comes_in_order() -> None:
    def slowly(number: int) -> int:
        time.sleep(0.01 if number % 3 == 0 else 0)
        return number * number

    with start_workers(3) as map_in_order:
        assert list(map_in_order(slowly, range(30))) == [n * n for n in range(30)]


@dataclass
class Groups(Busy):
    """Remembers which requests ran together."""

    groups: list[frozenset[Score]] = field(default_factory=list)

    def answer(self, batch: Sequence[Question]) -> list[Answer]:
        self.groups.append(frozenset(one.request for one in batch))
        return super().answer(batch)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("done", [1, 3, 5])
def test_a_run_that_goes_on_has_the_batches_of_one_that_was_not_stopped(
    workers: int, done: int, tmp_path: Path
) -> None:
    undisturbed = Groups(workers=workers)
    ask(undisturbed, SENTENCES, batch_tokens=60)
    stopped, seen = Groups(workers=workers), 0

    def stop(_answers: int) -> None:
        nonlocal seen
        seen += 1
        if seen == done:
            raise KeyboardInterrupt

    with Cache(tmp_path / "cache") as cache:
        with pytest.raises(KeyboardInterrupt):
            ask(stopped, SENTENCES, batch_tokens=60, cache=cache, on_answers=stop)
        known = cache.lookup("|".join((stopped.fingerprint(), *stopped.info.software)), SENTENCES)
        resumed = Groups(workers=workers)
        ask(resumed, SENTENCES, batch_tokens=60, cache=cache)
    assert known
    assert set(resumed.groups) <= set(undisturbed.groups)
    # With several workers the longest is asked again, to load the model.
    again = set().union(*resumed.groups) & set(known)
    assert len(again) == (0 if workers == 1 else 1)


def test_what_is_left_of_batches_partly_known_runs_together(tmp_path: Path) -> None:
    with Cache(tmp_path / "cache") as cache:
        ask(Groups(workers=1), SENTENCES[::2], cache=cache)
        backend = Groups(workers=1)
        ask(backend, SENTENCES, batch_tokens=60, cache=cache)
    fresh = Groups(workers=1)
    ask(fresh, SENTENCES[1::2], batch_tokens=60)
    assert sorted(map(len, backend.groups)) == sorted(map(len, fresh.groups))
    assert set().union(*backend.groups) == set(SENTENCES[1::2])
