"""``gendalens data``: the sets, where they are, and what is wrong in them."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from gendalens.data import errata, registry
from gendalens.data.home import home
from gendalens.report.terminal.console import PlainConsole


def list_sets() -> None:
    """One line a set."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("set", "state", "source", "checksum", "holds"):
        table.add_column(heading, overflow="fold")
    for status in (*registry.status(), *registry.builtin_status()):
        table.add_row(status.name, status.state, status.source, status.checksum, Text(status.holds))
    console = PlainConsole()
    console.print(table)
    console.print(Text(f"kept in {home() / 'data'}", style="dim"), soft_wrap=True)
    console.print(Text("Built-in sets are read only with `--data builtin`.", style="dim"))


def pull_sets(names: list[str]) -> None:
    """Fetch, check and store."""
    console = PlainConsole()
    for name in names or list(registry.SETS):
        folder = registry.pull(name)
        console.print(Text(f"{name}: {folder}"), soft_wrap=True)


def list_errata(name: str | None) -> None:
    """Every known defect with its place, reason and fix."""
    sets = [registry.find(name).name] if name else list(registry.SETS)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("set", "file", "lines", "as published", "fix", "reason"):
        table.add_column(heading, overflow="fold")
    for entry in (entry for one in sets for entry in errata.entries(one)):
        lines = ", ".join(map(str, entry.lines)) or "everywhere"
        table.add_row(
            entry.data, entry.condition, lines, Text(entry.old), Text(entry.new), Text(entry.reason)
        )
    console = PlainConsole()
    console.print(table)
    console.print("Applied in protocol 2, never in protocol 1.")
    if "abc" in sets:
        console.print("abc: one template stands twice; each of its 60 triples is read once.")
