"""``gendalens tasks``: descriptions of the tests."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from gendalens.errors import UserError
from gendalens.report.terminal.console import PlainConsole
from gendalens.report.wording import explain_band
from gendalens.tasks import all_tasks, get_task
from gendalens.tasks.base import HARMS, SOURCES, Effect
from gendalens.words import say, translate, write


def list_tasks(only: int | None = None) -> None:
    """Print one line per test; of one protocol, or of all."""
    known = sorted({protocol for _, protocol in all_tasks()})
    if only is not None and only not in known:
        raise UserError(
            "There is no protocol {protocol}; choose {known:or}.",
            protocol=only,
            known=tuple(known),
        )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in (say("test"), say("protocol"), say("what it asks"), say("headline")):
        table.add_column(heading, overflow="fold")
    for (name, protocol), task in sorted(all_tasks().items(), key=lambda t: (-t[0][1], t[0][0])):
        if only not in (None, protocol):
            continue
        card = task.card
        table.add_row(
            name, str(protocol), Text(translate(card.title)), Text(translate(card.formula))
        )
    console = PlainConsole()
    console.print(table)
    console.print(say("gendalens tasks NAME describes one in full."))


def describe_task(name: str, protocol: int) -> None:
    """Print idea, data, formula, harms and sources, options, definitions, limits and citation."""
    whole = {task.card.id: key for key, task in all_tasks().items()}  # by id: lm-abc@1
    task = get_task(*whole.get(name, (name, protocol)))
    card = task.card
    console = PlainConsole()
    console.rule(Text(f"{card.id} · {translate(card.title)}", style="bold"), align="left")
    needs = say("a model that answers {kinds:and}", kinds=tuple(sorted(card.needs)))
    rows = [
        (say("idea"), translate(card.idea)),
        (say("data"), ", ".join(card.data) or say("none")),
        (say("formula"), translate(card.formula)),
        (say("reading"), translate(card.reading)),
        (say("main effect"), _describe_effect(card.main)),
        (say("nuance"), _describe_effect(card.nuance)),
        (say("needs"), needs),
    ]
    rows += [(say("band"), write(explain_band(band))) for band in card.bands]
    rows += [(option.flag, translate(option.help)) for option in task.options]
    if card.supersedes:
        rows.append((say("supersedes"), card.supersedes))
    _print_grid(console, rows)
    used = {card.main.harm, card.main.source, card.nuance.harm, card.nuance.source}
    meanings = {**HARMS, **SOURCES}
    terms = [
        *card.definitions,
        *((word, meanings[word]) for word in sorted(used & meanings.keys())),
    ]
    console.print()
    _print_grid(console, [(translate(term), translate(text)) for term, text in terms], width=22)
    console.print()
    console.print(Text(say("citation: {citation}", citation=translate(card.citation))))


def _describe_effect(effect: Effect) -> str:
    return say("harm: {harm:t}; may come from: {source:t}", harm=effect.harm, source=effect.source)


def _print_grid(
    console: PlainConsole, rows: list[tuple[str, str]], *, width: int | None = None
) -> None:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=width is None, width=width)
    grid.add_column(overflow="fold")
    for label, text in rows:
        grid.add_row(Text(label), Text(text))
    console.print(grid)
