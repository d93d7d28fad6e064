"""A result as text in 80 columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gendalens.report.escape import one_line
from gendalens.report.figures import head_conditions, list_conditions, title_conditions
from gendalens.report.provenance import describe_data
from gendalens.report.wording import (
    end_sentence,
    explain_finding,
    load_plugin_words,
    name_identifier,
    picture_result,
    write_formula,
)
from gendalens.results.figures import (
    show_band,
    show_contrast,
    show_evidence,
    show_interval,
    show_number,
    show_p,
    show_p_value,
    show_size,
)
from gendalens.results.result import Extra, Result
from gendalens.stats.evidence import Evidence
from gendalens.stats.findings import Finding, name_verdict
from gendalens.tasks import get_task
from gendalens.tasks.base import Card, Effect
from gendalens.words import Message, phrase, say, translate, write

STYLES = {
    "bias": "bold red",
    "negligible": "bold green",
    "undecided": "bold yellow",
    "not_measurable": "bold yellow",
    "not_judged": "bold",
}
#: Units that are not shown.
_PLAIN_UNITS = ("share", "log2 ratio", "correlation", "slope")
_INDENT, _ENDLESS = 2, 10_000
_LABEL = 10  # width of the labels at the end of a result


def show(console: Console, result: Result, folder: Path | None) -> None:
    """Print one result."""
    load_plugin_words()
    card = get_task(result.task, result.protocol).card
    console.print()
    name = one_line(result.model.name)
    console.rule(Text(f"{card.id} · {name}", style="bold"), align="left")
    console.print(Text(translate(card.title), style="italic"))
    dtype = result.model.dtype
    kind = write(result.model.kind) + (f", {dtype}" if dtype != "none" else "")
    console.print(Text(kind, style="dim"))
    console.print(_describe_finding(result))
    if result.finding.is_measured:
        sentences = (end_sentence(write(one)) for one in explain_finding(result, card))
        console.print(Text(" ".join(sentences)))
    for picture in picture_result(result):
        console.print(Text(write(picture), style="bold"))
    if result.problem:
        console.print(Text(f"  ({write(result.problem)})"))
    console.print(_list_facts(result, card))
    console.print(_tabulate(console, result))
    if result.extra:
        console.print(_list_extras(result.extra))
    for warning in result.warnings:
        console.print(Text(f"! {write(warning)}", style="yellow"))
    _print_end(console, result, card, folder)


def _print_end(console: Console, result: Result, card: Card, folder: Path | None) -> None:
    """Print coverage, harms and data, then signature and folder, which can be copied."""
    to_read = [
        (say("coverage"), _describe_coverage(result.coverage), "dim"),
        (say("main"), _describe_harm(card.main), ""),
        (say("groups"), _describe_harm(card.nuance), ""),
        (say("data"), write(describe_data(result)), "dim"),
    ]
    signature = one_line(result.signature, None)
    if console.is_terminal:  # it would be broken in the middle of a word; in a file it is one line
        signature = _wrap_at_fields(signature, console.width - _LABEL - 1)
        to_read.append((say("signature"), signature, "dim"))
        to_copy = []
    else:
        to_copy = [(say("signature"), signature, "dim")]
    if folder is not None:
        to_copy.append((say("folder"), str(folder), "dim"))
    width = max(_LABEL, *(len(label) for label, _, _ in (*to_read, *to_copy)))
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=width)
    grid.add_column(overflow="fold")
    for label, text, style in to_read:
        grid.add_row(Text(label, style=style), Text(text, style=style))
    console.print(grid)
    for label, text, style in to_copy:
        console.print(Text(f"{label:<{width}} {text}", style=style), soft_wrap=True)


def _wrap_at_fields(signature: str, width: int) -> str:
    """A signature on several lines, which end at the separators of its fields."""
    lines = [""]
    for piece in re.split(r"(?<=[|+@,])", signature):
        if lines[-1] and len(lines[-1]) + len(piece) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines)


def show_summary(console: Console, results: Sequence[Result]) -> None:
    """Print one line per result, grouped by model."""
    console.print()
    console.rule(Text(say("summary"), style="bold"), align="left")
    titles = Counter(title for title, _ in {title_model(result) for result in results})
    for (title, revision), group in groupby(results, key=title_model):
        heading = title if titles[title] == 1 else f"{title} @ {revision}"
        console.print(Text(one_line(heading), style="bold"))
        table = Table.grid(padding=(0, 2), pad_edge=True)
        table.add_column(min_width=16, overflow="fold")
        table.add_column(min_width=22, overflow="fold")
        table.add_column()
        for result in group:
            ges = write(show_interval(result.gender_effect_size))
            table.add_row(result.task, ges, name_finding(result.finding))
        console.print(table)


def title_model(result: Result) -> tuple[str, str]:
    """What tells a model from others: its title and revision."""
    return result.title, result.model.revision


def style_finding(finding: Finding) -> str:
    """The colour of a finding."""
    return STYLES[finding.headline]


def name_finding(finding: Finding) -> Text:
    """A finding in its colour."""
    return Text(write(finding.message), style=style_finding(finding))


def _describe_finding(result: Result) -> Text:
    """The finding, with its reason if nothing was measured; otherwise it is explained below."""
    finding = result.finding
    text = name_finding(finding)
    if finding.reason and not finding.is_measured and not result.problem:
        text.append(f": {write(finding.reason)}", style="none")
    return text


def _list_facts(result: Result, card: Card) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    ges = result.gender_effect_size
    effect = Text(write(show_interval(ges)), style="bold")
    if ges.reason and ges.reason != result.finding.reason:
        effect.append(f"  ({write(ges.reason)})", style="none")
    grid.add_row("GES", effect)
    formula = f"{write_formula(card)}. {translate(card.reading)}"
    grid.add_row("", Text(formula, style="dim"))
    main, groups = result.finding.main.evidence, result.finding.groups.evidence
    judged = {one.id for one in (*main, *groups)}
    for name, label in (("gap", say("gap")), ("contrast", say("by group"))):
        contrast = getattr(result, name)
        if contrast.value is None or name in judged:
            continue
        p = write(show_adjusted_p(contrast.p, contrast.p_adjusted))
        grid.add_row(label, Text(f"{write(show_contrast(contrast))}, {p}"))
        grid.add_row("", Text(write(contrast.name), style="dim"))
    for label, evidence in ((say("main"), main), (say("groups"), groups)):
        for one in evidence:
            grid.add_row(label, _describe_evidence(one, result.finding.verdict_of(one)))
            label = ""
    return Padding(grid, (0, 0, 0, 2))


def _describe_evidence(one: Evidence, verdict: str) -> Text:
    """A figure that the verdict rests on: its value, what it is, and what it says."""
    p = write(show_adjusted_p(one.p, one.p_adjusted))
    band = say("band {band}", band=show_band(one.band, one.unit))
    text = Text(f"{write(show_evidence(one))}, {band}, {p}\n")
    text.append(f"{write(one.name)}\n", style="dim")
    text.append(write(name_verdict(verdict)), style=STYLES[verdict])
    if one.low is None and one.reason:
        text.append(f": {write(one.reason)}")
    if one.seen is not None and one.acquitted is not None:
        limits = say(
            "could have seen {seen}, ruled out {acquitted}",
            seen=show_size(one.seen, one.unit),
            acquitted=show_size(one.acquitted, one.unit),
        )
        text.append(f"; {limits}", style="dim")
    return text


def show_adjusted_p(p: float | None, adjusted: float | None) -> Message:
    """A p-value, with the adjusted one in brackets if there is one."""
    if adjusted is None:
        return show_p_value(p)
    return phrase("{p} (adjusted {adjusted})", p=show_p_value(p), adjusted=show_p(adjusted))


def _tabulate(console: Console, result: Result) -> RenderableType:
    """The conditions by group, with intervals below their figures if the table is too wide."""
    wide = console.options.update_width(_ENDLESS)
    table = _table(result)
    if console.measure(table, options=wide).maximum + _INDENT > console.width:
        table = _table(result, between="\n")
    return Padding(table, (0, 0, 0, _INDENT))


def _table(result: Result, between: str = " ") -> Table:
    title = title_conditions(result)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    for heading in head_conditions(result):
        # Fold, because a truncated number would be wrong.
        table.add_column(heading, overflow="fold")
    for row in list_conditions(result, between):
        table.add_row(*row)
    return table


def _list_extras(extras: Iterable[Extra]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    for extra in extras:
        unit = "" if extra.unit in _PLAIN_UNITS else f" {name_identifier(extra.unit)}"
        text = Text(f"{write(show_interval(extra))}{unit}")
        if extra.value is None and extra.reason:
            text.append(f" ({write(extra.reason)})", style="dim")
        grid.add_row(Text(write(extra.name)), text)
    return Padding(grid, (0, 0, 1, 2))


def _describe_coverage(coverage: Mapping[str, Any]) -> str:
    """The coverage in one line, without entries that are None, zero or empty."""
    parts = [
        f"{name_identifier(name)} {_describe_value(value)}"
        for name, value in coverage.items()
        if value
    ]
    return "; ".join(parts)


def _describe_value(value: Any) -> str:
    if isinstance(value, Mapping):  # keys are conditions, or a model's own words and labels
        return ", ".join(
            f"{translate(key)}{' → ' if isinstance(one, str) else ' '}{_describe_value(one)}"
            for key, one in value.items()
        )
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, int | float):
        return write(show_number(value, 0 if isinstance(value, int) else 2))
    return translate(value) if isinstance(value, str) else str(value)


def _describe_harm(effect: Effect) -> str:
    return say("harm: {harm:t}; may come from: {source:t}", harm=effect.harm, source=effect.source)
