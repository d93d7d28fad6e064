"""The fields of one answer from a file or the cache, each taken once and checked."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from typing import Any

from gendalens.models.requests import Offsets
from gendalens.words import Message, Template, phrase

WRONG = Template("answers.wrong_field", "answers with a wrong field")
OUTSIDE = Template("answers.span_outside", "answers with a span outside the text")
#: A sum of rounded numbers may exceed the logarithm of 1 slightly.
ROUNDING = 1e-6
#: No model gives a sentence a lower log-likelihood; more extreme values would overflow later.
LOWEST = -1e6
_MOST = 1_000_000


class AnswerError(Exception):
    """An unusable answer: the kind of flaw, and the details."""

    def __init__(self, kind: Template, detail: Message | str | None = None) -> None:
        super().__init__(kind.code, detail)
        self.kind = kind
        self.detail = detail


def quote_value(value: object, width: int = 60) -> str:
    """A value from a file, in quotable form: short, on one line, in printable characters."""
    # Not repr: a file may nest lists deeper than Python's recursion limit.
    text = value if isinstance(value, str) else reprlib.repr(value)
    safe = "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode()
        for sign in text[:width]
    )
    return safe if len(text) <= width else f"{safe}…"


class Fields:
    """The fields of one answer, each taken once; a field left over at the end is wrong."""

    def __init__(self, plain: Mapping[str, Any]) -> None:
        self._left = dict(plain)

    def take(self, name: str, *default: Any) -> Any:
        """A field's value."""
        if name not in self._left and not default:
            raise AnswerError(WRONG, phrase("{name} is missing", name=name))
        return self._left.pop(name, *default)

    def take_list(self, name: str) -> list[Any]:
        """A field that is a list."""
        value = self.take(name)
        if not isinstance(value, list):
            raise AnswerError(
                WRONG,
                phrase(
                    "{name} is {value}, which is not a list", name=name, value=quote_value(value)
                ),
            )
        return value

    def take_count(self, name: str, least: int, *default: int) -> int:
        """A field that is a whole number."""
        return check_count(name, self.take(name, *default), least)

    def refuse_rest(self) -> None:
        """Raise if a field was not taken."""
        if self._left:
            name = quote_value(next(iter(self._left)))
            raise AnswerError(WRONG, phrase("{name} is not a field of such an answer", name=name))


def check_number(name: str, value: Any) -> float:
    """The number, checked to be finite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise AnswerError(
            WRONG,
            phrase("{name} is {value}, which is not a number", name=name, value=quote_value(value)),
        )
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise AnswerError(WRONG, phrase("{name} is not finite", name=name))
    return number


def check_log(name: str, value: Any) -> float:
    """The number, checked to be the natural logarithm of a probability."""
    number = check_number(name, value)
    if number > ROUNDING:
        reason = phrase(
            "{name} is {value}, above 0, and no probability is above 1",
            name=name,
            value=quote_value(value),
        )
        raise AnswerError(WRONG, reason)
    if number < LOWEST:
        reason = phrase(
            "{name} is {value}, which is implausibly low: give natural logarithms",
            name=name,
            value=quote_value(value),
        )
        raise AnswerError(WRONG, reason)
    return number


def check_count(name: str, value: Any, least: int) -> int:
    """The whole number, checked to be neither below ``least`` nor absurd."""
    if isinstance(value, bool) or not isinstance(value, int):
        reason = phrase(
            "{name} is {value}, which is not a whole number", name=name, value=quote_value(value)
        )
        raise AnswerError(WRONG, reason)
    if value < least:
        reason = phrase(
            "{name} is {value}, below {least}", name=name, value=quote_value(value), least=least
        )
        raise AnswerError(WRONG, reason)
    if value > _MOST:
        reason = phrase(
            "{name} is {value}, above {most:,}", name=name, value=quote_value(value), most=_MOST
        )
        raise AnswerError(WRONG, reason)
    return value


def check_text(name: str, value: Any) -> str:
    """The text, checked to be one that can be written."""
    if not isinstance(value, str):
        reason = phrase(
            "{name} is {value}, which is not a text", name=name, value=quote_value(value)
        )
        raise AnswerError(WRONG, reason)
    if any("\ud800" <= character <= "\udfff" for character in value):
        reason = phrase(
            "{name} is {value}, which contains a lone surrogate",
            name=name,
            value=quote_value(value),
        )
        raise AnswerError(WRONG, reason)
    return value


def check_word(name: str, value: Any) -> str:
    """The text, checked to be printable."""
    text = check_text(name, value)
    if not text or not text.isprintable():
        reason = phrase(
            "{name} is “{value}”: it must hold printable characters only",
            name=name,
            value=quote_value(text),
        )
        raise AnswerError(WRONG, reason)
    return text


def check_span(value: Any, text: str) -> Offsets:
    """The span, checked to lie within the text."""
    if not isinstance(value, list) or len(value) != 2:
        raise AnswerError(
            WRONG, phrase("{value} is not a span [start, end]", value=quote_value(value))
        )
    start, end = value
    if any(isinstance(place, bool) or not isinstance(place, int) for place in value):
        raise AnswerError(
            WRONG,
            phrase(
                "{value} is not a span of two whole numbers",
                value=quote_value(value),
            ),
        )
    if not 0 <= start < end <= len(text):
        reason = phrase(
            "{value} in {length} characters", value=quote_value(value), length=len(text)
        )
        raise AnswerError(OUTSIDE, reason)
    return start, end
