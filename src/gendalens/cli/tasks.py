"""``gendalens tasks``: what the tests are, in words."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from gendalens.report.terminal.console import PlainConsole
from gendalens.tasks import all_tasks, get_task
from gendalens.tasks.base import HARMS, SOURCES


def list_tasks() -> None:
    """One line a test."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("test", "protocol", "what it asks", "headline"):
        table.add_column(heading, overflow="fold")
    for (name, protocol), task in sorted(all_tasks().items(), key=lambda t: (-t[0][1], t[0][0])):
        table.add_row(name, str(protocol), Text(task.card.title), Text(task.card.formula))
    console = PlainConsole()
    console.print(table)
    console.print("gendalens tasks NAME describes one in full.")


def describe(name: str, protocol: int) -> None:
    """Idea, data, formula, harms and sources, definitions, limits, citation."""
    whole = {task.card.id: key for key, task in all_tasks().items()}  # lm-abc@1, as results say
    card = get_task(*whole.get(name, (name, protocol))).card
    console = PlainConsole()
    console.rule(Text(f"{card.id} · {card.title}", style="bold"), align="left")
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    rows = [
        ("idea", card.idea),
        ("data", ", ".join(card.data)),
        ("formula", card.formula),
        ("reading", card.reading),
        ("main effect", f"harm: {card.main.harm}; may come from: {card.main.source}"),
        ("nuance", f"harm: {card.nuance.harm}; may come from: {card.nuance.source}"),
        ("needs", f"a model that answers {' and '.join(sorted(card.needs))}"),
    ]
    if card.supersedes:
        rows.append(("supersedes", card.supersedes))
    for label, text in rows:
        grid.add_row(label, Text(text))
    console.print(grid)
    used = {card.main.harm, card.main.source, card.nuance.harm, card.nuance.source}
    meanings = {**HARMS, **SOURCES}
    definitions = Table.grid(padding=(0, 2))
    definitions.add_column(style="bold", width=22)
    definitions.add_column(overflow="fold")
    for term, text in (*card.definitions, *((w, meanings[w]) for w in sorted(used))):
        definitions.add_row(Text(term), Text(text))
    console.print()
    console.print(definitions)
    console.print()
    console.print(Text(f"citation: {card.citation}"))
