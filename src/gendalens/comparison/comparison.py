"""Models side by side: what may be lined up, what may not and why, and how much two of them differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

from gendalens.comparison.comparability import Comparability, comparability_of, seed_of
from gendalens.comparison.pair_findings import NOTHING_KNOWN, PairFinding, judge_difference
from gendalens.errors import UserError
from gendalens.results import saved_results
from gendalens.results.model_labels import labels
from gendalens.results.result import Contrast, Result, to_plain
from gendalens.results.saved_results import RECORDS, SavedResult
from gendalens.stats.estimate import Estimate
from gendalens.stats.multiple import holm
from gendalens.stats.paired import Clusters, Difference, differences
from gendalens.tasks import get_task
from gendalens.tasks.base import ComparedFigures, Task
from gendalens.words import Message, Template

#: With more models than this in one table the pairs are too many to read.
PAIRED_MODELS = 10

Run: TypeAlias = str | Path | SavedResult | Result

TOO_MANY_MODELS = Template(
    "compare.too_many_models",
    "{models} models are too many for differences two by two; compare {most} or fewer.",
)
NO_RECORDS = Template(
    "compare.no_records", "Differences need the records: compare run folders instead of results."
)
NO_INTERVALS = Template(
    "compare.no_intervals", "{test} has no intervals, so differences have none; use protocol 2."
)
NO_CLUSTERS = Template(
    "compare.no_clusters", "{test} has nothing to pair models by, so no difference is taken."
)
DIFFERENCE = Template("compare.difference_of", "difference of {figure}")
ONE_NOT_MEASURABLE = Template("compare.model_not_measurable", "{model} is not measurable")
EFFECT_UNDEFINED = Template("compare.effect_undefined", "GES of {models:and} is undefined")
EFFECT_UNSTABLE = Template("compare.effect_unstable", "unstable: so is GES of {models:and}")


@dataclass(frozen=True, slots=True)
class Row:
    """One model in one table: the label that tells it from the others, and its figures."""

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
            "finding": figures.finding.to_dict(),
            "verdict": str(figures.finding),
            "verdict_reason": figures.finding.reason and str(figures.finding.reason),
            "signature": self.result.signature,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The first model minus the second, on the same items."""

    first: str
    second: str
    gap: Contrast
    effect: Estimate
    finding: PairFinding = NOTHING_KNOWN

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain data."""
        return {
            "first": self.first,
            "second": self.second,
            "gap": to_plain(self.gap),
            "effect": to_plain(self.effect),
            "finding": self.finding.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Results of one test that may be lined up: same data, protocol, options and version.

    ``note`` says which figures are lined up, where that is not the headline; ``refused`` why there
    are no differences, and ``failed`` that damaged or missing records are to blame; ``apart`` why
    other results of the same test stand elsewhere.
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
        """Name and protocol."""
        return f"{self.comparability.task}@{self.comparability.protocol}"

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
    """Any number of results, in groups that may be lined up."""

    groups: tuple[Group, ...]

    def __repr__(self) -> str:
        tests = ", ".join(f"{group.test} ({len(group.rows)})" for group in self.groups)
        return f"<Comparison of results by test: {tests}>"

    @property
    def count(self) -> int:
        """How many differences there are, over which p is adjusted."""
        return sum(pair.gap.p is not None for group in self.groups for pair in group.pairs)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data."""
        return {"groups": [group.to_dict() for group in self.groups]}


def compare(*runs: Run | Iterable[Run], tasks: str | Sequence[str] | None = None) -> Comparison:
    """Set models side by side; run folders (or files in them) give differences as well.

    ``runs`` are run folders, or results as :func:`gendalens.run` returns them, which have no records
    and so no paired differences. ``tasks`` keeps some of the tests.
    """
    found = _select(_gather(runs), [tasks] if isinstance(tasks, str) else tasks)
    if not found:
        raise UserError("There is nothing to compare; name run folders.")
    # A result found twice, in two folders, is one.
    once = {one.result.signature: one for one in reversed(found)}
    found = list(reversed(once.values()))
    named = labels([one.result for one in found])
    together: dict[Comparability, list[tuple[str, _Entry]]] = {}
    for label, one in zip(named, found, strict=True):
        together.setdefault(comparability_of(one.result), []).append((label, one))
    ordered = sorted(together)
    groups = [_group(key, together[key], key.apart_from(ordered)) for key in ordered]
    return Comparison(tuple(_judge_all(groups)))


