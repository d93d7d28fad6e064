"""Requests in, answers out: duplicates removed, stored answers reused, the rest run in batches."""

from __future__ import annotations

import math
from array import array
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from gendalens.engine.cache import Cache
from gendalens.engine.planner import plan, tapered
from gendalens.errors import UserError
from gendalens.models.base import BATCH_TOKENS, Answer, Backend, Encoded, Request
from gendalens.models.huggingface.libraries import out_of_memory
from gendalens.models.parallel_batches import crew


@dataclass(frozen=True, slots=True)
class Tally:
    """How many requests were made, how many were distinct, and how many the cache held.

    ``damaged`` are the answers that the cache held and that could not be believed.
    """

    requests: int
    distinct: int
    cached: int
    damaged: int = 0

    def __str__(self) -> str:
        counts = (
            f"{self.requests:,} requests, {self.distinct:,} distinct, "
            f"{self.cached:,} from the cache, {self.distinct - self.cached:,} to run"
        )
        if not self.damaged:
            return counts
        return f"{counts} ({self.damaged:,} of them again: the cache's answers are damaged)"


@dataclass(frozen=True, slots=True)
class Answers:
    """The answer to each distinct request, in the order they were asked, and what it took."""

    by_request: dict[Request, Answer]
    tally: Tally


def ask(
    backend: Backend,
    requests: Iterable[Request],
    *,
    cache: Cache | None = None,
    batch_tokens: int | None = None,
    on_answers: Callable[[int], None] = lambda count: None,
) -> Answers:
    """Ask a backend; every batch is stored as it arrives."""
    cache = _usable(cache, backend)
    batch_tokens = budget(backend, batch_tokens)
    asked = list(requests)
    distinct = list(dict.fromkeys(asked))
    damaged = cache.damaged if cache else 0
    model = _owner(backend)
    found = cache.lookup(model, distinct) if cache else {}
    tally = Tally(len(asked), len(distinct), len(found), cache.damaged - damaged if cache else 0)
    for _, group in groupby(sorted(distinct, key=lambda r: r.kind), key=lambda r: r.kind):
        same_kind = list(group)
        waiting = frozenset(i for i, r in enumerate(same_kind) if r not in found)
        if not waiting:
            continue
        # Known ones too: batches that a stopped run left undone are then the same in the next one.
        encoded = backend.encode(same_kind)
        # Closed at once if something fails here: others may still be at work on what comes next.
        with closing(_Run(backend, batch_tokens, encoded).answers(waiting)) as arriving:
            for batch, answers in arriving:
                pairs = [(same_kind[i], answer) for i, answer in zip(batch, answers, strict=True)]
                for request, answer in pairs:
                    _check_numbers(backend, request, answer)
                if cache:
                    cache.store(model, pairs)
                found.update(pairs)
                on_answers(len(pairs))
    # Not in the order they were found, which depends on what the cache held.
    return Answers({request: found[request] for request in distinct}, tally)


def survey(
    portions: Iterable[Sequence[Request]], backend: Backend | None, *, cache: Cache | None = None
) -> Tally:
    """What asking all portions will take, before anything is asked.

    Of a request only a digest is kept, because there may be more than memory holds. Without a backend
    (control models answer by themselves) the cache holds nothing.
    """
    cache = _usable(cache, backend) if backend else None
    model = _owner(backend) if backend and cache else ""
    damaged = cache.damaged if cache else 0
    asked, seen, stored = 0, array("q"), array("q")
    for requests in portions:
        distinct = list(dict.fromkeys(requests))
        asked += len(requests)
        seen.extend(map(hash, distinct))
        if cache:
            stored.extend(map(hash, cache.lookup(model, distinct)))
    again = cache.damaged - damaged if cache else 0
    return Tally(asked, _different(seen), _different(stored), again)


def _different(digests: array[int]) -> int:
    return len(np.unique(np.frombuffer(digests, dtype=np.int64)))


def _usable(cache: Cache | None, backend: Backend) -> Cache | None:
    return cache if getattr(backend, "cacheable", True) else None


def _owner(backend: Backend) -> str:
    """Under what answers are stored: another version of the software may answer differently."""
    return "|".join((backend.fingerprint(), *backend.info.software))


