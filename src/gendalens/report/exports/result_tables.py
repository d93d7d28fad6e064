"""A result as tables: one long one for programs, a few short ones for the eye."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gendalens.report.exports.tables import Table, Value
from gendalens.report.figures import (
    digits_of,
    interval,
    p_value,
    shown_condition,
    table_title,
    verdict,
)
from gendalens.report.provenance import told
from gendalens.results.model_labels import labels
from gendalens.results.result import Contrast, Result

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
    "verdict",
    "data",
    "signature",
)


def long_table(results: Iterable[Result]) -> Table:
    """A row for every figure, unrounded; low and high are 95% bounds (protocol 1: see reason)."""
    return Table(COLUMNS, tuple(row for result in results for row in _figures(result)))


def _figures(result: Result) -> Iterable[tuple[Value, ...]]:
    model = result.model
    start = (str(model["name"]), str(model["revision"]), str(model["dtype"]))
    start_test: tuple[Value, ...] = (*start, result.task, result.protocol)
    end = (result.verdict, told(result), result.signature)
    ges = result.gender_effect_size
    yield (
        *start_test,
        *("effect", None, None, "gender effect size", "log2 ratio"),
        *(ges.value, ges.low, ges.high, None, None, None, ges.reason),
        *end,
    )
    for part, contrast in (("gap", result.gap), ("interaction", result.interaction)):
        yield (
            *start_test,
            *(part, None, None, contrast.name, contrast.unit),
            *(contrast.value, contrast.low, contrast.high, contrast.p, contrast.p_adjusted),
            *(None, contrast.reason),
            *end,
        )
    for part, cells in (("condition", result.conditions), ("nuance", result.nuance)):
        for cell in cells:
            yield (
                *start_test,
                *(part, cell.condition, cell.group, cell.metric, None),
                *(cell.value, cell.low, cell.high, None, None, cell.n, cell.reason),
                *end,
            )
    for extra in result.extra:
        yield (
            *start_test,
            *("extra", None, None, extra.name, extra.unit),
            *(extra.value, extra.low, extra.high, None, None, extra.n, extra.reason),
            *end,
        )


def short_tables(results: Sequence[Result]) -> list[Table]:
    """An overview of all results, then main effect and nuance of each."""
    named = labels(results)
    overview = Table(
        ("model", "test", "GES", "gap", "p (Holm)", "verdict"),
        tuple(
            (
                label,
                f"{result.task}@{result.protocol}",
                interval(result.gender_effect_size),
                contrast_text(result.gap),
                p_value(result.gap.p_adjusted).removeprefix("p ").removeprefix("= "),
                verdict(result),
            )
            for label, result in zip(named, results, strict=True)
        ),
        "Gender Effect Size (GES) and gap, each with its 95% interval",
        notes=(
            "Positive GES leans to the male or pro-stereotypical side; 1 is twice as much.",
            *protocol_note(results),
        ),
    )
    return [overview, *(_nuance(label, r) for label, r in zip(named, results, strict=True))]


def contrast_text(contrast: Contrast) -> str:
    """A difference with interval and unit."""
    text = interval(contrast, digits_of(contrast))
    return text if contrast.value is None else f"{text} {contrast.unit}"


def protocol_note(results: Iterable[Result]) -> list[str]:
    """Why some of these results have no interval, if that is so."""
    if any(result.protocol == 1 for result in results):
        return ["Protocol 1 reproduces GenDa Lens 0.0.3, which gives no intervals."]
    return []


def _nuance(label: str, result: Result) -> Table:
    groups = list(dict.fromkeys(cell.group for cell in result.nuance))
    fine = {(cell.condition, cell.group): cell for cell in result.nuance}
    rows = []
    for cell in result.conditions:
        cells = [cell, *(fine[cell.condition, group] for group in groups)]
        rows.append((cell.condition, *shown_condition(cells)))
    return Table(
        ("condition", "main effect", *(str(group) for group in groups)),
        tuple(rows),
        f"{result.task}@{result.protocol}, {label}: {table_title(result)}",
        notes=(*result.warnings, f"Data: {told(result)}.", f"Signature: {result.signature}."),
    )
