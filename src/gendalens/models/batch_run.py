"""Which requests run together, in batches of like length, and what happens when memory runs out."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gendalens.errors import UserError
from gendalens.models.base import Backend, Batching, Encoded
from gendalens.models.division import Division, divide
from gendalens.models.library_errors import DOES_NOT_FIT, is_out_of_memory
from gendalens.models.parallel_batches import start_workers, wait_for_hosts


def plan_batches(
    encoded: Sequence[Encoded],
    *,
    batch_tokens: int,
    max_positions: int,
    batching: Batching = Batching.ANY_LENGTH,
) -> Iterator[list[int]]:
    """Indices into ``encoded``, one list per batch; longest first, so that too little memory shows early.

    A batch holds at most ``batch_tokens`` tokens, padding included, and asks for at most
    ``max_positions`` predictions; a request larger than that runs alone. ``batching`` says whether
    requests of different lengths can share a batch, or none can.
    """
    # A stable sort keeps neighbours of one length together: the sentences of a triple share
    # masked rows, which a backend runs once per batch.
    order = sorted(range(len(encoded)), key=lambda i: -encoded[i].length)
    batch: list[int] = []
    rows = positions = longest = 0
    for i in order:
        item = encoded[i]
        full = (rows + item.rows) * max(longest, item.length) > batch_tokens
        apart = batching is Batching.ONE_ROW or (
            batching is Batching.EQUAL_LENGTH and item.length != longest
        )
        if batch and (full or apart or positions + item.positions > max_positions):
            yield batch
            batch, rows, positions, longest = [], 0, 0, 0
        batch.append(i)
        rows += item.rows
        positions += item.positions
        longest = max(longest, item.length)
    if batch:
        yield batch


def halve_last_batches(batches: Iterable[list[int]], workers: int) -> list[list[int]]:
    """The batches with each worker's last one halved, so that no worker waits long at the end."""
    whole = list(batches)
    halves = []
    for batch in whole[-workers:]:
        middle = (len(batch) + 1) // 2
        halves += [batch[:middle], batch[middle:]]
    return whole[:-workers] + [half for half in halves if half]


@dataclass(frozen=True, slots=True)
class Schedule:
    """The batches of a run, in order, and how many are answered at once.

    ``first`` is the longest request if that runs before the others and alone, because it loads the model.
    """

    first: list[int]
    batches: list[list[int]]
    workers: int


