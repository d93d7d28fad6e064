"""Models side by side: what may be lined up, what may not and why, and how much two of them differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

from gendalens.comparison.comparability import Setting, seed, setting
from gendalens.errors import UserError
from gendalens.results import saved_results
from gendalens.results.model_labels import labels
from gendalens.results.result import Contrast, Result
from gendalens.results.saved_results import RECORDS, Saved
from gendalens.stats.estimate import Estimate
from gendalens.stats.findings import LEVEL, ROUNDING
from gendalens.stats.multiple import holm
from gendalens.stats.paired import Clusters, Difference, differences
from gendalens.tasks import get_task
from gendalens.tasks.base import Compared, Task

#: With more models than this in one table the pairs are too many to read.
PAIRED_MODELS = 10

Run: TypeAlias = str | Path | Saved | Result


@dataclass(frozen=True, slots=True)
class Row:
    """One model in one table: the label that tells it from the others, and its figures."""

    label: str
    result: Result
    figures: Compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The first model minus the second, on the same items."""

    first: str
    second: str
    gap: Contrast
    effect: Estimate
    finding: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Results of one test that may be lined up: same data, protocol, options and version."""

    setting: Setting
    title: str
    reading: str
    rows: tuple[Row, ...]
    pairs: tuple[Pair, ...] = ()
    refused: str | None = None
    failed: bool = False  # refused because of damaged or missing records
    apart: str | None = None

    @property
    def test(self) -> str:
        """Name and protocol."""
        return f"{self.setting.task}@{self.setting.protocol}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Any number of results, in groups that may be lined up."""

    groups: tuple[Group, ...]

    def __repr__(self) -> str:
        tests = ", ".join(f"{group.test} ({len(group.rows)})" for group in self.groups)
        return f"<Comparison of results by test: {tests}>"

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data."""
        return {
            "groups": [
                {
                    "task": group.setting.task,
                    "protocol": group.setting.protocol,
                    "title": group.title,
                    "reading": group.reading or None,
                    "setting": group.setting.to_dict(),
                    "apart": group.apart,
                    "models": [_row(row) for row in group.rows],
                    "differences": [asdict(pair) for pair in group.pairs],
                    "differences_refused": group.refused,
                }
                for group in self.groups
            ]
        }


def compare(*runs: Run | Iterable[Run], tasks: str | Sequence[str] | None = None) -> Comparison:
    """Set models side by side; run folders (or files in them) give differences as well.

    ``runs`` are run folders, or results as :func:`gendalens.run` returns them, which have no records
    and so no paired differences. ``tasks`` keeps some of the tests.
    """
    found = list(_found(runs))
    names = [tasks] if isinstance(tasks, str) else tasks
    if names is not None:
        held = sorted({one.result.task for one in found})
        if missing := [name for name in names if name not in held]:
            raise UserError(
                f"The runs hold no result of {missing[0]!r}; they hold {', '.join(held)}."
            )
        found = [one for one in found if one.result.task in names]
    if not found:
        raise UserError("There is nothing to compare; name run folders.")
    # A result found twice, in two folders, is one.
    once = {one.result.signature: one for one in reversed(found)}
    found = list(reversed(once.values()))
    named = labels([one.result for one in found])
    by_setting: dict[Setting, list[tuple[str, _Found]]] = {}
    for label, one in zip(named, found, strict=True):
        by_setting.setdefault(setting(one.result), []).append((label, one))
    ordered = sorted(by_setting)
    groups = [_group(key, by_setting[key], key.apart_from(ordered)) for key in ordered]
    return Comparison(tuple(_corrected(groups)))


@dataclass(frozen=True, slots=True)
class _Found:
    """A result, and where its records are, if anywhere."""

    result: Result
    saved: Saved | None


def _found(runs: Iterable[Run | Iterable[Run]]) -> Iterable[_Found]:
    for run in runs:
        if isinstance(run, str | Path):
            yield from (_Found(one.result, one) for one in saved_results.find([Path(run)]))
        elif isinstance(run, Saved):
            yield _Found(run.result, run)
        elif isinstance(run, Result):
            yield _Found(run, None)
        else:
            yield from _found(run)


def _group(key: Setting, found: Sequence[tuple[str, _Found]], apart: str | None) -> Group:
    task = get_task(key.task, key.protocol)
    count = Counter(label for label, _ in found)
    rows = [
        Row(
            # The same model twice, under two versions of NumPy for instance.
            label if count[label] == 1 else f"{label} #{one.result.key}",
            one.result,
            _figures(task, label, one.result),
        )
        for label, one in found
    ]
    group = Group(
        setting=key,
        title=task.card.title,
        reading=rows[0].figures.reading,
        rows=tuple(rows),
        apart=apart,
    )
    if len(rows) < 2:
        return group
    if len(rows) > PAIRED_MODELS:
        refused = (
            f"{len(rows)} models are too many for differences two by two; compare {PAIRED_MODELS} "
            "or fewer."
        )
        return replace(group, refused=refused)
    if any(one.saved is None for _, one in found):
        refused = "Differences need the records: compare run folders instead of results."
        return replace(group, refused=refused)
    try:
        return replace(group, pairs=tuple(_pairs(key, rows, [one.saved for _, one in found])))
    except UserError as error:
        return replace(group, refused=str(error), failed=True)


def _figures(task: Task[Any], label: str, result: Result) -> Compared:
    try:
        return task.compared(result)
    except KeyError as error:
        raise UserError(
            f"The result of {label} in {task.card.id} lacks {error}, by which models are compared:"
            " run the test again."
        ) from None


def _pairs(key: Setting, rows: Sequence[Row], files: Sequence[Saved | None]) -> Iterable[Pair]:
    """Every two models; one that is not measurable is named and has no difference."""
    task = get_task(key.task, key.protocol)
    sound = [
        i for i, row in enumerate(rows) if not row.figures.verdict.startswith("not measurable")
    ]
    clusters = [_clusters(task, one) for one in files if one is not None]
    if any(one.names != clusters[0].names for one in clusters):
        raise UserError(
            f"The records of {key.task} do not hold the same items, so nothing is paired; run the "
            "models again with this version."
        )
    found = differences([clusters[i] for i in sound], seed=seed(rows[0].result))
    places = {place: n for n, place in enumerate(sound)}
    for a, b in combinations(range(len(rows)), 2):
        if a in places and b in places:
            yield _pair(rows[a], rows[b], found[places[a], places[b]])
        else:
            unsound = next(rows[place].label for place in (a, b) if place not in places)
            yield _no_pair(rows[a], rows[b], f"{unsound} is not measurable")


def _clusters(task: Task[Any], one: Saved) -> Clusters:
    try:
        return task.paired(one.records())
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{one.folder / RECORDS} does not hold records of {task.card.id} "
            f"({type(error).__name__}): run the test again."
        ) from None


def _pair(first: Row, second: Row, found: Difference) -> Pair:
    undefined = [row.label for row in (first, second) if row.figures.effect.value is None]
    shaky = [
        row.label
        for row in (first, second)
        if row.figures.effect.reason and row.figures.effect.reason.startswith("unstable")
    ]
    value, low, high, reason = found.effect.parts().values()
    if undefined:
        value, low, high = None, None, None
        reason = f"GES of {' and of '.join(undefined)} is undefined"
    elif shaky:
        reason = f"unstable: so is GES of {' and of '.join(shaky)}"
    return Pair(
        first=first.label,
        second=second.label,
        gap=Contrast(
            name=f"difference of {first.figures.gap.name}",
            unit=first.figures.gap.unit,
            p=found.p,
            **found.gap.parts(),
        ),
        effect=Estimate(value, low, high, reason),
        finding="",
    )


def _no_pair(first: Row, second: Row, reason: str) -> Pair:
    gap = first.figures.gap
    return Pair(
        first=first.label,
        second=second.label,
        gap=Contrast(name=f"difference of {gap.name}", unit=gap.unit, value=None, reason=reason),
        effect=Estimate(None, None, None, reason),
        finding="",
    )


def _corrected(groups: Sequence[Group]) -> Iterable[Group]:
    """Holm over all differences of the comparison, and what each then says."""
    adjusted = holm([pair.gap.p for group in groups for pair in group.pairs])
    tests = sum(p is not None for p in adjusted)
    left = iter(adjusted)
    for group in groups:
        pairs = [
            replace(pair, gap=replace(pair.gap, p_adjusted=next(left))) for pair in group.pairs
        ]
        yield replace(
            group, pairs=tuple(replace(pair, finding=_finding(pair.gap, tests)) for pair in pairs)
        )


def _finding(gap: Contrast, tests: int) -> str:
    if gap.low is None or gap.high is None:
        return "cannot be told"
    if gap.low <= ROUNDING and gap.high >= -ROUNDING:
        return "cannot be told apart"
    which = "first" if gap.low > 0 else "second"
    found = f"the {which} leans further to the male or pro-stereotypical side"
    if gap.p_adjusted is None or gap.p_adjusted < LEVEL:
        return found
    after = (
        f"not after correction for {tests} differences" if tests > 1 else "its p is not below .05"
    )
    return f"{found}, but {after}"


def _row(row: Row) -> dict[str, Any]:
    result = row.result
    return {
        "label": row.label,
        "model": dict(result.model),
        "gender_effect_size": row.figures.effect.parts(),
        "gap": asdict(row.figures.gap),
        "verdict": row.figures.verdict,
        "verdict_reason": row.figures.reason,
        "signature": result.signature,
    }
