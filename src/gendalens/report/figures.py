"""The table of conditions and groups, as shown in the terminal and in papers."""

from __future__ import annotations

from collections.abc import Sequence

from gendalens.report.wording import has_quartiles, name_identifier
from gendalens.results.figures import show_interval
from gendalens.results.result import Cell, Result
from gendalens.words import say, write


def title_conditions(result: Result) -> str:
    """The title of the table: its metric."""
    if not result.conditions:
        return say("no conditions")
    metric = name_identifier(result.conditions[0].metric)
    if has_quartiles(result.conditions):
        return say("{metric} (in brackets: quartiles)", metric=metric)
    return metric


def head_conditions(result: Result) -> list[str]:
    """The headings of the table: the condition, the main effect, and every group."""
    groups = dict.fromkeys(str(cell.group) for cell in result.nuance)
    return [say("condition"), say("main effect"), *map(name_identifier, groups)]


def list_conditions(result: Result, between: str = " ") -> list[list[str]]:
    """The rows of the table; ``between`` separates a figure from its interval."""
    groups = list(dict.fromkeys(cell.group for cell in result.nuance))
    fine = {(cell.condition, cell.group): cell for cell in result.nuance}
    return [
        [
            name_identifier(cell.condition),
            *show_cells([cell, *(fine[cell.condition, group] for group in groups)], between),
        ]
        for cell in result.conditions
    ]


def show_cells(cells: Sequence[Cell], between: str = " ") -> list[str]:
    """The cells of one condition, with the same number of decimals.

    Protocol 1 of ``ner-dane`` has a spread over name draws instead of an interval.
    """
    digits = 2 if all(abs(one.value or 0) < 10 for one in cells) else 1
    return [
        write(show_interval(one, digits, between)) + _show_spread(one, between) for one in cells
    ]


def _show_spread(cell: Cell, between: str) -> str:
    if cell.sd is None:
        return ""
    return between + say("(SD {sd})", sd=cell.sd)
