"""Figures formatted for reading, as messages: rounded, with intervals, in the reader's notation."""

from __future__ import annotations

from typing import TypeAlias

from gendalens.results.result import Cell, Contrast, Extra
from gendalens.stats.estimate import Estimate
from gendalens.words import Message, phrase

Figure: TypeAlias = Estimate | Contrast | Cell | Extra
#: An undefined figure, in every language.
DASH = Message("", "–")


def show_number(value: float | None, digits: int = 2) -> Message:
    """A number with a fixed number of decimals, or a dash if it is undefined.

    >>> str(show_number(-1234.5)), str(show_number(-0.001)), str(show_number(None))
    ('−1,234.50', '0.00', '–')
    """
    if value is None:
        return DASH
    # z: a number rounded to zero has no sign.
    return Message("", f"{{value:z,.{digits}f}}", {"value": value})


def show_interval(figure: Figure, digits: int = 2, between: str = " ") -> Message:
    """A figure, with its interval in brackets if that is defined.

    >>> str(show_interval(Estimate(0.005, -0.1, 0.11)))
    '0.005 [−0.100, 0.110]'
    """
    if 0 < abs(figure.value or 0) < 10**-digits:
        digits += 1
    value = show_number(figure.value, digits)
    if figure.low is None or figure.high is None:
        return value
    low, high = show_number(figure.low, digits), show_number(figure.high, digits)
    bounds = phrase("[{low}, {high}]", low=low, high=high)
    return Message("", f"{{value}}{between}{{bounds}}", {"value": value, "bounds": bounds})


def show_contrast(contrast: Contrast) -> Message:
    """A difference with its interval and unit; rates have one more decimal than bits."""
    text = show_interval(contrast, count_digits(contrast))
    if contrast.value is None:
        return text
    return Message("", "{figure} {unit:t}", {"figure": text, "unit": contrast.unit})


def count_digits(contrast: Contrast) -> int:
    """The number of decimals for a difference."""
    return 2 if contrast.unit == "bits" else 3


def show_p(p: float | None) -> Message:
    """A p-value for a table: ``.012``, or ``< .001``."""
    if p is None:
        return phrase("no p")
    if p < 0.001:
        return phrase("< .001")
    thousandths = round(1000 * float(f"{p:.3f}"))
    if thousandths >= 1000:
        return show_number(1, 3)
    # English omits the leading zero, since no probability exceeds 1; other languages may keep it.
    return phrase(".{thousandths:03d}", thousandths=thousandths)


def show_p_value(p: float | None) -> Message:
    """A p-value for running text: ``p = .012``."""
    if p is None:
        return phrase("no p")
    return Message("", "p {p}" if p < 0.001 else "p = {p}", {"p": show_p(p)})
