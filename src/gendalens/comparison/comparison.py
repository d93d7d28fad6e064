"""Comparisons of models: which results are comparable, and how much any two models differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from gendalens.comparison.comparability import Comparability, get_comparability
from gendalens.comparison.frames import frame_differences
from gendalens.comparison.groups import Group, Pair, Row
from gendalens.comparison.pair_findings import judge_differences
from gendalens.comparison.pairing import pair_group
from gendalens.errors import UserError
from gendalens.results import saved_results
from gendalens.results.model_labels import label_models
from gendalens.results.result import Result
from gendalens.results.saved_results import SavedResult
from gendalens.stats.multiple import holm
from gendalens.tasks import get_task
from gendalens.tasks.base import ComparedFigures, Task
from gendalens.words import Message

if TYPE_CHECKING:
    import pandas as pd

Run: TypeAlias = str | Path | SavedResult | Result


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
    return _judge_all(Comparison(tuple(map(pair_group, *_group(found)))))


def line_up(*runs: Run | Iterable[Run]) -> Comparison:
    """The results in groups of comparable ones, without differences between models."""
    groups, _ = _group(list(_gather(runs)))
    return Comparison(tuple(groups))


def _group(found: Sequence[_Entry]) -> tuple[list[Group], list[list[SavedResult | None]]]:
    """Groups of comparable results, in order, with the saved results of each."""
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
    return groups, [[one.saved for _, one in together[key]] for key in ordered]


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
