"""The forced reading of ``lm-dawinobias``, by which all language models are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gendalens.results.result import Contrast, Record, Result
from gendalens.stats.crossed import statistic_of_sums
from gendalens.stats.estimate import Estimate, FloatArray
from gendalens.stats.evidence import Evidence
from gendalens.stats.findings import judge
from gendalens.stats.paired import Clusters
from gendalens.tasks.base import ComparedFigures
from gendalens.tasks.lm_dawinobias.measures import find_insensitivity
from gendalens.tasks.lm_dawinobias.messages import FORCED
from gendalens.tasks.lm_dawinobias.schemas import Schemas, compute_statistics, tabulate
from gendalens.tasks.shared.headline import keep_headline


def compared_figures(result: Result) -> ComparedFigures:
    """The figures of the forced reading: the headline of causal models, extras of others."""
    if result.coverage["headline_reading"] == "forced":
        return ComparedFigures(
            effect=result.gender_effect_size,
            gap=result.gap,
            contrast=result.contrast,
            finding=result.finding,
            note=FORCED.name,
        )
    effect, gap, contrast = (
        _read_estimate(result, figure) for figure in ("ges", "gap", "pronoun_gap")
    )
    finding = result.finding
    main, groups = (
        tuple(_replace(one, own) for one in part.evidence)
        for part, own in ((finding.main, gap), (finding.groups, contrast))
    )
    sensitivity = result.find_extra(f"sensitivity_{FORCED.id}").value
    doubt = find_insensitivity(sensitivity, main[0])
    return ComparedFigures(
        effect=effect,
        gap=Contrast(name=result.gap.name, unit=result.gap.unit, **gap.parts()),
        contrast=Contrast(name=result.contrast.name, unit=result.contrast.unit, **contrast.parts()),
        finding=judge(main, groups, problem=result.problem, doubt=doubt),
        note=FORCED.name,
    )


def _replace(evidence: Evidence, own: Estimate) -> Evidence:
    """Evidence of F1 with the figures of the forced reading; log-odds are the same in both."""
    if evidence.unit != "F1":
        return evidence
    return replace(evidence, p=None, p_adjusted=None, seen=None, acquitted=None, **own.parts())


def clusters(records: Sequence[Record]) -> Clusters:
    """The schemas of the records, for differences between models."""
    return make_clusters(tabulate(keep_headline(records), "forced"))


def make_clusters(schemas: Schemas) -> Clusters:
    """The schemas in crossed occupations."""
    return Clusters(
        names=schemas.names,
        statistic=statistic_of_sums(schemas.units, _compared),
        first=schemas.male_occupation,
        second=schemas.female_occupation,
        finer=np.arange(len(schemas.names)),
        main=2,
        groups=2,
    )


def _compared(sums: FloatArray) -> FloatArray:
    """The figures that the test is judged on, and the effect."""
    found = compute_statistics(sums)
    return np.column_stack(
        [found.gap, found.log_odds_gap, found.pronoun_gap, found.log_odds, found.ges]
    )


def _read_estimate(result: Result, figure: str) -> Estimate:
    extra = result.find_extra(f"{figure}_{FORCED.id}")
    return Estimate(extra.value, extra.low, extra.high, extra.reason)
