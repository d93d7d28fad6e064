"""The built-in name lists: every name in one group, with its number of bearers.

``names.csv`` holds facts: the number of bearers is Statistics Denmark's count of 2023, and the origin
is the class of DaCy's list (after Meldgaard 2005). ``tools/builtin_sets/name_cleaning.py`` documents
which names of the official lists were kept and why others were not.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from gendalens.data import names
from gendalens.data.name_lists import count_error
from gendalens.data.names import GROUPS, TOP, UNISEX, Group, How, Name, NamePool, Origin
from gendalens.data.text import columns_error, line_error, read_lines
from gendalens.errors import UserError
from gendalens.words import phrase

FILE = Path(__file__).with_name("names.csv")

Part = Literal["first", "last"]
Whose = Literal["female", "male", "unisex", "both"]
COLUMNS = ("part", "origin", "gender", "name", "bearers")


@dataclass(frozen=True, slots=True)
class Row:
    """A first name or surname: its origin, gender ("both" for a surname) and number of bearers."""

    part: Part
    origin: Origin
    gender: Whose
    name: str
    bearers: int


def read_pools(how: How, path: Path = FILE) -> dict[Group, NamePool]:
    """The four groups and the unisex extra, as `gendalens.data.names.read` gives them.

    ``top`` draws from the 500 most common names of the majority and all of the minority, ``all`` and
    ``all-by-bearers`` from all names of the list, ``matched`` from those that are equally common and
    equally long in every group.
    """
    names.check_how(how)
    rows = read(path)

    def select(part: Part, origin: Origin, gender: str) -> list[Name]:
        found = [
            Name(row.name, row.bearers)
            for row in sorted(rows, key=sort_key)
            if (row.part, row.origin, row.gender) == (part, origin, gender)
        ]
        return found[:TOP] if how == "top" and origin == "majority" else found

    first = {group: select("first", group.origin, group.gender) for group in GROUPS}
    last = {origin: select("last", origin, "both") for origin in get_args(Origin)}
    if not all((*first.values(), *last.values())):
        raise UserError(
            "{path} leaves one of the groups without names: name another file.", path=str(path)
        )
    unisex = tuple(select("first", UNISEX.origin, UNISEX.gender))
    return names.build_pools(first, last, unisex, how)


def find_surnames(bare: Iterable[str], path: Path = FILE) -> frozenset[str]:
    """Those of some names that more people bear as a surname than as a first name."""
    balance: Counter[str] = Counter()
    for row in read(path):
        balance[row.name] += row.bearers if row.part == "last" else -row.bearers
    return frozenset(name for name in bare if balance[name] > 0)


def read(path: Path = FILE) -> list[Row]:
    """The rows of the file, in order."""
    reader = csv.reader(read_lines(path), strict=True)
    if tuple(next(reader, ())) != COLUMNS:
        raise line_error(path, 1, phrase("its columns must be {columns}", columns=COLUMNS))
    return [_read_row(row, path, reader.line_num) for row in reader]


def sort_key(row: Row) -> tuple[str, str, str, int, str]:
    """The order of the file: by part, origin and gender, most common first."""
    return row.part, row.origin, row.gender, -row.bearers, row.name


def _read_row(row: Sequence[str], path: Path, line: int) -> Row:
    if len(row) != len(COLUMNS):
        raise columns_error(path, line, found=len(row), needed=len(COLUMNS))
    part = next((known for known in get_args(Part) if known == row[0]), None)
    origin = next((known for known in get_args(Origin) if known == row[1]), None)
    gender = next((known for known in get_args(Whose) if known == row[2]), None)
    if part is None or origin is None or gender is None:
        raise line_error(path, line, phrase("its part, origin or gender is unknown"))
    if not (row[4].isascii() and row[4].isdigit()):
        raise count_error(path, line, row[4])
    return Row(part, origin, gender, row[3], int(row[4]))
