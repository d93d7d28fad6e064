"""``gendalens data``: the data sets, where they are, and their known defects."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from gendalens.data import errata, registry
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


def list_errata(name: str | None) -> None:
    """Print every known defect with its location, reason and fix."""
    sets = [registry.find_set(name).name] if name else list(registry.SETS)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    headings = (say("set"), say("file"), say("lines"), say("as published"), say("fix"))
    for heading in (*headings, say("reason")):
        table.add_column(heading, overflow="fold")
    for entry in (entry for one in sets for entry in errata.find_errata(one)):
        lines = ", ".join(map(str, entry.lines)) or say("everywhere")
        table.add_row(
            entry.data, entry.condition, lines, Text(entry.old), Text(entry.new), Text(entry.reason)
        )
    console = PlainConsole()
    console.print(table)
    console.print(say("Applied in protocol 2, never in protocol 1."))
    if "abc" in sets:
        console.print(say("abc: one template occurs twice; each of its 60 triples is read once."))