class BatchRun:
    """A run of one backend over encoded requests; it remembers how much fits into memory."""

    def __init__(self, backend: Backend, batch_tokens: int, encoded: Sequence[Any]) -> None:
        self.backend = backend
        self.limit = self._first_limit = batch_tokens
        self.encoded = encoded
        self._scheduled: tuple[frozenset[int], Schedule] | None = None

    def schedule(self, asked: frozenset[int]) -> Schedule:
        """The batches of a run that is not interrupted and asks these; planned once."""
        if self._scheduled is None or self._scheduled[0] != asked:
            self._scheduled = asked, self._make_schedule(asked)
        return self._scheduled[1]

    def _make_schedule(self, asked: frozenset[int]) -> Schedule:
        batches = self._plan(range(len(self.encoded)))
        workers = self.backend.workers if len(batches) > 1 else 1
        first: list[int] = []
        if workers > 1:
            longest = batches[0]
            first, others = longest[:1], longest[1:]
            batches = halve_last_batches([others, *batches[1:]] if others else batches[1:], workers)
        return Schedule(first, self.plan_remaining(batches, asked.difference(first)), workers)

    def divide(self, asked: frozenset[int], count: int, turn: int) -> Division:
        """The part of each request asked: whole batches, so that no other part changes its numbers."""
        schedule = self.schedule(asked)
        batches = [[i for i in schedule.first if i in asked], *schedule.batches]
        if not self.backend.rounds_in_batches:
            batches = [[i] for batch in batches for i in batch]
        batches = [batch for batch in batches if batch]
        parts = divide([self.count_tokens(batch) for batch in batches], count, turn)
        return Division(
            {i: part for batch, part in zip(batches, parts, strict=True) for i in batch},
            tuple(map(tuple, batches)),
        )

    def answer(
        self, waiting: frozenset[int], asked: frozenset[int] | None = None
    ) -> Generator[tuple[list[int], list[Any]]]:
        """Each batch of the requests in ``waiting`` with its answers, in order.

        ``asked`` are all that a run without parts would ask, in the batches that it would run.
        """
        schedule = self.schedule(waiting if asked is None else asked)
        first, workers = schedule.first, schedule.workers
        hosts = self.backend.hosts
        # Other processes need not be asked for what is known, only so that they load the model.
        if first and (first[0] in waiting or not hosts):
            found = self._answer_batch(self._items(first))
            if first[0] in waiting:
                yield first, found
        remaining = deque(self.plan_remaining(schedule.batches, waiting.difference(first)))
        if hosts:
            with wait_for_hosts(hosts, workers) as map_in_order:
                arriving = map_in_order(self._answer_elsewhere, list(remaining))
                yield from zip(remaining, arriving, strict=True)
            return
        if workers > 1:
            with start_workers(workers) as map_in_order:
                arriving = map_in_order(self._answer_whole, list(remaining))
                while remaining and (answers := _next_answers(arriving)) is not None:
                    yield remaining.popleft(), answers
        for batch in remaining:
            yield batch, self._answer_batch(self._items(batch))

    def run(self, batch: Sequence[Any]) -> list[Any]:
        """The answers to one batch of encoded requests, in order."""
        return self.backend.answer(batch)

    def _plan(self, places: Sequence[int]) -> list[list[int]]:
        if not places:
            return []
        own = self.backend.plan(self._items(places), self.limit)
        batches = own or plan_batches(
            self._items(places),
            batch_tokens=self.limit,
            max_positions=self.backend.max_positions,
            batching=self.backend.batching,
        )
        return [[places[i] for i in batch] for batch in batches]

    def plan_remaining(
        self, batches: Sequence[list[int]], waiting: frozenset[int]
    ) -> list[list[int]]:
        """The batches without a known answer, and new batches of what remains of the others."""
        whole = [batch for batch in batches if waiting.issuperset(batch)]
        parts = sorted(waiting.difference(*whole))
        return whole + self._plan(parts)

    def count_tokens(self, batch: Sequence[int]) -> int:
        """The number of tokens that are run for a batch."""
        return self.backend.count_tokens(self._items(batch))

    def _items(self, batch: Sequence[int]) -> list[Any]:
        return [self.encoded[i] for i in batch]

    def _answer_whole(self, batch: Sequence[int]) -> list[Any]:
        return self.run(self._items(batch))

    def _answer_elsewhere(self, batch: Sequence[int]) -> list[Any]:
        """The answers to a batch from another process, whose memory it has to itself."""
        items = self._items(batch)
        # Usually nothing needs to be counted, for which the batch would have to be sent twice.
        if self.limit == self._first_limit:
            try:
                return self.run(items)
            except (MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
        return self._answer_batch(items)

    def _answer_batch(self, batch: Sequence[Any]) -> list[Any]:
        """The answers to one batch, computed in parts if it does not fit into memory."""
        tokens = self.backend.count_tokens(batch)
        if tokens > self.limit and len(batch) > 1:
            return self._answer_halves(batch)
        try:
            return self.run(batch)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            if len(batch) == 1:
                raise UserError(
                    "{fact} even with one request at a time; use a smaller model, --dtype bfloat16, "
                    "or another device.",
                    fact=DOES_NOT_FIT(name=self.backend.info.name),
                ) from None
        self.limit = tokens // 2
        return self._answer_halves(batch)

    def _answer_halves(self, batch: Sequence[Any]) -> list[Any]:
        middle = len(batch) // 2
        return self._answer_batch(batch[:middle]) + self._answer_batch(batch[middle:])


def _next_answers(arriving: Iterator[list[Any]]) -> list[Any] | None:
    """The next answers; None if memory does not suffice for several batches at once.

    Memory may run out within a batch, or when the system cannot start another thread.
    """
    try:
        return next(arriving)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        return None
