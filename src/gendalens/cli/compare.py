"""``gendalens compare``: a comparison of models."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.text import Text

from gendalens.cli.show import choose_format
from gendalens.comparison.comparison import compare
from gendalens.errors import FailuresError
from gendalens.report.escape import as_json
from gendalens.report.exports.comparison_tables import long_table, short_tables
from gendalens.report.exports.latex_tables import to_latex
from gendalens.report.exports.tables import to_csv, to_markdown
from gendalens.report.html import comparison_page
from gendalens.report.terminal import comparison as comparison_terminal
from gendalens.report.terminal.console import PlainConsole
from gendalens.words import say, write

FORMATS = {
    "json": lambda comparison: as_json(comparison.to_dict()),
    "csv": lambda comparison: to_csv(long_table(comparison)),
    "markdown": lambda comparison: to_markdown(short_tables(comparison)),
    "latex": lambda comparison: to_latex(short_tables(comparison)),
}


def compare_runs(
    paths: Sequence[Path],
    tasks: Sequence[str] | None,
    wanted: Mapping[str, bool],
    page: Path | None,
) -> None:
    """Print the comparison, as text or in the requested format, and write the page if one is named."""
    name = choose_format(wanted)
    comparison = compare(*paths, tasks=tasks)
    if name is not None:
        sys.stdout.write(FORMATS[name](comparison))
    else:
        comparison_terminal.show(PlainConsole(), comparison)
    if page is not None:
        comparison_page.write(comparison, page)
        PlainConsole(stderr=True).print(
            Text(say("The comparison is in {page}", page=str(page))), soft_wrap=True
        )
    failures = dict.fromkeys(
        write(group.refused) for group in comparison.groups if group.failed and group.refused
    )
    if failures:
        raise FailuresError(failures)
