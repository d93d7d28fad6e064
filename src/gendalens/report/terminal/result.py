"""A result as a person reads it in 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gendalens.report.escape import one_line
from gendalens.report.figures import (
    MEDIATED,
    digits_of,
    interval,
    number,
    p_value,
    shown_condition,
    table_title,
)
from gendalens.report.provenance import told
from gendalens.results.result import Extra, Result
from gendalens.tasks import get_task
from gendalens.tasks.base import Card

STYLES = {
    "bias found": "bold red",
    "no difference found": "bold green",
    "too little data to tell": "bold yellow",
    "not measurable": "bold yellow",
}
_INDENT, _ENDLESS = 2, 10_000


def show(console: Console, result: Result, folder: Path | None) -> None:
    """Print one result."""
    card = get_task(result.task, result.protocol).card
    console.print()
    name = one_line(str(result.model["name"]))
    console.rule(Text(f"{card.id} · {name}", style="bold"), align="left")
    console.print(Text(card.title, style="italic"))
    dtype = result.model["dtype"]
    kind = str(result.model["kind"]) + (f", {dtype}" if dtype != "none" else "")
    console.print(Text(kind, style="dim"))
    console.print(_verdict(result))
    if result.problem:
        console.print(Text(f"  ({result.problem})"))
    console.print(_facts(result, card))
    console.print(_table(console, result))
    if result.extra:
        console.print(_extras(result.extra))
    for warning in result.warnings:
        console.print(Text(f"! {warning}", style="yellow"))
    console.print(_coverage(result.coverage))
    console.print(_harms(result, card))
    console.print(Text(f"data       {told(result)}", style="dim"))
    signature = one_line(result.signature, None)
    console.print(Text(f"signature  {signature}", style="dim"), soft_wrap=True)
    if folder is not None:
        console.print(Text(f"folder     {folder}", style="dim"), soft_wrap=True)


def summary(console: Console, results: Sequence[Result]) -> None:
    """One line a result, model by model, where there are several."""
    console.print()
    console.rule(Text("summary", style="bold"), align="left")
    titles = Counter(title for title, _ in {_identity(result) for result in results})
    for (title, revision), group in groupby(results, key=_identity):
        heading = title if titles[title] == 1 else f"{title} @ {revision}"
        console.print(Text(one_line(heading), style="bold"))
        table = Table.grid(padding=(0, 2), pad_edge=True)
        table.add_column(min_width=18, overflow="fold")
        table.add_column(min_width=23, overflow="fold")
        table.add_column()
        for result in group:
            ges = interval(result.gender_effect_size)
            table.add_row(result.task, ges, _short_verdict(result))
        console.print(table)


def _identity(result: Result) -> tuple[str, str]:
    return result.title, str(result.model["revision"])


def _short_verdict(result: Result) -> Text:
    """The verdict, and whether it hides that the effect differs by group."""
    text = Text(result.verdict, style=style(result.verdict))
    if result.mediated:
        text.append(f"; {MEDIATED} (nuance)", style="yellow")
    return text


def style(verdict: str) -> str:
    """The colour of a verdict."""
    return next((style for start, style in STYLES.items() if verdict.startswith(start)), "bold")


def _verdict(result: Result) -> Text:
    text = _short_verdict(result)
    if result.verdict_reason and not result.problem:
        text.append(f": {result.verdict_reason}", style="none")
    return text


def _facts(result: Result, card: Card) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    ges = result.gender_effect_size
    effect = Text(interval(ges), style="bold")
    if ges.reason and ges.reason != result.verdict_reason:
        effect.append(f"  ({ges.reason})", style="none")
    grid.add_row("GES", effect)
    grid.add_row("", Text(f"{card.formula.removeprefix('GES = ')}. {card.reading}", style="dim"))
    for label, contrast in (("gap", result.gap), ("nuance", result.interaction)):
        if contrast.value is None:
            continue
        line = f"{interval(contrast, digits_of(contrast))} {contrast.unit}, {p_value(contrast.p)}"
        if contrast.p_adjusted is not None:
            line += f" (adjusted {p_value(contrast.p_adjusted).removeprefix('p ').strip('= ')})"
        grid.add_row(label, Text(line))
        grid.add_row("", Text(contrast.name, style="dim"))
    return Padding(grid, (0, 0, 0, 2))


def _table(console: Console, result: Result) -> RenderableType:
    """The conditions by group, each interval below its figure where they do not fit side by side."""
    wide = console.options.update_width(_ENDLESS)
    table = _conditions(result)
    if console.measure(table, options=wide).maximum + _INDENT > console.width:
        table = _conditions(result, between="\n")
    return Padding(table, (0, 0, 0, _INDENT))


def _conditions(result: Result, between: str = " ") -> Table:
    groups = list(dict.fromkeys(cell.group for cell in result.nuance))
    fine = {(cell.condition, cell.group): cell for cell in result.nuance}
    title = table_title(result)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    for heading in ("condition", "main effect", *(str(group) for group in groups)):
        # A number is never cut: what has no room goes on in the next line.
        table.add_column(heading, overflow="fold")
    for cell in result.conditions:
        cells = [cell, *(fine[cell.condition, group] for group in groups)]
        table.add_row(cell.condition, *shown_condition(cells, between))
    return table


def _extras(extras: Iterable[Extra]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    for extra in extras:
        unit = "" if extra.unit in ("share", "log2 ratio") else f" {extra.unit}"
        text = Text(f"{interval(extra)}{unit}")
        if extra.value is None and extra.reason:
            text.append(f" ({extra.reason})", style="dim")
        grid.add_row(Text(extra.name), text)
    return Padding(grid, (0, 0, 1, 2))


def _coverage(coverage: Mapping[str, Any]) -> Text:
    parts = []
    for name, value in coverage.items():
        if not value:  # what is None, nought or empty is not worth a line
            continue
        if isinstance(value, Mapping):
            value = ", ".join(
                f"{k} {number(v) if isinstance(v, float) else v}" for k, v in value.items()
            )
        elif isinstance(value, list):
            value = ", ".join(map(str, value))
        parts.append(f"{name.replace('_', ' ')} {value}")
    return Text("coverage   " + "; ".join(parts), style="dim")


def _harms(result: Result, card: Card) -> Group:
    lines = [
        Text(f"{label:<10} harm: {effect.harm}; may come from: {effect.source}")
        for label, effect in (("main", card.main), ("nuance", card.nuance))
    ]
    return Group(*lines)
