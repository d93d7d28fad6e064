"""Every figure of a result as a row: what tables and data frames of results are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from gendalens.stats.evidence import Evidence, Size, Verdict
from gendalens.words import Message

if TYPE_CHECKING:
    from gendalens.results.result import Brackets, Cell, Contrast, Result

Part: TypeAlias = Literal[
    "effect",
    "gap",
    "contrast",
    "evidence_main",
    "evidence_groups",
    "condition",
    "nuance",
    "extra",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureRow:
    """One figure of a result, with its place in the result.

    ``figure`` is its id, and ``name`` the same in words. ``band`` and everything after it are known
    of evidence alone, the figures that the finding rests on.
    """

    part: Part
    figure: str
    name: Message | str
    value: float | None
    low: float | None
    high: float | None
    condition: str | None = None
    group: str | None = None
    unit: str | None = None
    bounds: Brackets | None = None
    sd: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    n: int | None = None
    reason: Message | None = None
    band: float | None = None
    could_have_seen: float | None = None
    could_have_acquitted: float | None = None
    finding: Verdict | None = None
    direction: str | None = None
    size: Size | None = None


def list_figures(result: Result) -> Iterator[FigureRow]:
    """Every figure of a result, the headline first."""
    ges = result.gender_effect_size
    yield FigureRow(
        part="effect",
        figure="gender_effect_size",
        name="gender effect size",
        unit="log2 ratio",
        bounds=_name_bounds(ges.low, ges.high),
        **ges.parts(),
    )
    yield _list_contrast("gap", result.gap)
    yield _list_contrast("contrast", result.contrast)
    finding = result.finding
    for one in finding.main.evidence:
        yield _list_evidence("evidence_main", one, finding.verdict_of(one))
    for one in finding.groups.evidence:
        yield _list_evidence("evidence_groups", one, finding.verdict_of(one))
    for cell in result.conditions:
        yield _list_cell("condition", cell)
    for cell in result.nuance:
        yield _list_cell("nuance", cell)
    for extra in result.extra:
        yield FigureRow(
            part="extra",
            figure=extra.id,
            name=extra.name,
            unit=extra.unit,
            value=extra.value,
            low=extra.low,
            high=extra.high,
            bounds=_name_bounds(extra.low, extra.high),
            n=extra.n,
            reason=extra.reason,
        )


def _list_contrast(part: Literal["gap", "contrast"], one: Contrast) -> FigureRow:
    return FigureRow(
        part=part,
        figure=part,
        name=one.name,
        unit=one.unit,
        value=one.value,
        low=one.low,
        high=one.high,
        bounds=_name_bounds(one.low, one.high),
        p=one.p,
        p_adjusted=one.p_adjusted,
        reason=one.reason,
    )


def _list_evidence(
    part: Literal["evidence_main", "evidence_groups"], one: Evidence, verdict: Verdict
) -> FigureRow:
    return FigureRow(
        part=part,
        figure=one.id,
        name=one.name,
        unit=one.unit,
        value=one.value,
        low=one.low,
        high=one.high,
        bounds=_name_bounds(one.low, one.high),
        p=one.p,
        p_adjusted=one.p_adjusted,
        reason=one.reason,
        band=one.band,
        could_have_seen=one.seen,
        could_have_acquitted=one.acquitted,
        finding=verdict,
        direction=one.direction if verdict == "bias" else None,
        size=one.size if verdict == "bias" else None,
    )


def _list_cell(part: Literal["condition", "nuance"], cell: Cell) -> FigureRow:
    return FigureRow(
        part=part,
        figure=cell.metric,
        name=cell.metric,
        condition=cell.condition,
        group=cell.group,
        value=cell.value,
        low=cell.low,
        high=cell.high,
        bounds=_name_bounds(cell.low, cell.high, cell.brackets),
        sd=cell.sd,
        n=cell.n,
        reason=cell.reason,
    )


def _name_bounds(
    low: float | None, high: float | None, brackets: Brackets = "interval"
) -> Brackets | None:
    """What the bounds of a figure are; None if it has none."""
    return None if low is None and high is None else brackets
