"""``gendalens report`` and ``gendalens plot``: the report of a run, and its charts as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from gendalens.errors import UserError
from gendalens.report.html.after_run import REPORT
from gendalens.report.terminal.console import PlainConsole
from gendalens.results.run_folder import check_writable
from gendalens.results.saved_results import find_results
from gendalens.system.file_writing import replace_file
from gendalens.words import current_language, say


def write_page(runs: Sequence[Path], out: Path | None) -> None:
    """Write the report and print its path."""
    from gendalens.report.html.run_page import write

    found = find_results(runs)
    place = runs[0] if runs[0].is_dir() else runs[0].parent
    path = out or place / REPORT
    write(found, path, typed=out is not None)
    _print(say("report"), path)


def write_charts(runs: Sequence[Path], out: Path, kind: str) -> None:
    """Write every chart of the report to a file, named by model, test and chart."""
    from gendalens.report.exports.chart_files import check_format, draw_files, list_files

    check_format(kind)
    files = list_files(find_results(runs))
    check_writable(out)
    for name, picture in draw_files(files, kind, current_language()):
        path = out / name
        try:
            replace_file(path, picture)
        except OSError as error:
            raise UserError(
                "The chart cannot be written to {path} ({reason}); choose another folder with -o.",
                path=str(path),
                reason=str(error.strerror),
            ) from None
        _print(say("chart"), path)


def _print(what: str, path: Path) -> None:
    PlainConsole(stderr=True).print(Text(f"{what:<7} {path}"), soft_wrap=True)
