"""A comparison as tables: one long one for programs, two a group for the eye."""

from __future__ import annotations

from collections.abc import Iterable

from gendalens.comparison.comparison import Comparison, Group, Pair, Row
from gendalens.report.exports.result_tables import contrast_text
from gendalens.report.exports.tables import Table, Value
from gendalens.report.figures import interval, p_value
from gendalens.report.provenance import told

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
    "verdict",
    "reason",
    "data",
    "signature",
)


def long_table(comparison: Comparison) -> Table:
    """A row for every model and every difference, unrounded; rows of one group may be lined up."""
    rows: list[tuple[Value, ...]] = []
    for number, group in enumerate(comparison.groups, start=1):
        start = (group.setting.task, group.setting.protocol, group.reading or None, number)
        rows += [(*start, "model", *_model(row)) for row in group.rows]
        rows += [(*start, "difference", *_difference(pair)) for pair in group.pairs]
    return Table(COLUMNS, tuple(rows))


def _model(row: Row) -> tuple[Value, ...]:
    effect, gap = row.figures.effect, row.figures.gap
    return (
        *(row.label, None, effect.value, effect.low, effect.high),
        *(gap.value, gap.low, gap.high, gap.unit, gap.p, gap.p_adjusted),
        *(row.figures.verdict, row.figures.reason),
        *(told(row.result), row.result.signature),
    )


def _difference(pair: Pair) -> tuple[Value, ...]:
    effect, gap = pair.effect, pair.gap
    return (
        *(pair.first, pair.second, effect.value, effect.low, effect.high),
        *(gap.value, gap.low, gap.high, gap.unit, gap.p, gap.p_adjusted),
        *(pair.finding, gap.reason, None, None),
    )


def short_tables(comparison: Comparison) -> list[Table]:
    """Models, then differences, group by group."""
    count = tests(comparison)
    return [table for group in comparison.groups for table in _tables(group, count)]


def tests(comparison: Comparison) -> int:
    """How many differences p is adjusted over."""
    return sum(pair.gap.p is not None for group in comparison.groups for pair in group.pairs)


def heading(group: Group) -> str:
    """The test, and the reading that is lined up."""
    return f"{group.test}, {group.reading}" if group.reading else group.test


def _tables(group: Group, count: int) -> Iterable[Table]:
    yield Table(
        ("model", "GES", "gap", "verdict"),
        tuple(
            (
                row.label,
                interval(row.figures.effect),
                contrast_text(row.figures.gap),
                row.figures.verdict,
            )
            for row in group.rows
        ),
        heading(group),
        notes=tuple(
            note
            for note in (f"Data: {told(group.rows[0].result)}.", group.apart, group.refused)
            if note
        ),
    )
    if group.pairs:
        yield Table(
            ("first", "second", "difference of gaps", "p (Holm)", "difference of GES", "finding"),
            tuple(
                (
                    pair.first,
                    pair.second,
                    contrast_text(pair.gap) if pair.gap.value is not None else None,
                    p_value(pair.gap.p_adjusted).removeprefix("p ").removeprefix("= "),
                    interval(pair.effect),
                    pair.finding,
                )
                for pair in group.pairs
            ),
            f"Differences, {heading(group)}",
            notes=(
                "The first model minus the second, on the same items; p is adjusted (Holm) for "
                f"{count} difference{'s' if count != 1 else ''}.",
            ),
        )
