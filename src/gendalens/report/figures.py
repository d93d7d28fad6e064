"""Figures for the eye, the same in the terminal, in tables and in model cards."""

from __future__ import annotations

from collections.abc import Sequence

from gendalens.results.result import Cell, Contrast, Extra, Result
from gendalens.stats.estimate import Estimate

MEDIATED = "the effect differs by group"


def verdict(result: Result) -> str:
    """The verdict, and whether it hides that the effect differs by group."""
    return f"{result.verdict}; {MEDIATED}" if result.mediated else result.verdict


def quartiles(result: Result) -> bool:
    """Whether what stands in brackets in its table are quartiles, no interval."""
    return any("quartiles" in (cell.reason or "") for cell in result.conditions)


def table_title(result: Result) -> str:
    """What the table of conditions and groups shows."""
    if not result.conditions:
        return "no conditions"
    metric = result.conditions[0].metric.replace("_", " ")
    return f"{metric} (in brackets: quartiles)" if quartiles(result) else metric


def number(value: float | None, digits: int = 2) -> str:
    """A figure for the eye: fixed digits, a true minus sign, a dash for undefined."""
    if value is None:
        return "–"
    text = f"{value:,.{digits}f}"
    return text.replace("-", "−") if float(text.replace(",", "")) else text.lstrip("-")


def interval(
    figure: Estimate | Contrast | Cell | Extra, digits: int = 2, between: str = " "
) -> str:
    """A figure with its interval in brackets, as far as both are defined."""
    if 0 < abs(figure.value or 0) < 10**-digits:
        digits += 1
    text = number(figure.value, digits)
    if figure.low is None or figure.high is None:
        return text
    return f"{text}{between}[{number(figure.low, digits)}, {number(figure.high, digits)}]"


def p_value(p: float | None) -> str:
    """``p = .012`` in the usual manner."""
    if p is None:
        return "no p"
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".")


def digits_of(contrast: Contrast) -> int:
    """Decimals that a difference is shown with: rates need one more than bits."""
    return 2 if contrast.unit == "bits" else 3


def shown_condition(cells: Sequence[Cell], between: str = " ") -> list[str]:
    """The cells of one condition, with as many decimals as all of them bear.

    Protocol 1 of ``ner-dane`` has no interval but a spread over name draws, shown in its place.
    """
    digits = 2 if all(abs(one.value or 0) < 10 for one in cells) else 1
    return [interval(one, digits, between) + spread(one, between) for one in cells]


def spread(cell: Cell, between: str = " ") -> str:
    """``(SD 0.01)`` where the cell's reason tells the spread over name draws."""
    before, mark, deviation = (cell.reason or "").partition(": SD ")
    return f"{between}(SD {deviation})" if mark and before.startswith("spread") else ""
