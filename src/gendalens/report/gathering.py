"""Results by whatever names them: run folders, results, or several of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from gendalens.results.result import Result
from gendalens.results.saved_results import SavedResult, find_results

Run: TypeAlias = str | Path | Result


def gather_results(runs: Run | Iterable[Run]) -> Iterator[Result]:
    """The results, with their folders if they are on disk."""
    if isinstance(runs, str | Path):
        for saved in find_results([Path(runs)]):
            yield locate(saved.result, saved.folder)
    elif isinstance(runs, Result):
        yield runs
    else:
        for run in runs:
            yield from gather_results(run)


def locate(result: Result, folder: Path | None) -> Result:
    """A result with its folder, which stays the same if the working directory changes."""
    return replace(result, folder=folder and folder.absolute())


def find_records(result: Result) -> SavedResult | Result:
    """A result with its records, if it is on disk."""
    return SavedResult(result, result.folder) if result.folder else result