def budget(backend: Backend, asked: int | None) -> int:
    """Tokens a batch: what the user asked for, or what the backend runs fastest with."""
    best: int = getattr(backend, "batch_tokens", BATCH_TOKENS)
    return asked or best


class _Run:
    """One backend at work on encoded requests; remembers how much fits into memory."""

    def __init__(self, backend: Backend, batch_tokens: int, encoded: Sequence[Any]) -> None:
        self.backend = backend
        self.limit = batch_tokens
        self.encoded = encoded

    def answers(self, waiting: frozenset[int]) -> Generator[tuple[list[int], list[Answer]]]:
        """Each batch of those that wait for an answer, and its answers, in order."""
        batches = self._plan(range(len(self.encoded)))
        workers = getattr(self.backend, "workers", 1) if len(batches) > 1 else 1
        if workers > 1:
            # The longest request runs alone, before the others: it loads the model.
            longest = batches[0]
            first, others = longest[:1], longest[1:]
            found = self.answer(self._items(first))
            if first[0] in waiting:
                yield first, found
            batches = tapered([others, *batches[1:]] if others else batches[1:], workers)
            waiting = waiting - set(first)
        rest = deque(self._left(batches, waiting))
        if workers > 1:
            with crew(workers) as side_by_side:
                arriving = side_by_side(self._together, list(rest))
                while rest and (more := _next(arriving)) is not None:
                    yield rest.popleft(), more
        for batch in rest:
            yield batch, self.answer(self._items(batch))

    def _plan(self, places: Sequence[int]) -> list[list[int]]:
        batches = plan(
            self._items(places),
            batch_tokens=self.limit,
            max_positions=self.backend.max_positions,
        )
        return [[places[i] for i in batch] for batch in batches]

    def _left(self, batches: Sequence[list[int]], waiting: frozenset[int]) -> list[list[int]]:
        """The batches without what is known; what is left of those partly known is put together."""
        whole = [batch for batch in batches if waiting.issuperset(batch)]
        parts = sorted(waiting.difference(*whole))
        return whole + self._plan(parts)

    def _items(self, batch: Sequence[int]) -> list[Any]:
        return [self.encoded[i] for i in batch]

    def _together(self, batch: Sequence[int]) -> list[Answer]:
        return self.backend.answer(self._items(batch))

    def answer(self, batch: Sequence[Any]) -> list[Answer]:
        """The answers to one batch, in parts where it does not fit."""
        tokens = _tokens(batch)
        if tokens > self.limit and len(batch) > 1:
            return self._halves(batch)
        try:
            return self.backend.answer(batch)
        except (MemoryError, RuntimeError) as error:
            if not out_of_memory(error):
                raise
            if len(batch) == 1:
                raise UserError(
                    f"{self.backend.info.name} does not fit into memory even with one request at a "
                    "time; use a smaller model, --dtype bfloat16, or another device."
                ) from None
        self.limit = tokens // 2
        return self._halves(batch)

    def _halves(self, batch: Sequence[Any]) -> list[Answer]:
        middle = len(batch) // 2
        return self.answer(batch[:middle]) + self.answer(batch[middle:])


def _next(arriving: Iterator[list[Answer]]) -> list[Answer] | None:
    """The answers that come next; None where memory does not suffice for several batches at once.

    It may run out in a batch, and where the system starts no more threads.
    """
    try:
        return next(arriving)
    except (MemoryError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
        return None


def _tokens(items: Sequence[Encoded]) -> int:
    return sum(item.rows for item in items) * max(item.length for item in items)


def _check_numbers(backend: Backend, request: Request, answer: Answer) -> None:
    # Not ``astuple``, which copies deeply: this runs for every answer.
    for name in answer.__slots__:
        value = getattr(answer, name)
        numbers = value if isinstance(value, tuple) else (value,)
        if any(isinstance(n, float) and not math.isfinite(n) for n in numbers):
            raise UserError(
                f"{backend.info.name} answers with numbers that are not finite (first seen in a "
                f"{request.kind} request); try --dtype float32, or check its weights."
            )
