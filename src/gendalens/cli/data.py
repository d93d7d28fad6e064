"""``gendalens data``: the data sets, where they are, and their known defects."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable

from rich import box
from rich.table import Table
from rich.text import Text

from gendalens.data import errata, registry
from gendalens.data.errata import Erratum
from gendalens.data.home import find_home
from gendalens.report.terminal.console import PlainConsole
from gendalens.words import say, translate


def list_sets() -> None:
    """Print one line per set."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in (say("set"), say("state"), say("source"), say("checksum"), say("holds")):
        table.add_column(heading, overflow="fold")
    for status in (*registry.list_official_sets(), *registry.list_builtin_sets()):
        holds = Text(translate(status.holds))
        table.add_row(status.name, translate(status.state), status.source, status.checksum, holds)
    console = PlainConsole()
    console.print(table)
    console.print(
        Text(say("stored in {folder}", folder=str(find_home() / "data")), style="dim"),
        soft_wrap=True,
    )
    console.print(Text(say("Built-in sets are read only with `--data builtin`."), style="dim"))


def pull_sets(names: list[str]) -> None:
    """Fetch, verify and store data sets; all of them if none is named."""
    console = PlainConsole()
    for name in names or list(registry.SETS):
        folder = registry.pull(name)
        console.print(Text(f"{name}: {folder}"), soft_wrap=True)


def list_errata(name: str | None, severity: str | None, *, as_csv: bool = False) -> None:
    """Print the known defects with their location, the published words, the fix and the reason."""
    sets = [registry.find_set(name).name] if name else list(registry.SETS)
    found = [entry for one in sets for entry in errata.find_errata(one, severity)]
    if as_csv:
        _print_csv(found)
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in (say("set"), say("severity")):
        table.add_column(heading, no_wrap=True)
    headings = (say("file"), say("lines"), say("as published"), say("fix"), say("reason"))
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for entry in found:
        lines = ", ".join(map(str, entry.lines)) or say("everywhere")
        place = (entry.data, translate(entry.severity), entry.condition, lines)
        table.add_row(*place, Text(entry.old), Text(entry.new), Text(entry.reason))
    console = PlainConsole()
    console.print(table)
    console.print(say("Applied in protocol 2, never in protocol 1."))
    if "abc" in sets:
        console.print(say("abc: one template occurs twice; each of its 60 triples is read once."))


def _print_csv(entries: Iterable[Erratum]) -> None:
    """The entries as CSV, word for word: spaces are part of what was published."""
    writer = csv.DictWriter(sys.stdout, errata.COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(entry.to_row() for entry in entries)
