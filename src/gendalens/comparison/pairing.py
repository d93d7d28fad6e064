"""Paired differences of the models of a group, on the same items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

from gendalens.comparison.comparability import get_seed
from gendalens.comparison.groups import Group, Pair, Row
from gendalens.errors import UserError
from gendalens.results.result import Contrast
from gendalens.results.saved_results import RECORDS, SavedResult
from gendalens.stats.crossed import CrossedEstimate
from gendalens.stats.estimate import Estimate
from gendalens.stats.evidence import Evidence
from gendalens.stats.findings import CHOICES_NOT_JUDGED, EffectFinding
from gendalens.stats.paired import Clusters, Difference, differences
from gendalens.tasks import get_task
from gendalens.tasks.base import Task
from gendalens.words import Message, Template

#: With more models than this, there are too many pairs to read.
PAIRED_MODELS = 40

TOO_MANY_MODELS = Template(
    "compare.too_many_models",
    "{models} models are too many for pairwise differences; compare {most} or fewer.",
)
NO_RECORDS = Template(
    "compare.no_records",
    "Differences need the records, which are kept only in a run folder: run the models with `out`.",
)
NO_INTERVALS = Template(
    "compare.no_intervals", "{test} has no intervals, so differences have none; use protocol 2."
)
NO_CLUSTERS = Template(
    "compare.no_clusters", "{test} has no clusters to pair models by, so there are no differences."
)
DIFFERENCE = Template("compare.difference_of", "difference of {figure}")
ONE_NOT_MEASURABLE = Template("compare.model_not_measurable", "{model} is not measurable")
CHOICES_FOLLOW_ORDER = Template(
    "compare.choices_follow_order",
    "the choices of {model} change with the order in which the options are named",
)
EFFECT_UNDEFINED = Template("compare.effect_undefined", "GES of {models:and} is undefined")
EFFECT_UNSTABLE = Template("compare.effect_unstable", "unstable: so is GES of {models:and}")


def pair_group(group: Group, found: Sequence[SavedResult | None]) -> Group:
    """The group with the differences of its models, or the reason why there are none."""
    key, rows = group.comparability, group.rows
    if len(rows) < 2:
        return group
    if len(rows) > PAIRED_MODELS:
        return replace(group, refused=TOO_MANY_MODELS(models=len(rows), most=PAIRED_MODELS))
    saved = [one for one in found if one is not None]
    if len(saved) < len(rows):
        return replace(group, refused=NO_RECORDS())
    task = get_task(key.task, key.protocol)
    try:
        clusters = _read_clusters(task, saved)
        if clusters is None:
            template = NO_INTERVALS if key.protocol == 1 else NO_CLUSTERS
            return replace(group, refused=template(test=group.test))
        return replace(group, pairs=tuple(_pair_up(rows, clusters)))
    except UserError as error:
        return replace(group, refused=error.message, failed=True)


def _read_clusters(task: Task[Any], files: Sequence[SavedResult]) -> list[Clusters] | None:
    """Each model's clusters, which must hold the same items; None if the test has no clusters."""
    found = [_read_records(task, one) for one in files]
    clusters = [one for one in found if one is not None]
    if len(clusters) < len(found):
        return None
    if any(one.names != clusters[0].names for one in clusters):
        raise UserError(
            "The records of {test} do not hold the same items, so nothing is paired; run the models "
            "again with this version.",
            test=task.card.name,
        )
    return clusters


def _read_records(task: Task[Any], one: SavedResult) -> Clusters | None:
    try:
        return task.clusters(one.records())
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise UserError(
            "{file} does not hold records of {test} ({fault}): run the test again.",
            file=str(one.folder / RECORDS),
            test=task.card.id,
            fault=type(error).__name__,
        ) from None


def _pair_up(rows: Sequence[Row], clusters: Sequence[Clusters]) -> Iterable[Pair]:
    """A pair for every two models."""
    found = differences(clusters, seed=get_seed(rows[0].result))
    for (a, b), difference in found.items():
        yield _subtract((rows[a], rows[b]), difference)


def _subtract(rows: tuple[Row, Row], found: Difference) -> Pair:
    """The difference of two models; a part is undefined if either model is not measurable in it."""
    first, second = rows
    finding = first.figures.finding
    main, groups = (_find_unmeasurable(rows, part) for part in ("main", "groups"))
    return Pair(
        first=first.label,
        second=second.label,
        main=_make_contrasts(finding.main.evidence, found.main, main),
        groups=_make_contrasts(finding.groups.evidence, found.groups, groups),
        effect=_subtract_effects(rows, found.effect, main),
    )


def _find_unmeasurable(rows: Sequence[Row], part: Literal["main", "groups"]) -> Message | None:
    """Why a part of two models cannot be compared; None if it can."""
    for row in rows:
        finding: EffectFinding = getattr(row.figures.finding, part)
        if finding.verdict == "not_measurable":
            return ONE_NOT_MEASURABLE(model=row.label)
        # Models are paired by their choices as well, which are not judged here.
        if any(one.code == CHOICES_NOT_JUDGED.code for one in row.result.warnings):
            return CHOICES_FOLLOW_ORDER(model=row.label)
    return None


def _make_contrasts(
    evidence: Sequence[Evidence], found: Sequence[CrossedEstimate], fault: Message | None
) -> tuple[Contrast, ...]:
    """The differences of the figures that models are compared by, which are the first of the evidence."""
    return tuple(
        Contrast(name=DIFFERENCE(figure=figure.name), unit=figure.unit, value=None, reason=fault)
        if fault
        else Contrast(name=DIFFERENCE(figure=figure.name), unit=figure.unit, p=one.p, **one.parts())
        for figure, one in zip(evidence, found, strict=False)
    )


def _subtract_effects(rows: Sequence[Row], found: Estimate, fault: Message | None) -> Estimate:
    """The difference of two effects: undefined or unstable if either effect is."""
    if fault:
        return Estimate(None, None, None, fault)
    undefined = tuple(row.label for row in rows if row.figures.effect.value is None)
    if undefined:
        return Estimate(None, None, None, EFFECT_UNDEFINED(models=undefined))
    unstable = tuple(row.label for row in rows if row.figures.effect.unstable)
    if unstable:
        parts = {**found.parts(), "reason": EFFECT_UNSTABLE(models=unstable)}
        return Estimate(**parts, unstable=True)
    return Estimate(**found.parts())
