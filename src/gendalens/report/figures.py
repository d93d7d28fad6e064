"""The table of conditions and groups, as shown in the terminal and in papers."""

from __future__ import annotations

from collections.abc import Sequence

from gendalens.report.wording import has_quartiles, name_identifier
from gendalens.results.figures import show_interval
from gendalens.results.result import Cell, Result
from gendalens.words import say, write


def title_conditions(result: Result) -> str:
    """The title of the table: its metric, or all of them if the cells have different ones."""
    if not result.conditions:
        return say("no conditions")
    metric = ", ".join(map(name_identifier, _list_metrics(result)))
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
    is_mixed = len(_list_metrics(result)) > 1
    rows = []
    for main in result.conditions:
        cells = [main, *(fine[main.condition, group] for group in groups)]
        shown = show_cells(cells, between)
        if is_mixed:  # protocol 1: accuracy overall, and F1 in the groups
            names = [name_identifier(cell.metric) for cell in cells]
            shown = [f"{name} {text}" for name, text in zip(names, shown, strict=True)]
        rows.append([name_identifier(main.condition), *shown])
    return rows


def _list_metrics(result: Result) -> list[str]:
    """The metrics of the table's cells."""
    return list(dict.fromkeys(cell.metric for cell in (*result.conditions, *result.nuance)))


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
