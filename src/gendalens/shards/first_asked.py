"""Which requests are asked where, in a run that asks nothing twice."""

from __future__ import annotations

from collections.abc import Iterable

from gendalens.engine.cache import request_key
from gendalens.models.requests import Request

_BYTES = 16


class FirstAsked:
    """The requests of a run so far: a later portion or test does not ask them again.

    All shards and their merge go through the same portions, so they agree on it.
    """

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def take(self, requests: Iterable[Request]) -> list[Request]:
        """The distinct requests that were not asked before, in order."""
        fresh = []
        for request in dict.fromkeys(requests):
            key = request_key("", request)[:_BYTES]
            if key not in self._seen:
                self._seen.add(key)
                fresh.append(request)
        return fresh
