"""The built-in name lists: who bears which name, one group a name.

``names.csv`` holds facts: how many bear a name is Statistics Denmark's count of 2023, which origin it has
is the class of DaCy's list (after Meldgaard 2005). `cleaning` says which names of the official lists are
here and why others are not.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from gendalens.data import names
from gendalens.data.names import GROUPS, TOP, UNISEX, Group, How, Name, NamePool, Origin
from gendalens.data.text import broken, read_lines
from gendalens.errors import UserError

FILE = Path(__file__).with_name("names.csv")

Part = Literal["first", "last"]
Whose = Literal["female", "male", "unisex", "both"]
COLUMNS = ("part", "origin", "gender", "name", "bearers")


@dataclass(frozen=True, slots=True)
class Row:
    """A name: first name or surname, of which origin, whose (a surname is of both), how common."""

    part: Part
    origin: Origin
    gender: Whose
    name: str
    bearers: int


def pools(how: How, path: Path = FILE) -> dict[Group, NamePool]:
    """The four groups and the unisex extra, as `gendalens.data.names.read` gives them.

    ``top`` draws from the 500 most common names of the majority and all of the minority, ``matched``
    from the names that are equally common and equally long in every group.
    """
    if how not in names.HOWS:
        raise UserError(
            f"There is no way '{how}' to draw names: choose one of {', '.join(names.HOWS)}."
        )
    rows = read(path)

    def listed(part: Part, origin: Origin, gender: str) -> list[Name]:
        found = [
            Name(row.name, row.bearers)
            for row in sorted(rows, key=order)
            if (row.part, row.origin, row.gender) == (part, origin, gender)
        ]
        return found[:TOP] if how == "top" and origin == "majority" else found

    first = {group: listed("first", group.origin, group.gender) for group in GROUPS}
    last = {origin: listed("last", origin, "both") for origin in get_args(Origin)}
    if not all((*first.values(), *last.values())):
        raise UserError(f"{path} leaves one of the groups without names.")
    unisex = tuple(listed("first", UNISEX.origin, UNISEX.gender))
    return names.pools(first, last, unisex, how)


def read(path: Path = FILE) -> list[Row]:
    """The rows of the file, as they stand."""
    reader = csv.reader(read_lines(path), strict=True)
    if tuple(next(reader, ())) != COLUMNS:
        raise broken(path, 1, f"its columns should be {', '.join(COLUMNS)}")
    return [_row(row, path, reader.line_num) for row in reader]


def order(row: Row) -> tuple[str, str, str, int, str]:
    """The order of the file: by part, origin and gender, most common first."""
    return row.part, row.origin, row.gender, -row.bearers, row.name


def _row(row: Sequence[str], path: Path, line: int) -> Row:
    if len(row) != len(COLUMNS):
        raise broken(path, line, f"it has {len(row)} columns where {len(COLUMNS)} are needed")
    part = next((known for known in get_args(Part) if known == row[0]), None)
    origin = next((known for known in get_args(Origin) if known == row[1]), None)
    gender = next((known for known in get_args(Whose) if known == row[2]), None)
    if part is None or origin is None or gender is None:
        raise broken(path, line, "its part, origin or gender is none that is known")
    if not (row[4].isascii() and row[4].isdigit()):
        raise broken(path, line, f"“{row[4][:40]}” is no number of bearers")
    return Row(part, origin, gender, row[3], int(row[4]))
