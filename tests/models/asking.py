"""Requests put to a backend in batches, without the engine and its cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gendalens.models.batches import answer_in_batches
from gendalens.models.requests import Answer, Request


def answer_all(
    backend: Any, requests: Sequence[Request], *, batch_tokens: int | None = None
) -> dict[Request, Answer]:
    """The answer to each distinct request."""
    distinct = list(dict.fromkeys(requests))
    batches = answer_in_batches(backend, distinct, batch_tokens=batch_tokens)
    return dict(pair for pairs in batches for pair in pairs)
