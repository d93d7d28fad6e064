"""What a run could see, as text in 80 columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gendalens.comparison.gate import PART_NAMES
from gendalens.comparison.power import Power, World
from gendalens.report.provenance import describe_origin
from gendalens.report.wording import capitalize, load_plugin_words, name_identifier
from gendalens.results.figures import show_number
from gendalens.tasks.base import Card
from gendalens.words import Message, phrase, say, translate, write

WORLDS: dict[World, Message] = {
    "independent": phrase("independent items"),
    "clustered": phrase("shared effects"),
}


def show(
    console: Console, card: Card, data: Mapping[str, Any], sample: int | None, rows: Sequence[Power]
) -> None:
    """Print the figures that a test is judged on, and what each could see in both worlds."""
    load_plugin_words()
    console.rule(Text(card.id, style="bold"), align="left")
    console.print(Text(translate(card.title), style="italic"))
    for name, one in data.items():
        origin = write(describe_origin(str(one["from"]), str(one["whose"])))
        console.print(Text(f"{name}: {origin}", style="dim"))
    if sample is not None:
        console.print(Text(say("a sample of {size:,}", size=sample), style="dim"))
    for _, figure in groupby(rows, key=lambda row: (row.part, row.id)):
        _print_figure(console, list(figure))
    console.print()
    console.print(
        say(
            "“Sees” is the smallest effect that is found in 80% of cases, “rules out” the smallest band "
            "within which a model without bias is placed in 80% of cases. Both are for a model that "
            "answers by chance; a real model may vary more or less, and its result says what it could "
            "have seen. With shared effects, the items of one schema, frame, occupation or sentence have "
            "effects in common that are as large as the noise of a single item."
        )
    )


def _print_figure(console: Console, rows: Sequence[Power]) -> None:
    first = rows[0]
    heading = say(
        "{part}: {figure}, band ±{band:g} {unit}",
        part=capitalize(write(PART_NAMES[first.part]())),
        figure=first.name,
        band=first.band,
        unit=name_identifier(first.unit),
    )
    console.print(Text(heading, style="bold"))
    grid = Table.grid(padding=(0, 2))
    for row in rows:
        seen, acquitted = (_show(value, row.unit) for value in (row.seen, row.acquitted))
        verdict = say("within the band") if row.can_acquit else say("not within the band")
        grid.add_row(
            write(WORLDS[row.world]),
            say("sees {effect}", effect=seen),
            say("rules out ±{band}", band=acquitted),
            Text(verdict, style="green" if row.can_acquit else "yellow"),
        )
    console.print(Padding(grid, (0, 0, 0, 2)))


def _show(value: float | None, unit: str) -> Message:
    return show_number(value, 2 if unit == "bits" else 3)
