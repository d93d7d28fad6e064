"""From one line of a file to an answer: what each kind holds, and what cannot be true of it.

A field may be left out exactly if the answer has a default for it (``models/base.py``), and so may
``first``, which causal models do not have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from gendalens.models.base import (
    Answer,
    Fill,
    FillAnswer,
    Offsets,
    Reconstruct,
    ReconstructAnswer,
    Request,
    Resolve,
    ResolveAnswer,
    Score,
    ScoreAnswer,
    Tag,
    TagAnswer,
    TopToken,
    TopTokenAnswer,
)
from gendalens.predictions.flaws import LineError, shown

WRONG = "answers with a wrong field"
OUTSIDE = "answers with a span outside the text"
# A sum of rounded numbers may end a hair above the logarithm of 1.
_ROUNDING = 1e-6
# No model is that surprised, by a sentence or (loss) by a token; more would only overflow later.
_LOWEST = -1e6
_HIGHEST_LOSS = 500.0
_MOST = 1_000_000


class Fields:
    """The fields of one answer, each taken out once; what is left over at the end is wrong."""

    def __init__(self, plain: Mapping[str, Any]) -> None:
        self._left = dict(plain)

    def take(self, name: str, *default: Any) -> Any:
        """A field's value."""
        if name not in self._left and not default:
            raise LineError(WRONG, f"{name} is missing")
        return self._left.pop(name, *default)

    def listed(self, name: str) -> list[Any]:
        """A field that is a list."""
        value = self.take(name)
        if not isinstance(value, list):
            raise LineError(WRONG, f"{name} is {shown(value)}, which is no list")
        return value

    def count(self, name: str, least: int, *default: int) -> int:
        """A field that is a whole number."""
        return _count(name, self.take(name, *default), least)

    def close(self) -> None:
        """Refuse what nobody took."""
        if self._left:
            raise LineError(WRONG, f"{shown(next(iter(self._left)))} is no field of such an answer")


def read(request: Request, plain: Mapping[str, Any]) -> Answer:
    """The answer to a request from the fields of its line, without the id."""
    fields = Fields(plain)
    answer = _READERS[request.kind](request, fields)
    fields.close()
    return answer


def _fill(request: Fill, fields: Fields) -> Answer:
    log_probs = fields.listed("log_probs")
    pieces = fields.listed("pieces")
    wanted = len(request.candidates)
    for name, values in (("log_probs", log_probs), ("pieces", pieces)):
        if len(values) != wanted:
            raise LineError(WRONG, f"{name} has {len(values)} numbers for {wanted} candidates")
    first = fields.take("first", None)
    return FillAnswer(
        tuple(_log("log_probs", value) for value in log_probs),
        tuple(_count("pieces", value, 1) for value in pieces),
        None if first is None else _word("first", first),
        fields.count("unknown", 0, 0),
    )


def _score(request: Score, fields: Fields) -> Answer:
    answer = ScoreAnswer(
        _log("log_likelihood", fields.take("log_likelihood")),
        fields.count("tokens", 1),
        fields.count("unscored", 0, 0),
        fields.count("unknown", 0, 0),
    )
    if answer.unscored > 1:
        raise LineError(
            WRONG, f"unscored is {answer.unscored}, and only a first token can be unscored"
        )
    return answer


def _top_token(request: TopToken, fields: Fields) -> Answer:
    return TopTokenAnswer(_text("token", fields.take("token")))


def _reconstruct(request: Reconstruct, fields: Fields) -> Answer:
    loss = _number("loss", fields.take("loss"))
    if not -_ROUNDING <= loss <= _HIGHEST_LOSS:
        raise LineError(WRONG, f"loss is {loss:g}, which no model has: give nats, 0 or more")
    return ReconstructAnswer(loss)


def _tag(request: Tag, fields: Fields) -> Answer:
    entities: list[tuple[int, int, str]] = []
    for entity in fields.listed("entities"):
        if not isinstance(entity, list) or len(entity) != 3:
            raise LineError(WRONG, f"{shown(entity)} is no entity [start, end, label]")
        entities.append((*_span(entity[:2], request.text), _word("label", entity[2])))
    if len(set(entities)) < len(entities):
        raise LineError(WRONG, "the same entity stands there twice")
    return TagAnswer(tuple(entities), fields.count("tokens", 0, 0))


def _resolve(request: Resolve, fields: Fields) -> Answer:
    clusters = []
    for cluster in fields.listed("clusters"):
        if not isinstance(cluster, list) or not cluster:
            raise LineError(WRONG, f"{shown(cluster)} is no cluster [[start, end], …]")
        clusters.append(tuple(_span(mention, request.text) for mention in cluster))
    return ResolveAnswer(tuple(clusters))


_READERS: dict[str, Callable[[Any, Fields], Answer]] = {
    Fill.kind: _fill,
    Score.kind: _score,
    TopToken.kind: _top_token,
    Reconstruct.kind: _reconstruct,
    Tag.kind: _tag,
    Resolve.kind: _resolve,
}
KINDS = frozenset(_READERS)


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise LineError(WRONG, f"{name} is {shown(value)}, which is no number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise LineError(WRONG, f"{name} is not finite")
    return number


def _log(name: str, value: Any) -> float:
    """The natural logarithm of a probability."""
    number = _number(name, value)
    if number > _ROUNDING:
        raise LineError(WRONG, f"{name} is {number:g}, above 0, and no probability is above 1")
    if number < _LOWEST:
        raise LineError(
            WRONG, f"{name} is {number:g}, which no model says: give natural logarithms"
        )
    return number


def _count(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise LineError(WRONG, f"{name} is {shown(value)}, which is no whole number")
    if not least <= value <= _MOST:
        bound = f"below {least}" if value < least else f"above {_MOST:,}"
        raise LineError(WRONG, f"{name} is {shown(value)}, {bound}")
    return value


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise LineError(WRONG, f"{name} is {shown(value)}, which is no text")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise LineError(WRONG, f"{name} is {shown(value)}, half of a character")
    return value


def _word(name: str, value: Any) -> str:
    """A text that can be shown as it is."""
    text = _text(name, value)
    if not text or not text.isprintable():
        raise LineError(WRONG, f"{name} is “{shown(text)}”: it must hold printable signs")
    return text


def _span(value: Any, text: str) -> Offsets:
    if not isinstance(value, list) or len(value) != 2:
        raise LineError(WRONG, f"{shown(value)} is no span [start, end]")
    start, end = value
    if any(isinstance(place, bool) or not isinstance(place, int) for place in value):
        raise LineError(WRONG, f"{shown(value)} is no span of two whole numbers")
    if not 0 <= start < end <= len(text):
        raise LineError(OUTSIDE, f"{shown(value)} in {len(text)} characters")
    return start, end
