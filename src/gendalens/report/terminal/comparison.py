"""A comparison as a person reads it in 80 columns."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gendalens.comparison.comparison import Comparison, Group, Pair
from gendalens.report.escape import one_line
from gendalens.report.exports.comparison_tables import heading, tests
from gendalens.report.exports.result_tables import contrast_text
from gendalens.report.figures import interval, p_value
from gendalens.report.provenance import told
from gendalens.report.terminal.result import style
from gendalens.report.words import word

ALONE = "There is one model here, and nothing to compare it with: name the run of another one too."


def show(console: Console, comparison: Comparison) -> None:
    """Print every group: its models, then their differences two by two."""
    count = tests(comparison)
    for group in comparison.groups:
        console.print()
        console.rule(Text(heading(group), style="bold"), align="left")
        console.print(Text(group.title, style="italic"))
        console.print(Text(one_line(told(group.rows[0].result), None), style="dim"))
        if group.reading:
            console.print(Text(word("compare_forced").en, style="dim"))
        if group.apart:
            console.print(Text(f"! {group.apart}", style="yellow"))
        _models(console, group)
        if group.refused:
            console.print(Text(group.refused, style="yellow"))
        if group.pairs:
            _differences(console, group, count)
    if all(len(group.rows) == 1 for group in comparison.groups):
        several = len({row.label for group in comparison.groups for row in group.rows}) > 1
        found = "No two of these results can be lined up." if several else ALONE
        console.print(Text(found, style="yellow"))


def _models(console: Console, group: Group) -> None:
    for number, row in enumerate(group.rows, start=1):
        console.print(Text(f"[{number}] {one_line(row.label)}", style="bold"))
        grid = Table.grid(padding=(0, 2))
        grid.add_column(width=3)
        grid.add_column(width=32, no_wrap=True)
        grid.add_column()
        verdict = Text(row.figures.verdict, style=style(row.figures.verdict))
        grid.add_row("GES", interval(row.figures.effect), verdict)
        grid.add_row("gap", contrast_text(row.figures.gap), Text(row.figures.reason or "", "dim"))
        console.print(Padding(grid, (0, 0, 0, 2)))


def _differences(console: Console, group: Group, count: int) -> None:
    corrected = f", p adjusted over {count} differences" if count > 1 else ""
    console.print(Text(f"differences, the same items for both models{corrected}", style="italic"))
    place = {row.label: number for number, row in enumerate(group.rows, start=1)}
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for pair in group.pairs:
        first, second = place[pair.first], place[pair.second]
        grid.add_row(Text(f"[{first}] − [{second}]"), _line(pair))
        if pair.gap.value is not None:
            finding = pair.finding.replace("the first", f"[{first}]")
            finding = finding.replace("the second", f"[{second}]")
            grid.add_row("", Text(finding, style="bold"))
    console.print(Padding(grid, (0, 0, 0, 2)))


def _line(pair: Pair) -> Text:
    gap = pair.gap
    if gap.value is None:
        return Text(one_line(str(gap.reason), None), style="dim")
    text = f"gap {contrast_text(gap)}, {p_value(gap.p)}"
    if gap.p_adjusted is not None and gap.p_adjusted != gap.p:
        text += f" (adjusted {p_value(gap.p_adjusted).removeprefix('p ').strip('= ')})"
    if pair.effect.value is not None:
        text += f"\nGES {interval(pair.effect)}"
    return Text(text)
