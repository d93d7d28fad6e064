"""The forced reading of ``lm-dawinobias``, by which all language models are compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gendalens.results.result import Contrast, Record, Result
from gendalens.stats.estimate import Estimate, FloatArray, log2_ratios
from gendalens.stats.findings import judge
from gendalens.stats.paired import Clusters, Summed
from gendalens.tasks.base import ComparedFigures
from gendalens.tasks.lm_dawinobias.measures import find_insensitivity
from gendalens.tasks.lm_dawinobias.messages import FORCED
from gendalens.tasks.lm_dawinobias.schemas import f1_by_condition, tabulate


def compared_figures(result: Result) -> ComparedFigures:
    """The figures of the forced reading: the headline of causal models, extras of others."""
    if result.coverage["headline_reading"] == "forced":
        return ComparedFigures(
            effect=result.gender_effect_size,
            gap=result.gap,
            finding=result.finding,
            note=FORCED.name,
        )
    effect, gap = (_read_estimate(result, figure) for figure in ("ges", "gap"))
    sensitivity = result.find_extra(f"sensitivity_{FORCED.id}").value
    blocked = result.problem or find_insensitivity(sensitivity)
    return ComparedFigures(
        effect=effect,
        gap=Contrast(name=result.gap.name, unit=result.gap.unit, **gap.parts()),
        finding=judge(gap, effect, not_measurable=blocked),
        note=FORCED.name,
    )


def clusters(records: Sequence[Record]) -> Clusters:
    """The counts of the schemas, for differences between models."""
    counts = tabulate(records, "forced").counts
    names = tuple(sorted({row["schema"] for row in records}))
    return Summed(names, counts.reshape(len(counts), -1), _gap_and_effect)


def _gap_and_effect(sums: FloatArray) -> FloatArray:
    anti, pro = f1_by_condition(sums).T
    return np.column_stack([pro - anti, log2_ratios(pro, anti)])


def _read_estimate(result: Result, figure: str) -> Estimate:
    extra = result.find_extra(f"{figure}_{FORCED.id}")
    return Estimate(extra.value, extra.low, extra.high, extra.reason)
