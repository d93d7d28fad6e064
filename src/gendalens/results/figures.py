"""Figures formatted for reading, as messages: rounded, with intervals, in the reader's notation."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from gendalens.results.result import Cell, Contrast, Extra
from gendalens.stats.estimate import Estimate
from gendalens.stats.evidence import Evidence
from gendalens.words import N_, Message, phrase

Figure: TypeAlias = Estimate | Contrast | Cell | Extra | Evidence
#: An undefined figure, in every language.
DASH = Message("", "–")
#: Units that are shown in points, which are hundredths.
_IN_POINTS = ("share", "recall")
_POINTS = N_("points")


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


def show_contrast(contrast: Contrast | Evidence) -> Message:
    """A difference with its interval and unit; rates have one more decimal than bits."""
    text = show_interval(contrast, count_digits(contrast))
    if contrast.value is None:
        return text
    return Message("", "{figure} {unit:t}", {"figure": text, "unit": contrast.unit})


def count_digits(contrast: Contrast | Evidence) -> int:
    """The number of decimals for a difference."""
    return 2 if contrast.unit == "bits" else 3


def show_evidence(evidence: Evidence | Contrast) -> Message:
    """A figure that an effect is judged on, or a difference of two, with its interval and unit."""
    scale = scale_of(evidence.unit)
    value, low, high = (
        None if one is None else scale * one
        for one in (evidence.value, evidence.low, evidence.high)
    )
    scaled = replace(evidence, value=value, low=low, high=high)
    figure = show_interval(scaled, count_decimals(evidence.unit))
    return figure if value is None else _add_unit(figure, evidence.unit)


def show_size(size: float | None, unit: str) -> Message:
    """The size of an effect, such as the smallest one that the data would have shown.

    >>> str(show_size(0.0331, "recall")), str(show_size(0.128, "F1")), str(show_size(None, "bits"))
    ('3.3 points', '0.13 F1', '–')
    """
    if size is None:
        return DASH
    return _add_unit(show_number(scale_of(unit) * size, min(2, count_decimals(unit))), unit)


def show_band(band: float, unit: str) -> Message:
    """The band of effects that are too small to matter.

    >>> str(show_band(0.03, "share")), str(show_band(0.25, "bits"))
    ('±3 points', '±0.25 bits')
    """
    return _add_unit(Message("", "±{band:g}", {"band": scale_of(unit) * band}), unit)


def in_points(unit: str) -> bool:
    """Whether the figures in a unit are shown in points, which are hundredths."""
    return unit in _IN_POINTS


def scale_of(unit: str) -> int:
    """By what the figures in a unit are multiplied where they are shown as effects."""
    return 100 if in_points(unit) else 1


def count_decimals(unit: str) -> int:
    """The number of decimals of effects in a unit."""
    return {100: 1, 1: 2 if unit == "bits" else 3}[scale_of(unit)]


def name_unit(unit: str) -> str:
    """The unit in which figures are shown as effects."""
    return _POINTS if in_points(unit) else unit


def _add_unit(figure: Message, unit: str) -> Message:
    return Message("", "{figure} {unit:t}", {"figure": figure, "unit": name_unit(unit)})


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
