"""A backend whose answers are a function of the request, and which counts what it is asked."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gendalens.models.base import Backend
from gendalens.models.requests import Answer, Choose, Fill, FillAnswer, Score, ScoreAnswer
from gendalens.results.model_info import ModelInfo
from gendalens.words import phrase


@dataclass(frozen=True)
class Question:
    request: Any

    @property
    def rows(self) -> int:
        return 1

    @property
    def length(self) -> int:
        request = self.request
        if isinstance(request, Choose):
            return sum(map(len, request.candidates))
        return len(request.left + request.right if isinstance(request, Fill) else request.text)

    @property
    def positions(self) -> int:
        return 1


@dataclass
class Scripted(Backend):
    """Answers by a hash of the request; ``fails_above`` makes larger batches run out of memory."""

    name: str = "scripted"
    fails_above: int | None = None
    spoiled: float | None = None
    asked: list[Any] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    max_positions: int = 1000
    answers: frozenset[str] = frozenset({"fill", "score"})

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(self.name, phrase("scripted model"), "1", "float32")

    def fingerprint(self) -> str:
        return self.name

    def encode(self, requests: Sequence[Any]) -> list[Question]:
        return [Question(request) for request in requests]

    def answer(self, batch: Sequence[Question]) -> list[Answer]:
        if self.fails_above is not None and len(batch) > self.fails_above:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        self.batches.append(len(batch))
        self.asked += [one.request for one in batch]
        return [self._answer(one.request) for one in batch]

    def _answer(self, request: Fill | Score) -> Answer:
        def number(salt: str) -> float:
            digest = hashlib.sha256(f"{salt}{request}".encode()).digest()
            return -int.from_bytes(digest[:4]) / 2**28 if self.spoiled is None else self.spoiled

        if isinstance(request, Score):
            return ScoreAnswer(number("") - 10, len(request.text.split()))
        values = tuple(number(word) for word in request.candidates)
        first = request.candidates[max(range(len(values)), key=values.__getitem__)]
        return FillAnswer(values, (1,) * len(values), first)
