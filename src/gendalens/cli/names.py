"""``gendalens names``: how persons are renamed, before any model is asked."""

from __future__ import annotations

import random

from rich import box
from rich.table import Table
from rich.text import Text

from gendalens.data import dane, names, registry, sets
from gendalens.data.choice import Choice
from gendalens.data.conllu import Sentence
from gendalens.data.names import Group, NamePool
from gendalens.data.renaming import has_gendered_pronoun, plan, rename
from gendalens.errors import UserError
from gendalens.report.terminal.console import PlainConsole

SETS = ("names", "minority-names", "dane")


def preview(*, how: str, data: dict[str, Choice], seed: int, count: int, offline: bool) -> None:
    """The sizes of the pools, and a few sentences as every group has them."""
    unknown = [name for name in data if name not in SETS]
    if unknown:
        raise UserError(f"--data {unknown[0]}: the preview reads {', '.join(SETS)}.")
    way = next((known for known in names.HOWS if known == how), None)
    if way is None:
        raise UserError(f"--names {how}: choose one of {', '.join(names.HOWS)}.")
    sources = {
        name: registry.source(name, override=data.get(name), offline=offline) for name in SETS
    }
    sentences = [
        sentence
        for sentence in sets.sentences(sources["dane"])
        if any(entity.label == dane.PERSON for entity in sentence.entities)
    ]
    pools = sets.name_pools(sources["names"], sources["minority-names"], way)
    console = PlainConsole()
    console.print(_sizes(pools))
    chosen = sorted(random.Random(seed).sample(range(len(sentences)), min(count, len(sentences))))  # noqa: S311
    for i in chosen:
        _show(sentences[i], pools, seed, console)


def _sizes(pools: dict[Group, NamePool]) -> Table:
    """One line a group: how many names, how common and how long they are when drawn."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("group", no_wrap=True)
    for part in ("first", "last"):
        for heading in (part, "(bearers,", "letters)"):
            table.add_column(heading, justify="right")
    for group, pool in pools.items():
        cells = [str(group)]
        for drawn in (pool.first, pool.last):
            cells += [f"{len(drawn):,}", f"{drawn.mean_bearers:,.0f}", f"{drawn.mean_length:.2f}"]
        table.add_row(*cells)
    table.caption = "names, and of a drawn name the bearers (geometric mean) and letters (mean)"
    table.caption_justify = "left"
    return table


def _show(
    sentence: Sentence, pools: dict[Group, NamePool], seed: int, console: PlainConsole
) -> None:
    """One sentence as each group has it, the new names in bold."""
    note = " (has a gendered pronoun)" if has_gendered_pronoun(sentence) else ""
    console.print(Text(f"\n{sentence.id}{note}", style="dim"))
    drawn = plan(sentence, seed, repeat=0)
    for group, pool in pools.items():
        renamed = rename(sentence, drawn, pool)
        line = Text(renamed.text)
        for name in renamed.names:
            span = renamed.gold[name.entity].span
            line.stylize("bold", span.start, span.end)
        console.print(Text.assemble((f"{group!s:<16} ", "dim"), line), soft_wrap=True)