@dataclass(frozen=True, slots=True)
class _Entry:
    """A result, and where its records are, if anywhere."""

    result: Result
    saved: SavedResult | None


def _gather(runs: Iterable[Run | Iterable[Run]]) -> Iterable[_Entry]:
    for run in runs:
        if isinstance(run, str | Path):
            yield from (_Entry(one.result, one) for one in saved_results.find_results([Path(run)]))
        elif isinstance(run, SavedResult):
            yield _Entry(run.result, run)
        elif isinstance(run, Result):
            yield _Entry(run, None)
        else:
            yield from _gather(run)


def _select(entries: Iterable[_Entry], names: Sequence[str] | None) -> list[_Entry]:
    """The results of these tests, or of all."""
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


def _group(key: Comparability, found: Sequence[tuple[str, _Entry]], apart: Message | None) -> Group:
    task = get_task(key.task, key.protocol)
    count = Counter(label for label, _ in found)
    rows = [
        Row(
            # The same model twice, under two versions of NumPy for instance.
            label if count[label] == 1 else f"{label} #{one.result.key}",
            one.result,
            _find_figures(task, label, one.result),
        )
        for label, one in found
    ]
    group = Group(
        comparability=key,
        title=task.card.title,
        note=rows[0].figures.note,
        rows=tuple(rows),
        apart=apart,
    )
    if len(rows) < 2:
        return group
    if len(rows) > PAIRED_MODELS:
        return replace(group, refused=TOO_MANY_MODELS(models=len(rows), most=PAIRED_MODELS))
    saved = [one.saved for _, one in found if one.saved is not None]
    if len(saved) < len(rows):
        return replace(group, refused=NO_RECORDS())
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
    """Each model's clusters, which must be of the same items; None where the test has none."""
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
    """Every two models; one that is not measurable is named and has no difference."""
    sound = [
        place for place, row in enumerate(rows) if row.figures.finding.headline != "not_measurable"
    ]
    found = differences([clusters[place] for place in sound], seed=seed_of(rows[0].result))
    numbers = {place: number for number, place in enumerate(sound)}
    for a, b in combinations(range(len(rows)), 2):
        if a in numbers and b in numbers:
            yield _subtract(rows[a], rows[b], found[numbers[a], numbers[b]])
        else:
            unsound = next(rows[place].label for place in (a, b) if place not in numbers)
            yield _leave_open(rows[a], rows[b], ONE_NOT_MEASURABLE(model=unsound))


def _subtract(first: Row, second: Row, found: Difference) -> Pair:
    gap = first.figures.gap
    return Pair(
        first=first.label,
        second=second.label,
        gap=Contrast(
            name=DIFFERENCE(figure=gap.name), unit=gap.unit, p=found.p, **found.gap.parts()
        ),
        effect=_subtract_effects((first, second), found.effect),
    )


def _subtract_effects(rows: Sequence[Row], found: Estimate) -> Estimate:
    """The difference of effects: undefined or unstable where one of the two is."""
    undefined = tuple(row.label for row in rows if row.figures.effect.value is None)
    if undefined:
        return Estimate(None, None, None, EFFECT_UNDEFINED(models=undefined))
    unstable = tuple(row.label for row in rows if row.figures.effect.unstable)
    if unstable:
        parts = {**found.parts(), "reason": EFFECT_UNSTABLE(models=unstable)}
        return Estimate(**parts, unstable=True)
    return Estimate(**found.parts())


def _leave_open(first: Row, second: Row, reason: Message) -> Pair:
    gap = first.figures.gap
    name = DIFFERENCE(figure=gap.name)
    return Pair(
        first=first.label,
        second=second.label,
        gap=Contrast(name=name, unit=gap.unit, value=None, reason=reason),
        effect=Estimate(None, None, None, reason),
    )


def _judge_all(groups: Sequence[Group]) -> Iterable[Group]:
    """Holm over all differences of the comparison, and what each then says."""
    adjusted = holm([pair.gap.p for group in groups for pair in group.pairs])
    count = sum(p is not None for p in adjusted)
    remaining = iter(adjusted)
    for group in groups:
        pairs = [
            replace(pair, gap=replace(pair.gap, p_adjusted=next(remaining))) for pair in group.pairs
        ]
        judged = (replace(pair, finding=judge_difference(pair.gap, count)) for pair in pairs)
        yield replace(group, pairs=tuple(judged))
