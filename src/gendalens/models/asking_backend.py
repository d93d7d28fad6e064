"""Backends that ask a language model: they write the questions, and it decides how they are run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gendalens.models.base import Backend, Batching


class AskingBackend(Backend):
    """A backend whose answers are made from those of a language model."""

    def __init__(self, model: Backend) -> None:
        self.model = model

    @property
    def max_positions(self) -> int:
        """How many predictions fit into memory at once."""
        return self.model.max_positions

    def plan(self, encoded: Sequence[Any], batch_tokens: int) -> list[list[int]] | None:
        """Batches of requests whose questions begin alike, if the language model can read trees."""
        return self.model.plan(encoded, batch_tokens)

    def count_tokens(self, batch: Sequence[Any]) -> int:
        """The number of tokens that are run for a batch."""
        return self.model.count_tokens(batch)

    @property
    def batch_tokens(self) -> int:
        """The number of tokens per batch that runs fastest."""
        return self.model.batch_tokens

    @property
    def batching(self) -> Batching:
        """Which rows the language model can read together."""
        return self.model.batching

    @property
    def workers(self) -> int:
        """How many batches are answered at once."""
        return self.model.workers

    @property
    def cacheable(self) -> bool:
        """Whether the language model's fingerprint identifies it permanently."""
        return self.model.cacheable

    def close(self) -> None:
        """Give the language model back."""
        self.model.close()
