"""A comparison as text in 80 columns."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gendalens.comparison.comparison import Comparison
from gendalens.comparison.groups import Group
from gendalens.report.escape import one_line
from gendalens.report.exports.comparison_tables import title_group
from gendalens.report.provenance import describe_data
from gendalens.report.terminal.result import show_adjusted_p, style_finding
from gendalens.report.wording import explain_note, explain_reason, load_plugin_words
from gendalens.results.figures import show_contrast, show_evidence, show_interval
from gendalens.results.result import Contrast
from gendalens.stats.findings import EffectFinding
from gendalens.words import Message, say, translate, write


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
            _print_differences(console, group)
    if comparison.differences > 1:
        console.print(Text(_explain_adjustment(comparison), style="dim"))
    if all(len(group.rows) == 1 for group in comparison.groups):
        console.print(Text(_explain_loneliness(comparison), style="yellow"))


def _explain_adjustment(comparison: Comparison) -> str:
    return say(
        "p is adjusted (Holm) over {differences} differences of main effects and groups.",
        differences=comparison.differences,
    )


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
        grid.add_column(width=29)
        grid.add_column()
        found = Text(write(finding.message), style=style_finding(finding))
        grid.add_row("GES", write(show_interval(figures.effect)), found)
        if finding.not_judged:
            grid.add_row(say("gap"), write(show_contrast(figures.gap)), _dim(finding.not_judged))
        else:
            grid.add_row(say("main"), *_describe_part(finding.main))
            grid.add_row(say("groups"), *_describe_part(finding.groups))
        console.print(Padding(grid, (0, 0, 0, 2)))


def _describe_part(part: EffectFinding) -> tuple[Text, Text]:
    """The figure that the verdict on one part rests on, and the verdict with its reason."""
    deciding = part.deciding
    figure = Text(write(show_evidence(deciding)) if deciding else "–")
    if deciding:
        figure.append(f"\n{write(deciding.name)}", style="dim")
    verdict = Text(write(part.message))
    if reason := explain_reason(part):
        verdict.append(f"\n{write(reason)}", style="dim")
    return figure, verdict


def _dim(message: Message) -> Text:
    return Text(write(message), style="dim")


def _print_differences(console: Console, group: Group) -> None:
    console.print(Text(say("differences, the same items for both models"), style="italic"))
    place = {row.label: number for number, row in enumerate(group.rows, start=1)}
    for pair in group.pairs:
        first, second = f"[{place[pair.first]}]", f"[{place[pair.second]}]"
        found = Text(write(pair.finding.describe(first, second)), style="bold")
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True)
        grid.add_column()
        grid.add_row(Text(f"{first} − {second}"), found)
        for label, figures in ((say("main"), pair.main), (say("groups"), pair.groups)):
            for number, figure in enumerate(figures):
                grid.add_row("" if number else label, _describe_difference(figure))
        if pair.effect.value is not None:
            grid.add_row("GES", write(show_interval(pair.effect)))
        console.print(Padding(grid, (0, 0, 0, 2)))


def _describe_difference(figure: Contrast) -> Text:
    if figure.value is None:
        reason = one_line(write(figure.reason) if figure.reason else "–", None)
        return Text(reason, style="dim")
    adjusted = None if figure.p_adjusted == figure.p else figure.p_adjusted
    p = write(show_adjusted_p(figure.p, adjusted))
    text = Text(f"{write(show_evidence(figure))}, {p}")
    text.append(f"\n{write(figure.name)}", style="dim")
    return text
