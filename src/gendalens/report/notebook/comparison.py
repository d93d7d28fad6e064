"""Comparisons in notebooks: what was found about every two models, then the figures of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from gendalens.comparison.comparison import Comparison
from gendalens.comparison.groups import Group, Pair
from gendalens.report.exports.comparison_tables import title_group
from gendalens.report.notebook.markup import (
    Text,
    fold,
    show_finding,
    show_lines,
    show_name,
    show_paragraph,
    show_signature,
    show_small,
    show_table,
    wrap,
)
from gendalens.report.notebook.result import summarize_effect
from gendalens.report.provenance import describe_data
from gendalens.report.wording import capitalize, explain_note, load_plugin_words
from gendalens.results.figures import show_contrast, show_interval, show_p_value
from gendalens.results.result import Contrast
from gendalens.words import say, translate, write


def show_comparison(comparison: Comparison) -> str:
    """Every group of comparable results."""
    load_plugin_words()
    parts = [part for group in comparison.groups for part in _show(group)]
    if comparison.differences > 1:
        adjusted = say(
            "p is adjusted (Holm) over {differences} differences of main effects and groups.",
            differences=comparison.differences,
        )
        parts.append(show_small(adjusted))
    return wrap(*parts)


def _show(group: Group) -> Iterator[Markup]:
    title = Markup("<strong>{}</strong> · {}").format(title_group(group), translate(group.title))
    yield show_paragraph(title)
    for note in (group.apart, group.refused):
        if note:
            yield show_paragraph(f"⚠ {write(note)}")
    if group.pairs:
        yield _tabulate_pairs(group)
    yield _tabulate_models(group)
    notes = [write(explain_note(group.note))] if group.note else []
    yield show_small(*notes, write(describe_data(group.rows[0].result)))
    signatures = (show_signature(row.result.signature) for row in group.rows)
    yield fold(say("Signatures"), Markup("<br>").join(signatures))


def _tabulate_pairs(group: Group) -> Markup:
    headings = (
        *(say("First"), say("Second"), say("Finding"), say("Main effect, difference")),
        *(say("Groups, difference"), say("Difference (GES)")),
    )
    return show_table(headings, map(_list_pair, group.pairs))


def _list_pair(pair: Pair) -> Sequence[Text]:
    return (
        show_name(pair.first),
        show_name(pair.second),
        Markup("<strong>{}</strong>").format(capitalize(write(pair.finding.describe()))),
        _list_differences(pair.main),
        _list_differences(pair.groups),
        show_lines(write(show_interval(pair.effect))),
    )


def _list_differences(figures: Sequence[Contrast]) -> Markup:
    return Markup("<br>").join(map(_describe_difference, figures))


def _describe_difference(one: Contrast) -> Markup:
    if one.value is None:
        return show_small(write(one.reason) if one.reason else "–")
    return show_lines(
        f"{write(show_contrast(one))}, {write(show_p_value(one.p_adjusted))}", write(one.name)
    )


def _tabulate_models(group: Group) -> Markup:
    headings = (say("Model"), say("Verdict"), "GES", say("Main effect"), say("Groups"))
    rows = [
        (
            show_name(row.label),
            show_finding(row.figures.finding.headline, write(row.figures.finding.message)),
            show_lines(write(show_interval(row.figures.effect))),
            summarize_effect(row.figures.finding.main, row.figures.gap),
            summarize_effect(row.figures.finding.groups, row.figures.contrast),
        )
        for row in group.rows
    ]
    return show_table(headings, rows)
