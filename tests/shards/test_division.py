"""How requests are divided: whole batches, each in one part, whatever else is asked."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from families import opened
from scripted import Question, Scripted

from gendalens.errors import UserError
from gendalens.models.batches import KindRun
from gendalens.models.division import Shard, divide
from gendalens.models.requests import Answer, Request, Score


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_neighbours_and_weigh_about_the_same(seed: int) -> None:
    dice = random.Random(seed)
    weights = [dice.randint(0, 1000) for _ in range(dice.choice((0, 1, 5, 60)))]
    count, turn = dice.randint(1, 9), dice.randint(0, 20)
    parts = divide(weights, count, turn)
    plain = [(part - turn) % count for part in parts]
    assert plain == sorted(plain)
    sums = [
        sum(weight for weight, at in zip(weights, plain, strict=True) if at == part)
        for part in range(count)
    ]
    # A part is off by one piece at each end at most.
    assert all(abs(size - sum(weights) / count) <= max(weights, default=0) for size in sums)


@pytest.mark.parametrize("text", ["", "3", "a/b", "1/0", "0/0", "-1/3", "1/3/5", "1.5/3", "²/3"])
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="write NUMBER/COUNT, such as 2/7"):
        Shard.parse(text)


@pytest.mark.parametrize("text", ["0/3", "4/3"])
def test_a_part_beyond_the_last_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="numbered from 1/3 to 3/3"):
        Shard.parse(text)


class Spy(Scripted):
    """Keeps which requests came together."""

    def answer(self, batch: Sequence[Question]) -> list[Answer]:
        self.together.append(tuple(one.request for one in batch))
        return super().answer(batch)

    def __init__(self, workers: int, *, rounds: bool = True) -> None:
        super().__init__()
        self.together: list[tuple[Any, ...]] = []
        self.threads = workers
        self.rounds_in_batches = rounds  # type: ignore[misc]

    @property
    def workers(self) -> int:
        return self.threads


def run(
    spy: Scripted, requests: list[Request], asked: frozenset[int], shard: Shard | None
) -> set[int]:
    """Answer a shard, or everything that is asked; give what was answered."""
    work = KindRun(spy, requests, 60)
    waiting = asked
    if shard is not None:
        parts = work.divide(asked, shard.count, 0).parts
        waiting = frozenset(i for i, part in parts.items() if part == shard.number - 1)
    places = {request: i for i, request in enumerate(requests)}
    return {places[one] for pairs in work.answer(waiting, asked) for one, _ in pairs}


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_a_batch_of_a_part_is_a_batch_of_the_whole_run(workers: int, seed: int) -> None:
    """Also where some requests are not asked, because a test before this one has asked them."""
    dice = random.Random(seed)
    requests: list[Request] = [
        Score(f"{'ord ' * dice.randint(1, 9)}{number}.") for number in range(80)
    ]
    asked = frozenset(dice.sample(range(80), dice.choice((20, 60, 80))))
    whole = Spy(workers)
    assert run(whole, requests, asked, None) == asked
    parts = [Spy(workers) for _ in range(4)]
    answered = [run(spy, requests, asked, Shard(i, 4)) for i, spy in enumerate(parts, 1)]
    assert sorted(i for some in answered for i in some) == sorted(asked)
    assert {one for spy in parts for one in spy.together} == set(whole.together)


def test_where_batches_move_no_number_requests_are_divided_one_by_one() -> None:
    requests: list[Request] = [Score(f"ord {number}.") for number in range(12)]
    everything = frozenset(range(12))
    for rounds, sizes in ((False, [3, 3, 3, 3]), (True, [0, 0, 4, 8])):
        answered = [
            len(run(Spy(1, rounds=rounds), requests, everything, Shard(i, 4))) for i in range(1, 5)
        ]
        assert sorted(answered) == sizes


def test_a_masked_model_reads_few_rows_in_two_parts() -> None:
    backend = opened("wordpiece cased").backend
    requests: list[Request] = [
        Score(f"{'Hun ' * length}købte et {word} æble på torvet.")
        for length in range(1, 11)
        for word in ("rødt", "blåt", "hans")
    ]
    everything = frozenset(range(len(requests)))
    read: list[int] = []
    read_rows = type(backend).read_rows

    def count(self: Any, rows: Any) -> Any:
        read[-1] += len(rows)
        return read_rows(self, rows)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(backend), "read_rows", count)
        read.append(0)
        run(backend, requests, everything, None)
        for number in (1, 2, 3):
            read.append(0)
            assert run(backend, requests, everything, Shard(number, 3))
    assert sum(read[1:]) < 1.3 * read[0]
