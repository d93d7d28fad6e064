"""A comparison as text in 80 columns."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gendalens.comparison.comparison import Comparison, Group, Pair
from gendalens.report.escape import one_line
from gendalens.report.exports.comparison_tables import title_group
from gendalens.report.provenance import describe_data
from gendalens.report.terminal.result import show_adjusted_p, style_finding
from gendalens.report.wording import explain_note, load_plugin_words
from gendalens.results.figures import show_contrast, show_interval
from gendalens.words import say, translate, write


def show(console: Console, comparison: Comparison) -> None:
    """Print every group: its models, then their pairwise differences."""
    load_plugin_words()
    for group in comparison.groups:
        console.print()
        console.rule(Text(title_group(group), style="bold"), align="left")
        console.print(Text(translate(group.title), style="italic"))
        data = write(describe_data(group.rows[0].result))
        console.print(Text(one_line(data, None), style="dim"))
        if group.note:
            console.print(Text(write(explain_note(group.note)), style="dim"))
        if group.apart:
            console.print(Text(f"! {write(group.apart)}", style="yellow"))
        _print_models(console, group)
        if group.refused:
            console.print(Text(write(group.refused), style="yellow"))
        if group.pairs:
            _print_differences(console, group, comparison.count)
    if all(len(group.rows) == 1 for group in comparison.groups):
        console.print(Text(_explain_loneliness(comparison), style="yellow"))


def _explain_loneliness(comparison: Comparison) -> str:
    """Why no two models can be compared."""
    if len({row.label for group in comparison.groups for row in group.rows}) > 1:
        return say("No two of these results can be compared.")
    return say(
        "There is only one model, so there is nothing to compare: name a run of another model as "
        "well."
    )


def _print_models(console: Console, group: Group) -> None:
    for number, row in enumerate(group.rows, start=1):
        console.print(Text(f"[{number}] {one_line(row.label)}", style="bold"))
        figures, finding = row.figures, row.figures.finding
        grid = Table.grid(padding=(0, 2))
        grid.add_column(min_width=3)
        grid.add_column(width=32, no_wrap=True)
        grid.add_column()
        found = Text(write(finding.message), style=style_finding(finding))
        grid.add_row("GES", write(show_interval(figures.effect)), found)
        reason = Text(write(finding.reason) if finding.reason else "", "dim")
        grid.add_row(say("gap"), write(show_contrast(figures.gap)), reason)
        console.print(Padding(grid, (0, 0, 0, 2)))


def _print_differences(console: Console, group: Group, count: int) -> None:
    heading = say("differences, the same items for both models")
    if count > 1:
        heading = say(
            "differences, the same items for both models, p adjusted over {count} differences",
            count=count,
        )
    console.print(Text(heading, style="italic"))
    place = {row.label: number for number, row in enumerate(group.rows, start=1)}
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for pair in group.pairs:
        first, second = f"[{place[pair.first]}]", f"[{place[pair.second]}]"
        grid.add_row(Text(f"{first} − {second}"), _describe_pair(pair))
        if pair.gap.value is not None:
            grid.add_row("", Text(write(pair.finding.describe(first, second)), style="bold"))
    console.print(Padding(grid, (0, 0, 0, 2)))


def _describe_pair(pair: Pair) -> Text:
    gap = pair.gap
    if gap.value is None:
        return Text(one_line(write(gap.reason) if gap.reason else "–", None), style="dim")
    adjusted = None if gap.p_adjusted == gap.p else gap.p_adjusted
    difference = write(show_contrast(gap))
    text = say("gap {difference}, {p}", difference=difference, p=show_adjusted_p(gap.p, adjusted))
    if pair.effect.value is not None:
        text += f"\nGES {write(show_interval(pair.effect))}"
    return Text(text)
