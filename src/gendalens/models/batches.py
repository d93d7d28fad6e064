"""Requests answered in batches."""

from __future__ import annotations

import math
from collections.abc import Container, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import groupby

from gendalens.errors import UserError
from gendalens.models.base import Backend, RowReader
from gendalens.models.batch_run import BatchRun
from gendalens.models.division import Division
from gendalens.models.requests import Answer, Request
from gendalens.models.shared_rows import RowRun


def answer_in_batches(
    backend: Backend,
    requests: Iterable[Request],
    *,
    known: Container[Request] = frozenset(),
    batch_tokens: int | None = None,
) -> Generator[list[tuple[Request, Answer]]]:
    """Each batch of the requests that are not ``known``, as pairs of request and answer.

    Close the generator if you stop early: other threads may be working on the next batches.
    """
    for same_kind in group_by_kind(requests):
        waiting = frozenset(i for i, request in enumerate(same_kind) if request not in known)
        if waiting:
            yield from KindRun(backend, same_kind, batch_tokens).answer(waiting)


def group_by_kind(requests: Iterable[Request]) -> Iterator[list[Request]]:
    """The requests of each kind, which are encoded together."""
    for _, group in groupby(sorted(requests, key=lambda r: r.kind), key=lambda r: r.kind):
        yield list(group)


class KindRun:
    """Requests of one kind, encoded for a backend.

    Known requests are among them, so that the next run plans the same batches as a run that was stopped.
    """

    def __init__(
        self, backend: Backend, requests: Sequence[Request], batch_tokens: int | None = None
    ) -> None:
        self._backend = backend
        self._requests = requests
        kind_of_run = RowRun if isinstance(backend, RowReader) else BatchRun
        encoded = backend.encode(requests)
        self._run = kind_of_run(backend, batch_tokens or backend.batch_tokens, encoded)

    def divide(self, asked: frozenset[int], count: int, turn: int) -> Division:
        """The part of each request asked, of so many; the first batch goes to part number ``turn``."""
        return self._run.divide(asked, count, turn)

    def answer(
        self, waiting: frozenset[int], asked: frozenset[int] | None = None
    ) -> Generator[list[tuple[Request, Answer]]]:
        """Each batch of the ``waiting`` requests, in the batches of a run in which all ``asked`` wait."""
        with closing(self._run.answer(waiting, asked)) as arriving:
            for batch, answers in arriving:
                pairs = [(self._requests[i], one) for i, one in zip(batch, answers, strict=True)]
                for request, answer in pairs:
                    _check_numbers(self._backend, request, answer)
                yield pairs


def _check_numbers(backend: Backend, request: Request, answer: Answer) -> None:
    # Not ``astuple``, which copies deeply: this runs for every answer.
    for name in answer.__slots__:
        value = getattr(answer, name)
        numbers = value if isinstance(value, tuple) else (value,)
        if any(isinstance(n, float) and not math.isfinite(n) for n in numbers):
            raise UserError(
                "{name} answers with numbers that are not finite (first seen in a {kind} request);"
                " try --dtype float32, or check its weights.",
                name=backend.info.name,
                kind=request.kind,
            )
