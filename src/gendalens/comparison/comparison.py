"""Comparisons of models: which results are comparable, and how much any two models differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gendalens.comparison.comparability import Comparability, get_comparability, get_seed
from gendalens.comparison.frames import frame_differences
from gendalens.comparison.pair_findings import NOTHING_KNOWN, PairFinding, judge_differences
from gendalens.errors import UserError
from gendalens.results import saved_results
from gendalens.results.model_labels import label_models
from gendalens.results.result import Contrast, Result, to_plain
from gendalens.results.saved_results import RECORDS, SavedResult
from gendalens.stats.crossed import CrossedEstimate
from gendalens.stats.estimate import Estimate
from gendalens.stats.evidence import Evidence
from gendalens.stats.findings import EffectFinding
from gendalens.stats.multiple import holm
from gendalens.stats.paired import Clusters, Difference, differences
from gendalens.tasks import get_task
from gendalens.tasks.base import ComparedFigures, Task
from gendalens.words import Message, Template

if TYPE_CHECKING:
    import pandas as pd

#: With more models than this, there are too many pairs to read.
PAIRED_MODELS = 40

Run: TypeAlias = str | Path | SavedResult | Result

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
EFFECT_UNDEFINED = Template("compare.effect_undefined", "GES of {models:and} is undefined")
EFFECT_UNSTABLE = Template("compare.effect_unstable", "unstable: so is GES of {models:and}")


@dataclass(frozen=True, slots=True)
class Row:
    """One model of a group: its distinct label and its figures."""

    label: str
    result: Result
    figures: ComparedFigures

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        figures = self.figures
        return {
            "label": self.label,
            "model": self.result.model.to_dict(),
            "gender_effect_size": to_plain(figures.effect.parts()),
            "gap": to_plain(figures.gap),
            "contrast": to_plain(figures.contrast),
            "finding": figures.finding.to_dict(),
            "verdict": str(figures.finding),
            "verdict_reason": figures.finding.reason and str(figures.finding.reason),
            "signature": self.result.signature,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The first model minus the second, on the same items.

    ``main`` and ``groups`` are the differences of the figures that a test is judged on, in the order
    of its evidence.
    """

    first: str
    second: str
    main: tuple[Contrast, ...]
    groups: tuple[Contrast, ...]
    effect: Estimate
    finding: PairFinding = NOTHING_KNOWN

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain data."""
        return {
            "first": self.first,
            "second": self.second,
            "main": to_plain(self.main),
            "groups": to_plain(self.groups),
            "effect": to_plain(self.effect),
            "finding": self.finding.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Comparable results of one test: same data, protocol, options and version.

    ``note`` says which figures are compared, if not the headline. ``refused`` says why there are no
    differences, and ``failed`` is set if damaged or missing records are the cause. ``apart`` says why
    other results of the same test are in another group.
    """

    comparability: Comparability
    title: str
    rows: tuple[Row, ...]
    note: Message | None = None
    pairs: tuple[Pair, ...] = ()
    refused: Message | None = None
    failed: bool = False
    apart: Message | None = None

    @property
    def test(self) -> str:
        """The test's name and protocol, such as ``lm-abc@2``."""
        return f"{self.comparability.task}@{self.comparability.protocol}"

    def find_row(self, label: str) -> Row:
        """The model with this label."""
        return next(row for row in self.rows if row.label == label)

    def to_dict(self) -> dict[str, Any]:
        """The group as plain data."""
        return {
            "task": self.comparability.task,
            "protocol": self.comparability.protocol,
            "title": self.title,
            "reading": to_plain(self.note),
            "setting": self.comparability.to_dict(),
            "apart": to_plain(self.apart),
            "models": [row.to_dict() for row in self.rows],
            "differences": [pair.to_dict() for pair in self.pairs],
            "differences_refused": to_plain(self.refused),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Any number of results, in groups of comparable ones."""

    groups: tuple[Group, ...]

    def __repr__(self) -> str:
        tests = ", ".join(f"{group.test} ({len(group.rows)})" for group in self.groups)
        return f"<Comparison of results by test: {tests}>"

    @property
    def differences(self) -> int:
        """The number of differences with a p, for which each is adjusted (Holm)."""
        pairs = (pair for group in self.groups for pair in group.pairs)
        return sum(one.p is not None for pair in pairs for one in (*pair.main, *pair.groups))

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data."""
        return {"groups": [group.to_dict() for group in self.groups]}

    def to_frame(self) -> pd.DataFrame:
        """The differences as a data frame with a row each, unrounded, and texts in English.

        Numbers are numbers, and what is undefined is missing. The columns:

        ``task``, ``protocol``, ``reading``
            The test, and the reading that is compared, if not the headline.
        ``first``, ``second``
            The two models; a difference is the first minus the second, on the same items.
        ``part``
            What is compared: ``main`` and ``groups``, the figures that the test is judged on, or
            ``effect``, the gender effect size.
        ``figure``, ``name``, ``unit``
            The figure's id, the difference in words, and its unit.
        ``value``, ``low``, ``high``, ``p``, ``p_adjusted``
            The difference with its 95% interval and its p-value, alone and corrected for all
            differences of the comparison.
        ``differs``, ``reason``
            Whether the models differ in this figure; why it is undefined.
        ``main``, ``groups``, ``verdict``
            The finding on the two models: which of them leans further in the main effect, whether they
            differ in groups, and both in words.
        """
        return frame_differences(self.groups)


def compare(*runs: Run | Iterable[Run], tasks: str | Sequence[str] | None = None) -> Comparison:
    """Compare models; if their records are on disk, also by paired differences.

    ``runs`` are run folders (or files in them) or results. ``tasks`` restricts the comparison to some
    tests.
    """
    found = _select(_gather(runs), [tasks] if isinstance(tasks, str) else tasks)
    return _judge_all(Comparison(tuple(map(_pair_group, *_group(found)))))


def line_up(*runs: Run | Iterable[Run]) -> Comparison:
    """The results in groups of comparable ones, without differences between models."""
    groups, _ = _group(list(_gather(runs)))
    return Comparison(tuple(groups))


def _group(found: Sequence[_Entry]) -> tuple[list[Group], list[list[_Entry]]]:
    """Groups of comparable results, in order, with the entries of each."""
    if not found:
        raise UserError("There is nothing to compare; name run folders.")
    # The same result may be in two folders; keep the first.
    once = {one.result.signature: one for one in reversed(found)}
    found = list(reversed(once.values()))
    named = label_models([one.result for one in found])
    together: dict[Comparability, list[tuple[str, _Entry]]] = {}
    for label, one in zip(named, found, strict=True):
        together.setdefault(get_comparability(one.result), []).append((label, one))
    ordered = sorted(together)
    groups = [_make_group(key, together[key], key.explain_separation(ordered)) for key in ordered]
    return groups, [[one for _, one in together[key]] for key in ordered]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A result and, if it is on disk, where its records are."""

    result: Result
    saved: SavedResult | None


def _gather(runs: Iterable[Run | Iterable[Run]]) -> Iterable[_Entry]:
    for run in runs:
        if isinstance(run, str | Path):
            yield from (_Entry(one.result, one) for one in saved_results.find_results([Path(run)]))
        elif isinstance(run, SavedResult):
            yield _Entry(run.result, run)
        elif isinstance(run, Result):
            yield _Entry(run, SavedResult(run, run.folder) if run.folder else None)
        else:
            yield from _gather(run)


def _select(entries: Iterable[_Entry], names: Sequence[str] | None) -> list[_Entry]:
    """The results of the named tests, or all."""
    found = list(entries)
    if names is None:
        return found
    known = sorted({one.result.task for one in found})
    if missing := [name for name in names if name not in known]:
        raise UserError(
            "The runs hold no result of {name}; they hold {known}.",
            name=repr(missing[0]),
            known=tuple(known),
        )
    return [one for one in found if one.result.task in names]


def _make_group(
    key: Comparability, found: Sequence[tuple[str, _Entry]], apart: Message | None
) -> Group:
    task = get_task(key.task, key.protocol)
    count = Counter(label for label, _ in found)
    rows = [
        Row(
            # The same model can occur twice, for instance with two versions of NumPy.
            label if count[label] == 1 else f"{label} #{one.result.key}",
            one.result,
            _find_figures(task, label, one.result),
        )
        for label, one in found
    ]
    return Group(
        comparability=key,
        title=task.card.title,
        note=rows[0].figures.note,
        rows=tuple(rows),
        apart=apart,
    )


def _pair_group(group: Group, found: Sequence[_Entry]) -> Group:
    """The group with the differences of its models, or the reason why there are none."""
    key, rows = group.comparability, group.rows
    if len(rows) < 2:
        return group
    if len(rows) > PAIRED_MODELS:
        return replace(group, refused=TOO_MANY_MODELS(models=len(rows), most=PAIRED_MODELS))
    saved = [one.saved for one in found if one.saved is not None]
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


def _find_figures(task: Task[Any], label: str, result: Result) -> ComparedFigures:
    try:
        return task.compared_figures(result)
    except (KeyError, StopIteration):
        raise UserError(
            "The result of {model} in {test} lacks figures by which models are compared: run the "
            "test again.",
            model=label,
            test=task.card.id,
        ) from None


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


def _judge_all(comparison: Comparison) -> Comparison:
    """The comparison with adjusted p, and a finding for each pair of models.

    Holm's correction over all differences, of main effects and of groups, bounds the chance that two
    models which are alike are told apart.
    """
    pairs = [pair for group in comparison.groups for pair in group.pairs]
    adjusted = iter(holm([one.p for pair in pairs for one in (*pair.main, *pair.groups)]))
    differences = comparison.differences

    def judge(pair: Pair) -> Pair:
        of_main, of_groups = (
            tuple(replace(one, p_adjusted=next(adjusted)) for one in part)
            for part in (pair.main, pair.groups)
        )
        finding = judge_differences(of_main, of_groups, differences=differences)
        return replace(pair, main=of_main, groups=of_groups, finding=finding)

    return Comparison(
        tuple(replace(group, pairs=tuple(map(judge, group.pairs))) for group in comparison.groups)
    )
