"""Results as tables: a long one for programs, and a few short ones for readers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gendalens.report.escape import one_line
from gendalens.report.exports.tables import Table, Value, in_english
from gendalens.report.figures import head_conditions, list_conditions, title_conditions
from gendalens.report.provenance import describe_data
from gendalens.report.wording import load_plugin_words
from gendalens.results.figure_rows import list_figures
from gendalens.results.figures import show_contrast, show_interval, show_p
from gendalens.results.model_labels import label_models
from gendalens.results.result import Contrast, Result
from gendalens.stats.evidence import Evidence
from gendalens.words import say, write

COLUMNS = (
    "model",
    "revision",
    "dtype",
    "test",
    "protocol",
    "part",
    "condition",
    "group",
    "name",
    "unit",
    "value",
    "low",
    "high",
    "p",
    "p_adjusted",
    "n",
    "reason",
    "finding",
    "verdict",
    "data",
    "signature",
    "band",
    "could_have_seen",
    "could_have_acquitted",
    "evidence_finding",
)


def long_table(results: Iterable[Result]) -> Table:
    """A row for every figure, unrounded and in English; ``finding`` is the code of the verdict.

    ``low`` and ``high`` are 95% bounds (protocol 1: see ``reason``). The last four columns are of the
    figures that the verdict rests on, in the unit of their row.
    """
    return Table(COLUMNS, tuple(row for result in results for row in _list_figures(result)))


def _list_figures(result: Result) -> Iterable[tuple[Value, ...]]:
    model, finding = result.model, result.finding
    start = (model.name, model.revision, model.dtype, result.task, result.protocol)
    end = (finding.headline, str(finding), str(describe_data(result)), result.signature)
    for row in list_figures(result):
        yield (
            *start,
            *(row.part, row.condition, row.group, str(row.name), row.unit),
            *(row.value, row.low, row.high, row.p, row.p_adjusted, row.n, in_english(row.reason)),
            *end,
            *(row.band, row.could_have_seen, row.could_have_acquitted, row.finding),
        )


def short_tables(results: Sequence[Result]) -> list[Table]:
    """An overview of all results, then a table of main effect and nuance for each."""
    load_plugin_words()
    named = label_models(results)
    overview = Table(
        (say("model"), say("test"), "GES", say("gap"), say("p (Holm)"), say("verdict")),
        tuple(
            (
                label,
                f"{result.task}@{result.protocol}",
                write(show_interval(result.gender_effect_size)),
                write(show_contrast(find_judged(result))),
                write(show_p(find_judged(result).p_adjusted)),
                write(result.finding.message),
            )
            for label, result in zip(named, results, strict=True)
        ),
        say("Gender Effect Size (GES) and gap, each with its 95% interval"),
        notes=(
            say("Positive GES leans to the male or pro-stereotypical side; 1 is twice as much."),
            *note_protocol(results),
        ),
    )
    return [overview, *(_tabulate(label, r) for label, r in zip(named, results, strict=True))]


def find_judged(result: Result) -> Contrast | Evidence:
    """The figure that the main effect is judged on, which need not be the gap."""
    judged = result.finding.main.evidence
    return judged[0] if judged else result.gap


def note_protocol(results: Iterable[Result]) -> list[str]:
    """A note if some of these results are of protocol 1, which has no intervals."""
    if any(result.protocol == 1 for result in results):
        return [say("Protocol 1 reproduces GenDa Lens 0.0.3, which gives no intervals.")]
    return []


def _tabulate(label: str, result: Result) -> Table:
    return Table(
        tuple(head_conditions(result)),
        tuple(map(tuple, list_conditions(result))),
        f"{result.task}@{result.protocol}, {one_line(label)}: {title_conditions(result)}",
        notes=(
            *map(write, result.warnings),
            say("Data: {data}.", data=describe_data(result)),
            say("Signature: {signature}.", signature=result.signature),
        ),
    )
