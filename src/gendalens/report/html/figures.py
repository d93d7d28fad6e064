"""Numbers on a page: rounded, with their exact value and path in the result as attributes.

They are in English notation; the page's script rewrites them for other languages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from gendalens.report.html.texts import mark_up
from gendalens.results.figures import count_decimals, scale_of, show_number
from gendalens.results.result import Contrast
from gendalens.stats.evidence import Evidence
from gendalens.words import languages, phrase, write

_UNDEFINED = Markup('<span class="undefined">–</span>')
_NUMBER = Markup('<span class="n" data-value="{}" data-path="{}">{}</span>')
_INTERVAL = Markup('{} <span class="i">[{}{}{}]</span>')
_SCALED = Markup('<span class="n" data-value="{}" data-path="{}" data-scale="{}">{}</span>')


def _separate_bounds() -> Markup:
    """What stands between the bounds of an interval, in every language."""
    marks = {
        language: write(phrase("[{low}, {high}]", low="0", high="1"), language)[2:-2]
        for language in languages()
    }
    return mark_up(marks)


def mark_number(value: float | None, path: str, digits: int = 2) -> Markup:
    """A number of a result; ``path`` is its path in ``result.json``."""
    if value is None:
        return _UNDEFINED
    return _NUMBER.format(repr(value), path, str(show_number(value, digits)))


def mark_figure(one: Any, path: str, digits: int = 2) -> Markup:
    """A figure, with its interval in brackets if that is defined."""
    value = mark_number(one.value, f"{path}.value", digits)
    if one.value is None or one.low is None or one.high is None:
        return value
    low, high = (mark_number(getattr(one, end), f"{path}.{end}", digits) for end in ("low", "high"))
    return _INTERVAL.format(value, low, _separate_bounds(), high)


def mark_size(value: float | None, path: str, unit: str, digits: int | None = None) -> Markup:
    """The size of an effect, in points if its unit is a share."""
    if value is None:
        return _UNDEFINED
    scale = scale_of(unit)
    shown = str(
        show_number(scale * value, min(2, count_decimals(unit)) if digits is None else digits)
    )
    return _SCALED.format(repr(value), path, scale, shown)


def mark_evidence(one: Evidence | Contrast, path: str) -> Markup:
    """A figure that an effect is judged on, with its interval in brackets if that is defined."""
    digits = count_decimals(one.unit)
    value, low, high = (
        mark_size(getattr(one, end), f"{path}.{end}", one.unit, digits)
        for end in ("value", "low", "high")
    )
    if one.value is None or one.low is None or one.high is None:
        return value
    return _INTERVAL.format(value, low, _separate_bounds(), high)


def mark_p(p: float | None, path: str) -> Markup:
    """A p-value with three decimals, or ``< 0.001``."""
    if p is None:
        return _UNDEFINED
    return _NUMBER.format(repr(p), path, "< 0.001" if p < 0.001 else f"{p:.3f}")


def count_digits(figures: Sequence[Any], least: int = 2) -> int:
    """The number of decimals for a row of figures: fewer if large, more if all would round to 0."""
    values = [abs(one.value) for one in figures if one.value]
    if not values:
        return least
    if max(values) >= 10:
        return 1
    return least + 1 if max(values) < 10**-least else least


FUNCTIONS = {
    "num": mark_number,
    "figure": mark_figure,
    "p_value": mark_p,
    "effect_size": mark_size,
    "evidence_figure": mark_evidence,
    "digits_for": count_digits,
}
