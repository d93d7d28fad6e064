"""Names that tell models apart, also two of one name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gendalens.results.result import Result

SHORTEST = 7  # characters of a revision, as git shows it


def labels(results: Sequence[Result]) -> list[str]:
    """A label per result: the model's name, and as much more as it takes.

    Two models of one name are told apart by the start of their revision, then by their dtype.
    """
    named = [result.title for result in results]
    for tell in (_revision, _dtype):
        named = _told_apart(results, named, tell)
    return named


def _told_apart(
    results: Sequence[Result], named: Sequence[str], tell: Callable[[Result, Sequence[Result]], str]
) -> list[str]:
    found = []
    for label, result in zip(named, results, strict=True):
        same = [r for other, r in zip(named, results, strict=True) if other == label]
        words = {tell(other, same) for other in same}
        found.append(f"{label} @{tell(result, same)}" if len(words) > 1 else label)
    return found


def _revision(result: Result, same: Sequence[Result]) -> str:
    revisions = {str(other.model.revision) for other in same}
    if len(revisions) == 1:
        return ""
    length = SHORTEST
    while len({revision[:length] for revision in revisions}) < len(revisions):
        length += 1
    return str(result.model.revision)[:length]


def _dtype(result: Result, same: Sequence[Result]) -> str:
    return str(result.model.dtype)
