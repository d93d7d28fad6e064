"""``gendalens site``: a static site of results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from gendalens.cli.first_sign import find_status_line
from gendalens.errors import FailuresError
from gendalens.report.site.build import build_site
from gendalens.report.terminal.console import PlainConsole
from gendalens.words import say


def make_site(runs: Sequence[Path], out: Path) -> None:
    """Build the site and print what it holds; contradicting results end in exit code 2."""
    line = find_status_line()
    line.show(say("building the site"))
    try:
        built = build_site(runs, out)
    finally:
        line.stop()
    console = PlainConsole(stderr=True)

    def tell(sentence: str) -> None:
        console.print(Text(sentence), soft_wrap=True)

    tell(
        say(
            "{page}: {models} models, {results} results, {files} files, {size:.1f} MB",
            page=str(built.index),
            models=built.models,
            results=built.results,
            files=built.files,
            size=built.bytes / 1e6,
        )
    )
    if built.merged:
        tell(
            say(
                "Copies of results that were merged by signature: {merged}",
                merged=built.merged,
            )
        )
    if not built.has_parquet:
        tell(say("There is no Parquet file: install pyarrow for one (`pip install pyarrow`)."))
    if built.conflicts:
        raise FailuresError(
            say(
                "Left out, because they have the same signature and different contents: {places}.",
                places=tuple(one.place or "–" for one in conflict.copies),
            )
            for conflict in built.conflicts
        )
