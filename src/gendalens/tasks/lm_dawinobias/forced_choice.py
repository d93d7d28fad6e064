"""``lm-dawinobias`` side by side: the forced reading, which every language model has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gendalens.results.result import Contrast, Extra, Result
from gendalens.stats.estimate import Estimate, FloatArray, log2_ratios
from gendalens.stats.findings import verdict
from gendalens.stats.paired import Clusters, Summed
from gendalens.tasks.base import Compared, Record
from gendalens.tasks.lm_dawinobias.measures import f1_by_condition, insensitive, tabulate

READING = "forced reading"


def compared(result: Result) -> Compared:
    """GES, gap and verdict in the forced reading: a causal model's headline, beside a masked one's."""
    if result.coverage["headline_reading"] == "forced":
        return Compared(
            effect=result.gender_effect_size,
            gap=result.gap,
            verdict=result.verdict,
            reason=result.verdict_reason,
            reading=READING,
        )
    beside = {extra.name: extra for extra in result.extra}
    effect, gap = (_estimate(beside[f"{name}, {READING}"]) for name in ("GES", "gap"))
    sensitivity = beside[f"sensitivity, {READING}"].value
    blocked = result.problem or insensitive(sensitivity)
    found = verdict(gap, effect, not_measurable=blocked)
    return Compared(
        effect=effect,
        gap=Contrast(name=result.gap.name, unit=result.gap.unit, **gap.parts()),
        verdict=found.finding,
        reason=found.reason,
        reading=READING,
    )


def clusters(records: Sequence[Record]) -> Clusters:
    """The schemas' counts."""
    counts = tabulate(records, "forced").counts
    names = tuple(sorted({row["schema"] for row in records}))
    return Summed(names, counts.reshape(len(counts), -1), _gap_and_effect)


def _gap_and_effect(sums: FloatArray) -> FloatArray:
    anti, pro = f1_by_condition(sums).T
    return np.column_stack([pro - anti, log2_ratios(pro, anti)])


def _estimate(extra: Extra) -> Estimate:
    return Estimate(extra.value, extra.low, extra.high, extra.reason)
