"""Answers to requests: duplicates are asked once, stored answers reused, the rest run in batches."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from gendalens.engine.cache import Cache
from gendalens.models.base import Backend
from gendalens.models.batches import answer_in_batches
from gendalens.models.requests import Answer, Request
from gendalens.words import Message, phrase


@dataclass(frozen=True, slots=True)
class Tally:
    """How many requests were made, how many were distinct, and how many the cache held.

    ``damaged`` counts the stored answers that failed their checksum.
    """

    requests: int
    distinct: int
    cached: int
    damaged: int = 0

    @property
    def message(self) -> Message:
        """The counts as a message."""
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
            "{counts} ({damaged:,} of them again, because their cached answers are damaged)",
            counts=counts,
            damaged=self.damaged,
        )


@dataclass(frozen=True, slots=True)
class Survey:
    """The tally of a test's requests, and the stored answers to its last portion."""

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
    """The answer to each distinct request, in the order of the requests.

    Every batch is stored as it arrives. ``known`` are the stored answers, if the cache has already
    been searched.
    """
    cache = usable_cache(cache, backend)
    distinct = list(dict.fromkeys(requests))
    model = cache_owner(backend)
    if known is None:
        known = cache.lookup(model, distinct) if cache else {}
    found = dict(known)
    # Closing stops workers that prepare the next batches if something fails here.
    batches = answer_in_batches(backend, distinct, known=found, batch_tokens=batch_tokens)
    with closing(batches) as arriving:
        for pairs in arriving:
            if cache:
                cache.store(model, pairs)
            found.update(pairs)
            on_answers(len(pairs))
    # In the order of the requests: that of arrival depends on the content of the cache.
    return {request: found[request] for request in distinct}


def survey(
    portions: Iterable[Sequence[Request]], backend: Backend | None, cache: Cache | None = None
) -> Survey:
    """Count requests and stored answers over all portions, before anything is asked.

    Only digests of the requests are kept, because the requests may not fit into memory. Without a
    backend (control models answer by themselves), nothing is looked up.
    """
    cache = usable_cache(cache, backend) if backend else None
    model = cache_owner(backend) if backend and cache else ""
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


def usable_cache(cache: Cache | None, backend: Backend) -> Cache | None:
    """The cache, unless nothing identifies the model."""
    return cache if backend.cacheable else None


def cache_owner(backend: Backend) -> str:
    """The model and its software: answers are stored under both, as other versions may differ."""
    return "|".join((backend.fingerprint(), *backend.info.software))


def choose_batch_tokens(backend: Backend, asked: int | None) -> int:
    """Tokens per batch: as requested by the user, or the backend's fastest."""
    return asked or backend.batch_tokens
