"""Chat models that answer by a function of the request, the paraphrase and the order."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gendalens.data.choice import read_choices
from gendalens.engine.run_options import RunOptions
from gendalens.engine.session import Job, run_jobs
from gendalens.models.base import Backend
from gendalens.models.requests import (
    ANSWERED,
    Answer,
    Choose,
    ChooseAnswer,
    Fill,
    FillAnswer,
    Request,
    Resolve,
    ResolveAnswer,
    Tag,
    TagAnswer,
    Trial,
    link_best,
)
from gendalens.models.trials import average_trials, count_options, normalise
from gendalens.results.model_info import ModelInfo
from gendalens.results.result import Result
from gendalens.words import phrase

#: Log-odds in nats of the second option (*hans*) against the first, or the outcome if it is no answer.
Reply = Callable[[Any, int, int], float | str]
PARAPHRASES, ORDERS = 4, 2


@dataclass(frozen=True)
class Asked:
    request: Any
    rows: int = 1
    length: int = 1
    positions: int = 1


@dataclass(frozen=True)
class ScriptedChat(Backend):
    """A chat model asked with four paraphrases in both orders."""

    reply: Reply
    gives_probabilities: bool = True
    mass: float = 1.0

    answers = frozenset({Fill.kind, Choose.kind, Resolve.kind, Tag.kind})
    cacheable = False

    @property
    def info(self) -> ModelInfo:
        return ModelInfo("scripted", phrase("chat model"), "1", dtype="none")

    def fingerprint(self) -> str:
        return "scripted"

    def encode(self, requests: Sequence[Any]) -> list[Asked]:
        return [Asked(request) for request in requests]

    def answer(self, batch: Sequence[Asked]) -> list[Answer]:
        return [self._answer(one.request) for one in batch]

    def _try(self, request: Request, paraphrase: int, order: int) -> Trial:
        said = self.reply(request, paraphrase, order)
        if isinstance(said, str):
            return Trial(paraphrase, order, said)
        chosen = int(said > 0)
        if not self.gives_probabilities:
            return Trial(paraphrase, order, ANSWERED, chosen)
        shift = math.log(self.mass)
        log_probs = tuple(one + shift for one in normalise((0.0, said)))
        return Trial(paraphrase, order, ANSWERED, chosen, log_probs)

    def _answer(self, request: Request) -> Answer:
        if isinstance(request, Tag):
            said = self.reply(request, 0, 0)
            return TagAnswer((), 0, (Trial(0, 0, said if isinstance(said, str) else ANSWERED),))
        trials = tuple(
            self._try(request, paraphrase, order)
            for paraphrase in range(PARAPHRASES)
            for order in range(ORDERS)
        )
        log_probs = average_trials(trials, count_options(request))
        if isinstance(request, Fill):
            return FillAnswer(log_probs, (1, 1), None, trials=trials)
        if isinstance(request, Choose):
            return ChooseAnswer(log_probs, trials)
        assert isinstance(request, Resolve)
        has_answer = any(trial.outcome == ANSWERED for trial in trials)
        clusters = link_best(request, log_probs) if has_answer else ()
        return ResolveAnswer(clusters, log_probs, log_probs, trials=trials)


def throw(*key: object) -> float:
    """A number between −1 and 1 that depends on the key alone."""
    return zlib.crc32("\x1f".join(map(str, key)).encode()) / 2**31 - 1


def run_chat(test: str, reply: Reply, *, sample: int | None = None, **options: Any) -> Result:
    """The result of a scripted chat model on built-in data."""
    run_options = RunOptions(data=read_choices("builtin"), use_cache=False, sample=sample)
    report = run_jobs([Job(ScriptedChat(reply, **options), [test])], run_options)
    assert not report.failures, report.failures
    return report.outcomes[0].result
