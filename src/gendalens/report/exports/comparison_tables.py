"""A comparison as tables: a long one for programs, and two short ones per group for readers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gendalens.comparison.comparison import Comparison
from gendalens.comparison.groups import Group, Pair, Row
from gendalens.report.exports.tables import Table, Value, in_english
from gendalens.report.provenance import describe_data
from gendalens.report.wording import load_plugin_words
from gendalens.results.figures import show_contrast, show_interval, show_p_value
from gendalens.results.result import Contrast
from gendalens.stats.estimate import Estimate
from gendalens.stats.evidence import Evidence
from gendalens.stats.findings import EffectFinding
from gendalens.tasks.base import ComparedFigures
from gendalens.words import say, write

COLUMNS = (
    "test",
    "protocol",
    "reading",
    "group",
    "kind",
    "model",
    "minus",
    "part",
    "figure",
    "value",
    "low",
    "high",
    "unit",
    "p",
    "p_adjusted",
    "finding",
    "verdict",
    "reason",
    "data",
    "signature",
)


def long_table(comparison: Comparison) -> Table:
    """A row for every figure of every model and every difference, unrounded and in English.

    Rows of one group are comparable. ``finding`` is the code of what the part says: of a model's
    headline (``ges``), its main effect or its groups. ``verdict`` is the headline in words.
    """
    rows: list[tuple[Value, ...]] = []
    for number, group in enumerate(comparison.groups, start=1):
        key, reading = group.comparability, in_english(group.note)
        start = (key.task, key.protocol, reading, number)
        for row in group.rows:
            rows += [(*start, "model", *values) for values in _list_model(row)]
        for pair in group.pairs:
            rows += [(*start, "difference", *values) for values in _list_difference(pair)]
    return Table(COLUMNS, tuple(rows))


def _list_model(row: Row) -> Iterator[tuple[Value, ...]]:
    figures, finding = row.figures, row.figures.finding
    end = (str(describe_data(row.result)), row.result.signature)
    judged: list[tuple[str, Contrast | Evidence, str]] = [
        *(("main", one, finding.main.verdict) for one in finding.main.evidence),
        *(("groups", one, finding.groups.verdict) for one in finding.groups.evidence),
    ]
    if not judged:
        judged = [(name, one, finding.headline) for name, one in _name_gaps(figures)]
    yield (
        *(row.label, None, "ges", "GES", *_list_estimate(figures.effect), "log2 ratio", None, None),
        *(finding.headline, str(finding), in_english(finding.reason), *end),
    )
    for part, one, code in judged:
        yield (
            *(row.label, None, part, str(one.name), *_list_estimate(one), one.unit),
            *(one.p, one.p_adjusted, code, str(finding), in_english(one.reason), *end),
        )


def _name_gaps(figures: ComparedFigures) -> tuple[tuple[str, Contrast], ...]:
    """Gap and contrast of a result that is not judged."""
    return ("main", figures.gap), ("groups", figures.contrast)


def _list_difference(pair: Pair) -> Iterator[tuple[Value, ...]]:
    models, verdict = (pair.first, pair.second), str(pair.finding)
    effect = pair.effect
    yield (
        *(*models, "ges", "GES", *_list_estimate(effect), "log2 ratio", None, None),
        *(None, verdict, in_english(effect.reason), None, None),
    )
    parts = (("main", pair.main, pair.finding.main), ("groups", pair.groups, pair.finding.groups))
    for part, figures, code in parts:
        for one in figures:
            yield (
                *(*models, part, str(one.name), *_list_estimate(one), one.unit),
                *(one.p, one.p_adjusted, code, verdict, in_english(one.reason), None, None),
            )


def _list_estimate(one: Estimate | Contrast | Evidence) -> tuple[Value, ...]:
    return one.value, one.low, one.high


def short_tables(comparison: Comparison) -> list[Table]:
    """For each group, a table of models and one of differences."""
    load_plugin_words()
    return [table for group in comparison.groups for table in _tabulate(group, comparison)]


def title_group(group: Group) -> str:
    """The test of a group, and the reading that is compared, if not the headline."""
    return f"{group.test}, {write(group.note)}" if group.note else group.test


def _tabulate(group: Group, comparison: Comparison) -> Iterator[Table]:
    data = say("Data: {data}.", data=describe_data(group.rows[0].result))
    yield Table(
        (say("model"), "GES", say("verdict"), say("main effect"), say("groups")),
        tuple(
            (
                row.label,
                write(show_interval(row.figures.effect)),
                write(row.figures.finding.message),
                _describe_part(row.figures.finding.main),
                _describe_part(row.figures.finding.groups),
            )
            for row in group.rows
        ),
        title_group(group),
        notes=(data, *(write(note) for note in (group.apart, group.refused) if note)),
    )
    if group.pairs:
        yield Table(
            (
                *(say("first"), say("second"), say("main effect, difference")),
                *(say("groups, difference"), say("difference of GES"), say("finding")),
            ),
            tuple(
                (
                    pair.first,
                    pair.second,
                    _describe_differences(pair.main),
                    _describe_differences(pair.groups),
                    write(show_interval(pair.effect)),
                    write(pair.finding.describe()),
                )
                for pair in group.pairs
            ),
            say("Differences, {test}", test=title_group(group)),
            notes=(_explain_differences(comparison),),
        )


def _describe_part(part: EffectFinding) -> str:
    """The verdict on one part of a model, with the figure that it rests on."""
    deciding = part.deciding
    if deciding is None:
        return write(part.message)
    return say(
        "{verdict}: {name} {figure}",
        verdict=part.message,
        name=deciding.name,
        figure=show_contrast(deciding),
    )


def _describe_differences(figures: Sequence[Contrast]) -> str | None:
    shown = [
        f"{write(show_contrast(one))}, {write(show_p_value(one.p_adjusted))}"
        for one in figures
        if one.value is not None
    ]
    return "; ".join(shown) or None


def _explain_differences(comparison: Comparison) -> str:
    return say(
        "The first model minus the second, on the same items; p is adjusted (Holm) for all "
        "differences of main effects and groups, {differences} in number.",
        differences=comparison.differences,
    )
