"""Labels for models that are distinct even if two models share a name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from gendalens.results.result import Result

SHORTEST = 7  # characters of a revision, as in git


def label_models(results: Sequence[Result]) -> list[str]:
    """A label per result: the model's name, with a suffix if several models share it.

    The suffix is the start of the revision, then the dtype.
    """
    labels = [result.title for result in results]
    for describe in (_shorten_revision, _dtype):
        labels = _disambiguate(results, labels, describe)
    return labels


def count_up(label: str) -> list[tuple[int, str]]:
    """A key by which labels are sorted as people count.

    >>> sorted(["model 10", "model 9"], key=count_up)
    ['model 9', 'model 10']
    """
    parts = re.split(r"([0-9]{1,18})", label.lower())
    return [(int(part), "") if i % 2 else (0, part) for i, part in enumerate(parts)]


def _disambiguate(
    results: Sequence[Result],
    labels: Sequence[str],
    describe: Callable[[Result, Sequence[Result]], str],
) -> list[str]:
    """The labels, with a suffix from ``describe`` wherever it distinguishes equal ones."""
    distinct = []
    for label, result in zip(labels, results, strict=True):
        same = [r for other, r in zip(labels, results, strict=True) if other == label]
        suffixes = {describe(other, same) for other in same}
        distinct.append(f"{label} @{describe(result, same)}" if len(suffixes) > 1 else label)
    return distinct


def _shorten_revision(result: Result, same: Sequence[Result]) -> str:
    revisions = {str(other.model.revision) for other in same}
    if len(revisions) == 1:
        return ""
    length = SHORTEST
    while len({revision[:length] for revision in revisions}) < len(revisions):
        length += 1
    return str(result.model.revision)[:length]


def _dtype(result: Result, same: Sequence[Result]) -> str:
    return str(result.model.dtype)
