"""``gendalens names``: a preview of how ``ner-dane`` renames persons, without a model."""

from __future__ import annotations

import random

from rich import box
from rich.table import Table
from rich.text import Text

from gendalens.data import dane, names, registry, sets
from gendalens.data.choice import Choice
from gendalens.data.conllu import Sentence
from gendalens.data.names import Group, NamePool
from gendalens.data.renaming import Plan, draw_plan, list_bare_names, rename, tells_gender
from gendalens.errors import UserError
from gendalens.report.terminal.console import PlainConsole
from gendalens.words import current_language, format_number, say, translate

SETS = ("names", "minority-names", "dane")


def preview_names(
    *, how: str, data: dict[str, Choice], seed: int, count: int, offline: bool
) -> None:
    """Print the sizes of the name pools, and a few sentences renamed for every group."""
    unknown = [name for name in data if name not in SETS]
    if unknown:
        raise UserError("--data {name}: the preview reads {sets}.", name=unknown[0], sets=SETS)
    way = next((known for known in names.HOWS if known == how), None)
    if way is None:
        raise UserError("--names {how}: choose one of {known}.", how=how, known=names.HOWS)
    sources = {
        name: registry.find_source(name, override=data.get(name), offline=offline) for name in SETS
    }
    sentences = [
        sentence
        for sentence in sets.read_sentences(sources["dane"])
        if any(entity.label == dane.PERSON for entity in sentence.entities)
    ]
    pools, surnames = sets.read_names(
        sources["names"], sources["minority-names"], way, list_bare_names(sentences)
    )
    console = PlainConsole()
    console.print(_tabulate_sizes(pools))
    chosen = sorted(random.Random(seed).sample(range(len(sentences)), min(count, len(sentences))))  # noqa: S311
    for i in chosen:
        drawn = draw_plan(sentences[i], seed, repeat=0, surnames=surnames)
        _print_renamed(sentences[i], drawn, pools, console)


def _tabulate_sizes(pools: dict[Group, NamePool]) -> Table:
    """One row per group: how many names it has, and how common and long the drawn ones are."""
    # Collapsed, so that no heading is cut off in 80 columns.
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(say("group"), no_wrap=True)
    for part in (say("first names"), say("surnames")):
        for heading in (part, say("(bearers,"), say("letters)")):
            table.add_column(heading, justify="right")
    language = current_language()
    for group, pool in pools.items():
        cells = [translate(str(group))]
        for drawn in (pool.first, pool.last):
            figures = (len(drawn), ","), (drawn.mean_bearers, ",.0f"), (drawn.mean_length, ".2f")
            cells += [format_number(value, spec, language) for value, spec in figures]
        table.add_row(*cells)
    table.caption = say(
        "names, and of a drawn name the bearers (geometric mean) and letters (mean)"
    )
    table.caption_justify = "left"
    return table


def _print_renamed(
    sentence: Sentence, drawn: Plan, pools: dict[Group, NamePool], console: PlainConsole
) -> None:
    """Print one sentence renamed for each group, the new names in bold."""
    heading = sentence.id
    if tells_gender(sentence):
        heading = say("{sentence} (has a gendered pronoun or title)", sentence=sentence.id)
    console.print(Text(f"\n{heading}", style="dim"))
    for group, pool in pools.items():
        renamed = rename(sentence, drawn, pool)
        line = Text(renamed.text)
        for name in renamed.names:
            span = renamed.gold[name.entity].span
            line.stylize("bold", span.start, span.end)
        console.print(Text.assemble((f"{translate(str(group)):<18} ", "dim"), line), soft_wrap=True)
