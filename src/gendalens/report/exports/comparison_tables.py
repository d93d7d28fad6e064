"""A comparison as tables: a long one for programs, and two short ones per group for readers."""

from __future__ import annotations

from collections.abc import Iterable

from gendalens.comparison.comparison import Comparison, Group, Pair, Row
from gendalens.report.exports.tables import Table, Value, in_english
from gendalens.report.provenance import describe_data
from gendalens.report.wording import load_plugin_words
from gendalens.results.figures import show_contrast, show_interval, show_p
from gendalens.words import say, write

COLUMNS = (
    "test",
    "protocol",
    "reading",
    "group",
    "kind",
    "model",
    "minus",
    "ges",
    "ges_low",
    "ges_high",
    "gap",
    "gap_low",
    "gap_high",
    "gap_unit",
    "p",
    "p_adjusted",
    "finding",
    "verdict",
    "reason",
    "data",
    "signature",
)


def long_table(comparison: Comparison) -> Table:
    """A row for every model and every difference, unrounded and in English.

    Rows of one group are comparable. ``finding`` is the code of ``verdict``.
    """
    rows: list[tuple[Value, ...]] = []
    for number, group in enumerate(comparison.groups, start=1):
        key, reading = group.comparability, in_english(group.note)
        start = (key.task, key.protocol, reading, number)
        rows += [(*start, "model", *_list_model(row)) for row in group.rows]
        rows += [(*start, "difference", *_list_difference(pair)) for pair in group.pairs]
    return Table(COLUMNS, tuple(rows))


def _list_model(row: Row) -> tuple[Value, ...]:
    effect, gap, finding = row.figures.effect, row.figures.gap, row.figures.finding
    return (
        *(row.label, None, effect.value, effect.low, effect.high),
        *(gap.value, gap.low, gap.high, gap.unit, gap.p, gap.p_adjusted),
        *(finding.headline, str(finding), in_english(finding.reason)),
        *(str(describe_data(row.result)), row.result.signature),
    )


def _list_difference(pair: Pair) -> tuple[Value, ...]:
    effect, gap = pair.effect, pair.gap
    return (
        *(pair.first, pair.second, effect.value, effect.low, effect.high),
        *(gap.value, gap.low, gap.high, gap.unit, gap.p, gap.p_adjusted),
        *(pair.finding.code, str(pair.finding), in_english(gap.reason), None, None),
    )


def short_tables(comparison: Comparison) -> list[Table]:
    """For each group, a table of models and one of differences."""
    load_plugin_words()
    return [table for group in comparison.groups for table in _tabulate(group, comparison.count)]


def title_group(group: Group) -> str:
    """The test of a group, and the reading that is compared, if not the headline."""
    return f"{group.test}, {write(group.note)}" if group.note else group.test


def _tabulate(group: Group, count: int) -> Iterable[Table]:
    data = say("Data: {data}.", data=describe_data(group.rows[0].result))
    yield Table(
        (say("model"), "GES", say("gap"), say("verdict")),
        tuple(
            (
                row.label,
                write(show_interval(row.figures.effect)),
                write(show_contrast(row.figures.gap)),
                write(row.figures.finding.message),
            )
            for row in group.rows
        ),
        title_group(group),
        notes=(data, *(write(note) for note in (group.apart, group.refused) if note)),
    )
    if group.pairs:
        yield Table(
            (
                *(say("first"), say("second"), say("difference of gaps"), say("p (Holm)")),
                *(say("difference of GES"), say("finding")),
            ),
            tuple(
                (
                    pair.first,
                    pair.second,
                    write(show_contrast(pair.gap)) if pair.gap.value is not None else None,
                    write(show_p(pair.gap.p_adjusted)),
                    write(show_interval(pair.effect)),
                    write(pair.finding.describe()),
                )
                for pair in group.pairs
            ),
            say("Differences, {test}", test=title_group(group)),
            notes=(_explain_differences(count),),
        )


def _explain_differences(count: int) -> str:
    if count == 1:
        return say(
            "The first model minus the second, on the same items; p is adjusted (Holm) for 1 "
            "difference."
        )
    return say(
        "The first model minus the second, on the same items; p is adjusted (Holm) for {count} "
        "differences.",
        count=count,
    )
