"""The effect of a smaller number format, measured by asking a sample again in float32."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import TypeVar

from gendalens.engine.cache import Cache
from gendalens.engine.executor import ask
from gendalens.errors import UserError
from gendalens.models.base import Backend
from gendalens.models.requests import (
    Answer,
    FillAnswer,
    ReconstructAnswer,
    Request,
    ResolveAnswer,
    ScoreAnswer,
)
from gendalens.words import Message, Template

SMALLER = ("bfloat16", "float16")
ASKED = 40
Found = TypeVar("Found")

NOT_MEASURED = Template(
    "dtype_effect_not_measured",
    "{dtype} is not float32, and what that changes could not be measured: {reason}.",
)
MOVED = Template(
    "dtype_effect",
    "{dtype} is not float32: of {count} requests repeated in float32, {changes:clauses}.",
)
QUANTISED = Template(
    "quantisation_effect",
    "The weights are quantised ({dtype}): of {count} requests repeated with the same weights in float32, "
    "{changes:clauses}; how far they are from the weights before quantising is not known.",
)
QUANTISED_NOT_MEASURED = Template(
    "quantisation_effect_not_measured",
    "The weights are quantised ({dtype}), and what that changes could not be measured: {reason}.",
)
ANSWERED_OTHERWISE = Template("answered_otherwise", "{count} got a different answer")
SCORES_MOVED = Template(
    "scores_moved", "scores moved by {median:.2g} bits at the median and {most:.2g} at most"
)


def describe_dtype_effect(
    model: Backend, answers: Mapping[Request, Answer], *, cache: Cache | None = None
) -> Message | None:
    """How far the answers are from those in float32; None unless the model uses a smaller format."""
    dtype, quantised = model.info.dtype, model.info.quantised
    if not needs_dtype_check(model) or not answers:
        return None
    asked = list(sample_answers(answers))
    try:
        if model.exact is None:
            return None
        exact = ask(model.exact, asked, cache=cache)
    except UserError as error:
        # There may be too little memory for float32, and the result is valid without this check.
        not_measured = QUANTISED_NOT_MEASURED if quantised else NOT_MEASURED
        return not_measured(dtype=dtype, reason=_find_reason(error, model))
    moved = [_compare(answers[request], exact[request]) for request in asked]
    bits = [size / math.log(2) for size, _ in moved if size is not None]
    decided = [otherwise for _, otherwise in moved if otherwise is not None]
    changes: list[Message] = []
    if decided:
        changes.append(ANSWERED_OTHERWISE(count=sum(decided)))
    if bits:
        changes.append(SCORES_MOVED(median=median(bits), most=max(bits)))
    moved_how = QUANTISED if quantised else MOVED
    return moved_how(dtype=dtype, count=len(asked), changes=tuple(changes))


def needs_dtype_check(model: Backend) -> bool:
    """Whether the model computes, or stores its weights, in less than float32."""
    return model.info.dtype in SMALLER or model.info.quantised


def _find_reason(error: UserError, model: Backend) -> Message:
    """The cause of an error, without its advice and without the path of a local model."""
    fact = error.message.values.get("fact", error.message)
    assert isinstance(fact, Message)
    return replace(fact, values={**fact.values, "name": model.info.name})


def sample_answers(answers: Mapping[Request, Found]) -> dict[Request, Found]:
    """At most :data:`ASKED` of the answers, evenly spaced."""
    kept = list(answers)[:: max(1, math.ceil(len(answers) / ASKED))]
    return {request: answers[request] for request in kept}


def _compare(one: Answer, other: Answer) -> tuple[float | None, bool | None]:
    """The distance of two answers' scores in nats, and whether the answers differ."""
    match one, other:
        case ScoreAnswer(), ScoreAnswer():
            return abs(one.log_likelihood - other.log_likelihood), None
        case ReconstructAnswer(), ReconstructAnswer():
            return abs(one.loss - other.loss), None
        case FillAnswer(), FillAnswer():
            scores = one.log_probs, other.log_probs
            return _largest_distance(*scores), _find_best(scores[0]) != _find_best(scores[1])
        case ResolveAnswer(), ResolveAnswer() if one.scores and other.scores:
            return _largest_distance(one.scores, other.scores), one.clusters != other.clusters
    return None, one != other


def _largest_distance(ones: Sequence[float], others: Sequence[float]) -> float:
    return max(abs(a - b) for a, b in zip(ones, others, strict=True))


def _find_best(scores: Sequence[float]) -> int:
    return max(range(len(scores)), key=scores.__getitem__)
