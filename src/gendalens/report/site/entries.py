"""The results of a site: several people's runs, merged by signature."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gendalens.errors import UserError
from gendalens.report.gathering import Run, gather_results
from gendalens.results.model_labels import count_up
from gendalens.results.result import Result
from gendalens.results.saved_results import RECORDS, RESULT, SavedResult
from gendalens.system.file_reading import open_ordinary


@dataclass(frozen=True, slots=True)
class Copy:
    """One copy of a result: where it lies and what is in its files."""

    result: Result
    content: str
    records: str | None
    place: str

    @property
    def shown(self) -> SavedResult | Result:
        """The result, with its records if they are there."""
        folder = self.result.folder
        return (
            self.result if folder is None or not self.records else SavedResult(self.result, folder)
        )


@dataclass(frozen=True, slots=True)
class Conflict:
    """Results of one signature that are not the same, so that at most one of them can be right."""

    signature: str
    copies: tuple[Copy, ...]


@dataclass(frozen=True, slots=True)
class Entries:
    """The results that are shown, the conflicts, which are not, and how many copies were merged."""

    results: tuple[Copy, ...]
    conflicts: tuple[Conflict, ...]
    merged: int


def gather_entries(runs: Run | Iterable[Run]) -> Entries:
    """The results in these runs, in an order that does not depend on that of the runs.

    The same result twice counts once. If two results have one signature and differ in their figures or
    records, none of them is taken.
    """
    found: dict[str, list[Copy]] = {}
    for result in gather_results(runs):
        found.setdefault(result.signature, []).append(_read_copy(result))
    if not found:
        raise UserError("There is nothing to show; name run folders or results.")
    kept, conflicts, merged = [], [], 0
    for signature, copies in found.items():
        distinct = _list_distinct(copies)
        if len(distinct) > 1:
            conflicts.append(Conflict(signature, tuple(distinct)))
            continue
        kept.append(distinct[0])
        merged += len(copies) - 1
    kept.sort(key=lambda one: _order(one.result))
    conflicts.sort(key=lambda one: one.signature)
    return Entries(tuple(kept), tuple(conflicts), merged)


def _order(result: Result) -> tuple[object, ...]:
    model = result.model
    return (
        *(count_up(model.name), model.name, model.revision, model.dtype),
        *(result.task, result.protocol, result.signature),
    )


def _read_copy(result: Result) -> Copy:
    folder = result.folder
    if folder is None:
        return Copy(result, _hash(result.to_json().encode()), None, "")
    place = "/".join(folder.parts[-3:])
    return Copy(result, _hash_file(folder / RESULT) or "", _hash_file(folder / RECORDS), place)


def _list_distinct(copies: Sequence[Copy]) -> list[Copy]:
    """One copy for each content; a copy without records agrees with those that have some."""
    ordered = sorted(copies, key=lambda one: (one.content, one.records or "~", one.place))
    distinct: dict[tuple[str, str | None], Copy] = {}
    for one in ordered:
        if one.records is None and any(content == one.content for content, _ in distinct):
            continue
        distinct.setdefault((one.content, one.records), one)
    return list(distinct.values())


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _hash_file(path: Path) -> str | None:
    """The SHA-256 of a file; None if there is none."""
    if not path.is_file():
        return None
    with open_ordinary(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
