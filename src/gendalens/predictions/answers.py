"""Parsing one line of a file into an answer: the fields of each kind, and their valid values.

A field may be left out only if the answer has a default for it (``models/base.py``); ``first``, which
causal models do not have, may be left out too.
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
from gendalens.predictions.flaws import LineError, quote_value
from gendalens.words import Template, phrase

WRONG = Template("answers.wrong_field", "answers with a wrong field")
OUTSIDE = Template("answers.span_outside", "answers with a span outside the text")
# A sum of rounded numbers may exceed the logarithm of 1 slightly.
_ROUNDING = 1e-6
# No model gives a sentence a lower log-likelihood, or a token a higher loss; more extreme values would
# overflow later.
_LOWEST = -1e6
_HIGHEST_LOSS = 500.0
_MOST = 1_000_000


class Fields:
    """The fields of one answer, each taken once; a field left over at the end is wrong."""

    def __init__(self, plain: Mapping[str, Any]) -> None:
        self._left = dict(plain)

    def take(self, name: str, *default: Any) -> Any:
        """A field's value."""
        if name not in self._left and not default:
            raise LineError(WRONG, phrase("{name} is missing", name=name))
        return self._left.pop(name, *default)

    def take_list(self, name: str) -> list[Any]:
        """A field that is a list."""
        value = self.take(name)
        if not isinstance(value, list):
            raise LineError(
                WRONG,
                phrase(
                    "{name} is {value}, which is not a list", name=name, value=quote_value(value)
                ),
            )
        return value

    def take_count(self, name: str, least: int, *default: int) -> int:
        """A field that is a whole number."""
        return _check_count(name, self.take(name, *default), least)

    def refuse_rest(self) -> None:
        """Raise if a field was not taken."""
        if self._left:
            name = quote_value(next(iter(self._left)))
            raise LineError(WRONG, phrase("{name} is not a field of such an answer", name=name))


def read_answer(request: Request, plain: Mapping[str, Any]) -> Answer:
    """The answer to a request, from the fields of its line without the id."""
    fields = Fields(plain)
    answer = _READERS[request.kind](request, fields)
    fields.refuse_rest()
    return answer


def _read_fill(request: Fill, fields: Fields) -> Answer:
    log_probs = fields.take_list("log_probs")
    pieces = fields.take_list("pieces")
    wanted = len(request.candidates)
    for name, values in (("log_probs", log_probs), ("pieces", pieces)):
        if len(values) != wanted:
            raise LineError(
                WRONG,
                phrase(
                    "{name} has {found} numbers for {wanted} candidates",
                    name=name,
                    found=len(values),
                    wanted=wanted,
                ),
            )
    first = fields.take("first", None)
    return FillAnswer(
        tuple(_check_log("log_probs", value) for value in log_probs),
        tuple(_check_count("pieces", value, 1) for value in pieces),
        None if first is None else _check_word("first", first),
        fields.take_count("unknown", 0, 0),
    )


def _read_score(request: Score, fields: Fields) -> Answer:
    answer = ScoreAnswer(
        _check_log("log_likelihood", fields.take("log_likelihood")),
        fields.take_count("tokens", 1),
        fields.take_count("unscored", 0, 0),
        fields.take_count("unknown", 0, 0),
    )
    if answer.unscored > 1:
        raise LineError(
            WRONG,
            phrase(
                "unscored is {value}, and only a first token can be unscored", value=answer.unscored
            ),
        )
    return answer


def _read_top_token(request: TopToken, fields: Fields) -> Answer:
    return TopTokenAnswer(_check_text("token", fields.take("token")))


def _read_reconstruct(request: Reconstruct, fields: Fields) -> Answer:
    value = fields.take("loss")
    loss = _check_number("loss", value)
    if not -_ROUNDING <= loss <= _HIGHEST_LOSS:
        raise LineError(
            WRONG,
            phrase(
                "loss is {value}, which is out of range: give nats, 0 or more",
                value=quote_value(value),
            ),
        )
    return ReconstructAnswer(loss)


