"""Requests answered in batches."""

from __future__ import annotations

import math
from collections.abc import Container, Generator, Iterable
from contextlib import closing
from itertools import groupby

from gendalens.errors import UserError
from gendalens.models.base import Answer, Backend, Request, RowReader
from gendalens.models.batch_run import BatchRun
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
    for _, group in groupby(sorted(requests, key=lambda r: r.kind), key=lambda r: r.kind):
        same_kind = list(group)
        waiting = frozenset(i for i, request in enumerate(same_kind) if request not in known)
        if not waiting:
            continue
        # Known requests are encoded too, so that the next run plans the same batches as a run that was
        # stopped.
        kind_of_run = RowRun if isinstance(backend, RowReader) else BatchRun
        encoded = backend.encode(same_kind)
        run = kind_of_run(backend, batch_tokens or backend.batch_tokens, encoded)
        with closing(run.answer(waiting)) as arriving:
            for batch, answers in arriving:
                pairs = [(same_kind[i], answer) for i, answer in zip(batch, answers, strict=True)]
                for request, answer in pairs:
                    _check_numbers(backend, request, answer)
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
