"""Requests in, answers out: duplicates removed, stored answers reused, the rest run in batches."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from gendalens.engine.cache import Cache
from gendalens.models.base import Answer, Backend, Request
from gendalens.models.batches import answer_in_batches
from gendalens.words import Message, phrase


@dataclass(frozen=True, slots=True)
class Tally:
    """How many requests were made, how many were distinct, and how many the cache held.

    ``damaged`` are the answers that the cache held and that could not be believed.
    """

    requests: int
    distinct: int
    cached: int
    damaged: int = 0

    @property
    def message(self) -> Message:
        """The counts as a person reads them."""
        counts = phrase(
            "{requests:,} requests, {distinct:,} distinct, {cached:,} from the cache, "
            "{waiting:,} to run",
            requests=self.requests,
            distinct=self.distinct,
            cached=self.cached,
            waiting=self.distinct - self.cached,
        )
        if not self.damaged:
            return counts
        return phrase(
            "{counts} ({damaged:,} of them again: the cache's answers are damaged)",
            counts=counts,
            damaged=self.damaged,
        )


@dataclass(frozen=True, slots=True)
class Survey:
    """What asking will take, and the stored answers of the portion that was looked at last."""

    tally: Tally
    known: Mapping[Request, Answer]


def ask(
    backend: Backend,
    requests: Iterable[Request],
    *,
    cache: Cache | None = None,
    known: Mapping[Request, Answer] | None = None,
    batch_tokens: int | None = None,
    on_answers: Callable[[int], None] = lambda count: None,
) -> dict[Request, Answer]:
    """The answer to each distinct request, in the order they were asked.

    Every batch is stored as it arrives. ``known`` are the stored answers, where the cache has been
    looked at already.
    """
    cache = _usable_cache(cache, backend)
    distinct = list(dict.fromkeys(requests))
    model = _owner(backend)
    if known is None:
        known = cache.lookup(model, distinct) if cache else {}
    found = dict(known)
    # Closed at once if something fails here: others may still be at work on what comes next.
    batches = answer_in_batches(backend, distinct, known=found, batch_tokens=batch_tokens)
    with closing(batches) as arriving:
        for pairs in arriving:
            if cache:
                cache.store(model, pairs)
            found.update(pairs)
            on_answers(len(pairs))
    # Not in the order they were found, which depends on what the cache held.
    return {request: found[request] for request in distinct}


def survey(
    portions: Iterable[Sequence[Request]], backend: Backend | None, cache: Cache | None = None
) -> Survey:
    """What asking all portions will take, before anything is asked.

    Of a request only a digest is kept, because there may be more than memory holds. Without a backend
    (control models answer by themselves) the cache holds nothing.
    """
    cache = _usable_cache(cache, backend) if backend else None
    model = _owner(backend) if backend and cache else ""
    damaged = cache.damaged if cache else 0
    asked, seen, stored = 0, array("q"), array("q")
    known: Mapping[Request, Answer] = {}
    for requests in portions:
        distinct = list(dict.fromkeys(requests))
        asked += len(requests)
        seen.extend(map(hash, distinct))
        known = cache.lookup(model, distinct) if cache else {}
        stored.extend(map(hash, known))
    again = cache.damaged - damaged if cache else 0
    return Survey(Tally(asked, _count_distinct(seen), _count_distinct(stored), again), known)


def _count_distinct(digests: array[int]) -> int:
    return len(np.unique(np.frombuffer(digests, dtype=np.int64)))


def _usable_cache(cache: Cache | None, backend: Backend) -> Cache | None:
    return cache if backend.cacheable else None


def _owner(backend: Backend) -> str:
    """Under what answers are stored: another version of the software may answer differently."""
    return "|".join((backend.fingerprint(), *backend.info.software))


def budget(backend: Backend, asked: int | None) -> int:
    """Tokens a batch: what the user asked for, or what the backend runs fastest with."""
    return asked or backend.batch_tokens