def _read_tag(request: Tag, fields: Fields) -> Answer:
    entities: list[tuple[int, int, str]] = []
    for entity in fields.take_list("entities"):
        if not isinstance(entity, list) or len(entity) != 3:
            raise LineError(
                WRONG,
                phrase("{value} is not an entity [start, end, label]", value=quote_value(entity)),
            )
        entities.append((*_check_span(entity[:2], request.text), _check_word("label", entity[2])))
    if len(set(entities)) < len(entities):
        raise LineError(WRONG, phrase("the same entity occurs twice"))
    return TagAnswer(tuple(entities), fields.take_count("tokens", 0, 0))


def _read_resolve(request: Resolve, fields: Fields) -> Answer:
    clusters = []
    for cluster in fields.take_list("clusters"):
        if not isinstance(cluster, list) or not cluster:
            raise LineError(
                WRONG,
                phrase("{value} is not a cluster [[start, end], …]", value=quote_value(cluster)),
            )
        clusters.append(tuple(_check_span(mention, request.text) for mention in cluster))
    return ResolveAnswer(tuple(clusters))


_READERS: dict[str, Callable[[Any, Fields], Answer]] = {
    Fill.kind: _read_fill,
    Score.kind: _read_score,
    TopToken.kind: _read_top_token,
    Reconstruct.kind: _read_reconstruct,
    Tag.kind: _read_tag,
    Resolve.kind: _read_resolve,
}
KINDS = frozenset(_READERS)


def _check_number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise LineError(
            WRONG,
            phrase("{name} is {value}, which is not a number", name=name, value=quote_value(value)),
        )
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise LineError(WRONG, phrase("{name} is not finite", name=name))
    return number


def _check_log(name: str, value: Any) -> float:
    """The number, checked to be the natural logarithm of a probability."""
    number = _check_number(name, value)
    if number > _ROUNDING:
        reason = phrase(
            "{name} is {value}, above 0, and no probability is above 1",
            name=name,
            value=quote_value(value),
        )
        raise LineError(WRONG, reason)
    if number < _LOWEST:
        reason = phrase(
            "{name} is {value}, which is implausibly low: give natural logarithms",
            name=name,
            value=quote_value(value),
        )
        raise LineError(WRONG, reason)
    return number


def _check_count(name: str, value: Any, least: int) -> int:
    quoted = quote_value(value)
    if isinstance(value, bool) or not isinstance(value, int):
        reason = phrase("{name} is {value}, which is not a whole number", name=name, value=quoted)
        raise LineError(WRONG, reason)
    if value < least:
        reason = phrase("{name} is {value}, below {least}", name=name, value=quoted, least=least)
        raise LineError(WRONG, reason)
    if value > _MOST:
        reason = phrase("{name} is {value}, above {most:,}", name=name, value=quoted, most=_MOST)
        raise LineError(WRONG, reason)
    return value


def _check_text(name: str, value: Any) -> str:
    quoted = quote_value(value)
    if not isinstance(value, str):
        reason = phrase("{name} is {value}, which is not a text", name=name, value=quoted)
        raise LineError(WRONG, reason)
    if any("\ud800" <= character <= "\udfff" for character in value):
        reason = phrase(
            "{name} is {value}, which contains a lone surrogate", name=name, value=quoted
        )
        raise LineError(WRONG, reason)
    return value


def _check_word(name: str, value: Any) -> str:
    """The text, checked to be printable."""
    text = _check_text(name, value)
    if not text or not text.isprintable():
        reason = phrase(
            "{name} is “{value}”: it must hold printable characters only",
            name=name,
            value=quote_value(text),
        )
        raise LineError(WRONG, reason)
    return text


def _check_span(value: Any, text: str) -> Offsets:
    quoted = quote_value(value)
    if not isinstance(value, list) or len(value) != 2:
        raise LineError(WRONG, phrase("{value} is not a span [start, end]", value=quoted))
    start, end = value
    if any(isinstance(place, bool) or not isinstance(place, int) for place in value):
        raise LineError(WRONG, phrase("{value} is not a span of two whole numbers", value=quoted))
    if not 0 <= start < end <= len(text):
        reason = phrase("{value} in {length} characters", value=quoted, length=len(text))
        raise LineError(OUTSIDE, reason)
    return start, end
