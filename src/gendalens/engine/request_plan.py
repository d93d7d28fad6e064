"""The requests of a test, before they are answered."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from gendalens.data.choice import Choice
from gendalens.data.registry import Source, find_source
from gendalens.engine.cache import request_key
from gendalens.models.base import Backend
from gendalens.models.requests import Request
from gendalens.tasks.base import Card, Task


@dataclass(frozen=True, slots=True)
class Portion:
    """Items that fit into memory together, and all their requests, duplicates included."""

    items: Sequence[Any]
    requests: Sequence[Request]


class RequestPlan:
    """A configured test with its data sets and items, which are read when first needed.

    The requests of a test with a single portion are built once and kept; those of a larger test are
    built portion by portion.
    """

    def __init__(
        self,
        task: Task[Any],
        *,
        data: Mapping[str, Choice],
        sample: int | None = None,
        offline: bool = False,
    ) -> None:
        self.task = task
        self._data = data
        self._wanted = sample
        self._offline = offline

    @property
    def card(self) -> Card:
        """The test's card."""
        return self.task.card

    @cached_property
    def sets(self) -> dict[str, Source]:
        """The data sets by name."""
        return {
            name: find_source(name, override=self._data.get(name), offline=self._offline)
            for name in self.card.data
        }

    @cached_property
    def _all_items(self) -> Sequence[Any]:
        return self.task.items(self.sets)

    @cached_property
    def items(self) -> Sequence[Any]:
        """The items, or a sample of them."""
        if self._wanted is None:
            return self._all_items
        return self.task.sample(self._all_items, self._wanted, self.task.seed)

    @property
    def sample(self) -> int | None:
        """The size of the sample, or None if all items are used."""
        return self._wanted if len(self.items) < len(self._all_items) else None

    @property
    def portions(self) -> Iterator[Portion]:
        """The portions; every iteration gives the same ones."""
        if self._only_portion is not None:
            yield self._only_portion
            return
        for items in self.task.portions(self.items):
            yield Portion(items, self.task.requests(items))

    @cached_property
    def _only_portion(self) -> Portion | None:
        portions = self.task.portions(self.items)
        first = next(portions, ())
        if next(portions, None) is not None:
            return None
        return Portion(first, self.task.requests(first))

    @property
    def has_one_portion(self) -> bool:
        """Whether everything fits into memory at once."""
        return self._only_portion is not None

    @property
    def data(self) -> dict[str, dict[str, str]]:
        """The data sets as results and request files describe them."""
        if not self.sets:
            own = {"from": "the test itself", "sha256": self._digest_requests(), "whose": "test"}
            return {self.card.name: own}
        return {name: data.to_dict() for name, data in self.sets.items()}

    def _digest_requests(self) -> str:
        """What tells the sentences of a test that brings its own from those of another version."""
        digest = hashlib.sha256()
        for portion in self.portions:
            for request in portion.requests:
                digest.update(request_key("", request))
        return digest.hexdigest()

    def fit(self, model: Backend) -> Self:
        """The plan with its test configured for one model; its requests stay the same."""
        fitted = copy(self)
        fitted.task = self.task.fit(model)
        return fitted
