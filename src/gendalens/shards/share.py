"""The share of a shard: the requests of a portion that it answers, in the batches of a whole run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from gendalens.engine.cache import Cache
from gendalens.engine.executor import cache_owner, usable_cache
from gendalens.models.base import Backend
from gendalens.models.batches import KindRun, group_by_kind
from gendalens.models.division import Shard, divide
from gendalens.models.requests import Answer, Request


@dataclass(frozen=True, slots=True)
class Share:
    """The answers of a shard to one portion, in the order of the requests.

    ``cached`` of them were stored before. ``batches`` is a digest of how the portion was divided.
    """

    answers: Mapping[Request, Answer]
    cached: int
    batches: str


def answer_share(
    backend: Backend,
    requests: Sequence[Request],
    fresh: Sequence[Request],
    shard: Shard,
    turn: int,
    *,
    cache: Cache | None,
    batch_tokens: int | None,
    on_share: Callable[[int, int], None],
    on_answers: Callable[[int], None],
) -> Share:
    """The answers to the shard's share of ``fresh``, the ``requests`` that are not asked elsewhere.

    ``on_share`` is told how many these are and how many of them are stored, before any is asked.
    """
    cache = usable_cache(cache, backend)
    owner = cache_owner(backend)
    wanted = frozenset(fresh)
    digest = hashlib.sha256()
    runs: list[tuple[list[Request], KindRun, frozenset[int], frozenset[int]]] = []
    found: dict[Request, Answer] = {}
    for same_kind in group_by_kind(dict.fromkeys(requests)):
        asked = frozenset(i for i, request in enumerate(same_kind) if request in wanted)
        if not asked:
            continue
        run = KindRun(backend, same_kind, batch_tokens)
        division = run.divide(asked, shard.count, turn)
        digest.update(repr((sorted(division.parts.items()), division.batches)).encode())
        mine = frozenset(i for i, part in division.parts.items() if part == shard.number - 1)
        if cache:
            found |= cache.lookup(owner, [same_kind[i] for i in sorted(mine)])
        runs.append((same_kind, run, asked, mine))
    cached = len(found)
    on_share(sum(len(mine) for *_, mine in runs), cached)
    for same_kind, run, asked, mine in runs:
        waiting = frozenset(i for i in mine if same_kind[i] not in found)
        if not waiting:
            continue
        with closing(run.answer(waiting, asked)) as arriving:
            for pairs in arriving:
                if cache:
                    cache.store(owner, pairs)
                found.update(pairs)
                on_answers(len(pairs))
    answers = {request: found[request] for request in fresh if request in found}
    return Share(answers, cached, digest.hexdigest())


def plant_share(
    planted: Mapping[Request, Answer], fresh: Sequence[Request], shard: Shard, turn: int
) -> Share:
    """The same of a control model's answers, which the test has planted for the whole portion."""
    parts = divide([1] * len(fresh), shard.count, turn)
    mine = [request for request, part in zip(fresh, parts, strict=True) if part == shard.number - 1]
    return Share({request: planted[request] for request in mine}, 0, hashlib.sha256().hexdigest())
