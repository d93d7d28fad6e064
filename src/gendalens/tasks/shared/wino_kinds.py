"""The schemas that knowledge of the world resolves apart from those that grammar resolves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gendalens.data.dawinobias import WinoLine
from gendalens.results.result import Record
from gendalens.tasks.shared.variants import Variant
from gendalens.words import Template

WORLD = Variant(
    "world_lines", Template("variant.world_lines", "lines that knowledge of the world resolves")()
)
SYNTAX = Variant("syntax_lines", Template("variant.syntax_lines", "lines that grammar resolves")())
WORLD_WITHOUT_CUE = Variant(
    "world_lines_without_cue",
    Template(
        "variant.world_lines_without_cue",
        "lines that knowledge of the world resolves without a word of the occupation's trade",
    )(),
)


def describe_kind(item: WinoLine) -> dict[str, object]:
    """What a record says of the kind of its line; nothing for a set that does not tell kinds."""
    return {} if item.kind is None else {"kind": item.kind, "cue": item.cue}


def split_by_kind(records: Sequence[Record]) -> Iterator[tuple[Variant, list[Record]]]:
    """The records of each kind; kinds with fewer than two schemas are left out."""
    told = [row for row in records if "kind" in row]
    world = [row for row in told if row["kind"] == "world"]
    for variant, rows in (
        (WORLD, world),
        (WORLD_WITHOUT_CUE, [row for row in world if not row["cue"]]),
        (SYNTAX, [row for row in told if row["kind"] == "syntax"]),
    ):
        if len({row["schema"] for row in rows}) > 1:
            yield variant, rows
