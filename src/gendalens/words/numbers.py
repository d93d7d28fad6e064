"""Numbers as each language writes them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from gendalens.words.catalogues import ENGLISH, translate

#: Translators show with these how their language writes numbers.
SAMPLE = "1,234.5"
PERCENT = "50%"
MINUS = "−"


@dataclass(frozen=True, slots=True)
class Notation:
    """The marks of a language: before decimals, between thousands, and after a percentage."""

    decimal: str
    thousands: str
    percent: str


@cache
def notation(language: str) -> Notation:
    """How a language writes numbers, read off the translations of the samples."""
    sample, percent = translate(SAMPLE, language), translate(PERCENT, language)
    return Notation(sample[-2], sample[1], percent.removeprefix("50"))


def format_number(value: float, spec: str = "", language: str = ENGLISH) -> str:
    """A number by a format specification, with a true minus sign and the language's marks.

    >>> format_number(-1234.5, ",.1f")
    '−1,234.5'
    """
    text = format(value, spec).replace("-", MINUS)
    if language == ENGLISH:
        return text
    marks = notation(language)
    swapped = text.translate({ord(","): marks.thousands, ord("."): marks.decimal})
    return swapped.replace("%", marks.percent)
