"""Requests that share rows: each distinct row of all requests runs once, in whichever batch.

The sentences of a test differ in few words. A masked model that scores them word by word reads the same
row for two of them wherever the word in which they differ is masked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from functools import cached_property
from typing import Any

from gendalens.models.base import AskedRow, Backend, Row, RowReader
from gendalens.models.batch_run import BatchRun
from gendalens.models.division import Division, divide
from gendalens.models.requests import Answer


class RowRun:
    """A run over the distinct rows of encoded requests; each is answered when all its rows are read."""

    def __init__(self, backend: Backend, batch_tokens: int, encoded: Sequence[Any]) -> None:
        assert isinstance(backend, RowReader)
        self._backend = backend
        self._batch_tokens = batch_tokens
        self._encoded = encoded

    def divide(self, asked: frozenset[int], count: int, turn: int) -> Division:
        """The part of each request asked: that which reads its first row.

        A part reads whole batches of rows, so two parts read the batches between them.
        """
        rows = {row: number for number, row in enumerate(self._askers)}
        its_rows = {i: {rows[row] for row in self._encoded[i].inputs} for i in asked}
        schedule = self._run.schedule(frozenset().union(*its_rows.values()))
        batches = [batch for batch in (schedule.first, *schedule.batches) if batch]
        parts = divide([self._run.count_tokens(batch) for batch in batches], count, turn)
        place = {row: at for at, batch in enumerate(batches) for row in batch}
        first = {i: min((place[row] for row in some), default=0) for i, some in its_rows.items()}
        return Division(
            {i: parts[at] if parts else turn % count for i, at in first.items()},
            tuple(map(tuple, batches)),
        )

    def answer(
        self, waiting: frozenset[int], asked: frozenset[int] | None = None
    ) -> Generator[tuple[list[int], list[Answer]]]:
        """The requests in ``waiting`` with their answers, as their rows are read.

        What else is ``asked`` makes no difference, because rows are read in whole batches.
        """
        askers, rows = self._askers, self._rows
        unread = {index: len(set(self._encoded[index].inputs)) for index in waiting}
        yield from self._conclude([index for index in sorted(unread) if not unread[index]], {})
        uses = Counter(row for index in waiting for row in set(self._encoded[index].inputs))
        wanted = frozenset(number for number, row in enumerate(askers) if row in uses)
        readings: dict[Row, Any] = {}
        with closing(self._run.answer(wanted)) as arriving:
            for batch, found in arriving:
                done = []
                for number, reading in zip(batch, found, strict=True):
                    row = rows[number].row
                    if row not in uses:
                        continue
                    readings[row] = reading
                    for index in askers[row]:
                        if index in unread:
                            unread[index] -= 1
                            done += [index] * (not unread[index])
                yield from self._conclude(done, readings)
                # Readings are kept only until the last request that needs them is answered.
                for index in done:
                    for row in set(self._encoded[index].inputs):
                        uses[row] -= 1
                        if not uses[row]:
                            del readings[row]

    @cached_property
    def _run(self) -> _RowBatches:
        return _RowBatches(self._backend, self._batch_tokens, self._rows)

    @cached_property
    def _rows(self) -> list[AskedRow]:
        """The distinct rows, with all that is asked about them."""
        positions: dict[Row, set[int]] = {row: set() for row in self._askers}
        for item in self._encoded:
            for number, at in item.sites:
                positions[item.inputs[number]].add(at)
        return [
            AskedRow(row, tuple(self._encoded[i] for i in its), len(positions[row]))
            for row, its in self._askers.items()
        ]

    @cached_property
    def _askers(self) -> dict[Row, list[int]]:
        return self._find_askers()

    def _find_askers(self) -> dict[Row, list[int]]:
        """The requests that ask about each distinct row.

        Requests that are linked by shared rows are neighbours: after an interruption, the rows that
        remaining requests share with answered ones must be read again, and so they are few.
        """
        first: dict[Row, int] = {}
        leader = list(range(len(self._encoded)))
        for index, item in enumerate(self._encoded):
            for row in item.inputs:
                _join(leader, first.setdefault(row, index), index)
        order = sorted(range(len(leader)), key=lambda index: (_follow(leader, index), index))
        askers: dict[Row, list[int]] = {}
        for index in order:
            for row in dict.fromkeys(self._encoded[index].inputs):
                askers.setdefault(row, []).append(index)
        return askers

    def _conclude(
        self, done: list[int], readings: dict[Row, Any]
    ) -> Iterator[tuple[list[int], list[Answer]]]:
        if done:
            yield done, [self._backend.conclude(self._encoded[i], readings) for i in done]


class _RowBatches(BatchRun):
    """Batches of rows instead of requests."""

    def run(self, batch: Sequence[AskedRow]) -> list[Any]:
        """The readings of the rows, in order."""
        assert isinstance(self.backend, RowReader)
        return self.backend.read_rows(batch)

    def plan_remaining(
        self, batches: Sequence[list[int]], waiting: frozenset[int]
    ) -> list[list[int]]:
        """The batches that some waiting row is in, whole: every row is read as in a first run."""
        return [batch for batch in batches if not waiting.isdisjoint(batch)]


def _follow(leader: list[int], index: int) -> int:
    """The first of all requests that are linked with a request."""
    while leader[index] != index:
        leader[index] = leader[leader[index]]
        index = leader[index]
    return index


def _join(leader: list[int], one: int, other: int) -> None:
    one, other = _follow(leader, one), _follow(leader, other)
    leader[max(one, other)] = min(one, other)
