"""Samples of DaWinoBias schemas, the same for language models and coreference systems."""

from __future__ import annotations

from collections.abc import Sequence

from gendalens.data.dawinobias import WinoLine
from gendalens.tasks.base import sample_by_stratum


def sample_schemas(items: Sequence[WinoLine], size: int, seed: int) -> list[WinoLine]:
    """The lines of ``size`` schemas in both conditions, stratified by the case of the pronouns."""
    cases: dict[int, tuple[str, ...]] = {}
    for item in items:
        cases[item.schema] = tuple(sorted({*cases.get(item.schema, ()), item.case}))
    kept = set(sample_by_stratum(list(cases), size, seed, lambda schema: cases[schema]))
    return [item for item in items if item.schema in kept]
