"""The report that every run writes beside its results."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gendalens.errors import UserError
from gendalens.results.saved_results import load_result

REPORT = "report.html"


def write_report(out: Path, folders: Iterable[Path | None]) -> Path | None:
    """Write the report on these results to the run folder; None if none of them is on disk.

    Any failure becomes a user error, because the results are already on disk.
    """
    written = [folder for folder in folders if folder is not None]
    if not written:
        return None
    path = out / REPORT
    try:
        from gendalens.report.html.run_page import write

        write([load_result(folder) for folder in written], path)
    except Exception as error:
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise UserError(
            "The results are kept, but their report was not written: {reason}; try "
            "`gendalens report {folder}`.",
            reason=reason.rstrip("."),
            folder=str(out),
        ) from error
    return path
