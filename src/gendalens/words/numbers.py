"""The notation of numbers in each language."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from gendalens.words.catalogues import ENGLISH, translate

#: Samples whose translations show how a language writes numbers.
SAMPLE = "1,234.5"
PERCENT = "50%"
MINUS = "−"


class Notation(NamedTuple):
    """The decimal mark, thousands separator and percent sign of a language."""

    decimal: str
    thousands: str
    percent: str


@cache
def notation(language: str) -> Notation:
    """The notation of a language, read from its translations of the samples."""
    sample, percent = translate(SAMPLE, language), translate(PERCENT, language)
    return Notation(sample[-2], sample[1], percent.removeprefix("50"))


def format_number(value: float, spec: str = "", language: str = ENGLISH) -> str:
    """A number in a format specification, with a true minus sign and the marks of the language.

    >>> format_number(-1234.5, ",.1f")
    '−1,234.5'
    """
    text = format(value, spec).replace("-", MINUS)
    if language == ENGLISH:
        return text
    marks = notation(language)
    swapped = text.translate({ord(","): marks.thousands, ord("."): marks.decimal})
    return swapped.replace("%", marks.percent)
