"""The report of results that a program holds, or of a run folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gendalens.errors import UserError
from gendalens.report.gathering import Run, find_records, gather_results
from gendalens.report.html.after_run import REPORT
from gendalens.report.html.run_page import write


def write_page(runs: Run | Iterable[Run], path: str | Path | None = None) -> Path:
    """Write the report; give its path."""
    found = list(map(find_records, gather_results(runs)))
    if not found:
        raise UserError("There is nothing to report; name a run folder or results.")
    place = _find_place(runs) if path is None else Path(path)
    write(found, place, typed=path is not None)
    return place


def _find_place(runs: Run | Iterable[Run]) -> Path:
    """The place of a run folder's own report; results may be a part of a run, so they have none."""
    if isinstance(runs, str | Path):
        folder = Path(runs)
        return (folder if folder.is_dir() else folder.parent) / REPORT
    raise UserError(
        'Name a file for the report of these results, as in report(results, "report.html").'
    )
