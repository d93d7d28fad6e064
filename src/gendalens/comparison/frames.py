"""Comparisons as data frames: a row per difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gendalens.comparison.pair_findings import differs
from gendalens.results.frames import make_frame

if TYPE_CHECKING:
    import pandas as pd

    from gendalens.comparison.groups import Group, Pair
    from gendalens.results.result import Contrast
    from gendalens.stats.evidence import Evidence

#: The columns of the frame, in order.
DIFFERENCES = (
    *("task", "protocol", "reading", "first", "second", "part", "figure", "name", "unit"),
    *("value", "low", "high", "p", "p_adjusted", "differs", "reason"),
    *("main", "groups", "verdict"),
)


def frame_differences(groups: Sequence[Group]) -> pd.DataFrame:
    """A frame with a row per difference; :meth:`Comparison.to_frame` explains the columns."""
    rows = [
        _describe_pair(group, pair) | figure
        for group in groups
        for pair in group.pairs
        for figure in _list_differences(group, pair)
    ]
    return make_frame(DIFFERENCES, rows)


def _describe_pair(group: Group, pair: Pair) -> dict[str, Any]:
    return {
        "task": group.comparability.task,
        "protocol": group.comparability.protocol,
        "reading": group.note,
        "first": pair.first,
        "second": pair.second,
        "main": pair.finding.main,
        "groups": pair.finding.groups,
        "verdict": pair.finding.describe(pair.first, pair.second),
    }


def _list_differences(group: Group, pair: Pair) -> Iterator[dict[str, Any]]:
    finding = group.find_row(pair.first).figures.finding
    for one, evidence in zip(pair.main, finding.main.evidence, strict=False):
        yield {"part": "main", **_describe_difference(one, evidence)}
    for one, evidence in zip(pair.groups, finding.groups.evidence, strict=False):
        yield {"part": "groups", **_describe_difference(one, evidence)}
    yield {
        "part": "effect",
        "figure": "gender_effect_size",
        "name": "difference of gender effect size",
        "unit": "log2 ratio",
        **pair.effect.parts(),
    }


def _describe_difference(one: Contrast, evidence: Evidence) -> dict[str, Any]:
    return {
        "figure": evidence.id,
        "name": one.name,
        "unit": one.unit,
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "p": one.p,
        "p_adjusted": one.p_adjusted,
        "differs": None if one.value is None else differs(one),
        "reason": one.reason,
    }
