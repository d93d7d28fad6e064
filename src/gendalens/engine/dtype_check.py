"""What a smaller number format changes: some of the questions asked again in float32."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

from gendalens.engine.cache import Cache
from gendalens.engine.executor import ask
from gendalens.errors import UserError
from gendalens.models.base import (
    Answer,
    Backend,
    FillAnswer,
    ReconstructAnswer,
    Request,
    ResolveAnswer,
    ScoreAnswer,
)

SMALLER = ("bfloat16", "float16")
ASKED = 40


def effect(
    model: Backend, answers: Mapping[Request, Answer], *, cache: Cache | None = None
) -> str | None:
    """A sentence on how far the answers are from those in float32; None where no format is smaller."""
    if model.info.dtype not in SMALLER or not answers:
        return None
    asked = list(thinned(answers))
    try:
        exact: Backend | None = getattr(model, "exact", None)
        if exact is None:
            return None
        found = ask(exact, asked, cache=cache).by_request
    except UserError as error:
        # The test is done, and its result stands without the comparison: there may be no room for it.
        return (
            f"{model.info.dtype} is not float32, and what that changes could not be measured:"
            f" {_why(error, model)}."
        )
    moved = [_moved(answers[request], found[request]) for request in asked]
    bits = [size / math.log(2) for size, _ in moved if size is not None]
    decided = [otherwise for _, otherwise in moved if otherwise is not None]
    parts = []
    if decided:
        parts.append(f"{sum(decided)} were answered otherwise")
    if bits:
        parts.append(
            f"scores moved by {median(bits):.2g} bits at the median and {max(bits):.2g} at most"
        )
    return (
        f"{model.info.dtype} is not float32: of {len(asked)} questions asked again in float32, "
        f"{' and '.join(parts)}."
    )


def _why(error: UserError, model: Backend) -> str:
    """The reason in an error, as a result may say it.

    Its advice, after the last colon, is left out (bfloat16 is no advice here), and so is where on one
    machine a local model lies.
    """
    reason = str(error).rpartition(": ")[0] or str(error).rstrip(".")
    asked = getattr(model, "checkpoint", None) or getattr(
        getattr(model, "model", None), "checkpoint", None
    )
    return reason.replace(asked.name, model.info.name) if asked else reason


def thinned(answers: Mapping[Request, Answer]) -> dict[Request, Answer]:
    """At most :data:`ASKED` of the answers, taken evenly."""
    kept = list(answers)[:: max(1, math.ceil(len(answers) / ASKED))]
    return {request: answers[request] for request in kept}


def _moved(one: Answer, other: Answer) -> tuple[float | None, bool | None]:
    """How far the scores of two answers are apart, in nats, and whether they say different things."""
    match one, other:
        case ScoreAnswer(), ScoreAnswer():
            return abs(one.log_likelihood - other.log_likelihood), None
        case ReconstructAnswer(), ReconstructAnswer():
            return abs(one.loss - other.loss), None
        case FillAnswer(), FillAnswer():
            scores = one.log_probs, other.log_probs
            return _furthest(*scores), _best(scores[0]) != _best(scores[1])
        case ResolveAnswer(), ResolveAnswer() if one.scores and other.scores:
            return _furthest(one.scores, other.scores), one.clusters != other.clusters
    return None, one != other


def _furthest(ones: Sequence[float], others: Sequence[float]) -> float:
    return max(abs(a - b) for a, b in zip(ones, others, strict=True))


def _best(scores: Sequence[float]) -> int:
    return max(range(len(scores)), key=scores.__getitem__)
