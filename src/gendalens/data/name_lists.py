"""The two lists of names, read from their files: the register and the minority list."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gendalens.data import errata as known
from gendalens.data.pronouns import Gender
from gendalens.data.text import columns_error, line_error, read_lines
from gendalens.errors import UserError
from gendalens.words import phrase

FIRST_FILES: dict[Gender, str] = {
    "female": "first_names_2023_women.csv",
    "male": "first_names_2023_men.csv",
}
LAST_FILE = "last_names_2023.csv"
OVERLAP_FILE = "overlapping_names.csv"
MINORITY_FILE = "names.csv"
ETHNICITIES = ("danish", "muslim")
WHOSE = ("female", "male", "both")
# A name is one word of letters, parts joined by hyphens or apostrophes (Anne-Marie, O'Neill).
WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
CAPITAL = re.compile(r"(?:^|-)(?:[^\W\d_]['’])?[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Lists:
    """Both official lists: the number of bearers of each name, and its class in the minority list.

    Names are in capitals here, as in the register.
    """

    first: Mapping[Gender, Mapping[str, int]]
    last: Mapping[str, int]
    side: Mapping[str, str]
    listed: Mapping[tuple[str, str], tuple[str, ...]]
    #: Names that are no majority names although no list says so, by gender, and surnames as "both".
    foreign: Mapping[str, frozenset[str]]


class MinorityRow(NamedTuple):
    """A row of the minority list; the gender of a surname is "both"."""

    bearers: int
    name: str
    ethnicity: str
    gender: str


def capitalise(name: str) -> str:
    """A name with capitals where Danish has them: at the start, after a hyphen, after O' and the like.

    >>> capitalise("ANNE-MARIE"), capitalise("ØRSTED"), capitalise("O'NEILL"), capitalise("ALA'A")
    ('Anne-Marie', 'Ørsted', "O'Neill", "Ala'a")
    """
    return CAPITAL.sub(lambda found: found.group().upper(), name.lower())


def read(register: Path, minority: Path) -> Lists:
    """Both lists with errata, each name once, without entries that are not names (numbers, initials)."""
    first = {gender: _read_register(register / file) for gender, file in FIRST_FILES.items()}
    listed: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in read_minority_rows(minority, errata=True):
        if _is_name(row.name):
            listed[row.ethnicity, row.gender].append(row.name.upper())
    keys = [(ethnicity, gender) for ethnicity in ETHNICITIES for gender in WHOSE]
    return Lists(
        first=first,
        last=_read_register(register / LAST_FILE),
        side={name.upper(): side for name, side in read_overlaps(register, errata=True)},
        listed={key: tuple(dict.fromkeys(listed[key])) for key in keys},
        foreign={
            whose: _find_foreign_names(Path(file).stem)
            for whose, file in (*FIRST_FILES.items(), ("both", LAST_FILE))
        },
    )


def _find_foreign_names(stem: str) -> frozenset[str]:
    """The names that the errata take out of the majority."""
    return frozenset(
        name
        for entry in known.find_errata("names")
        if entry.condition == f"{stem} of the majority"
        for name in entry.old.split("|")
    )


def _is_name(text: str) -> bool:
    return len(text) > 1 and (text.isalpha() or WORD.fullmatch(text) is not None)


def _read_register(path: Path) -> dict[str, int]:
    """A file of the register with errata applied; a name that occurs twice keeps its first count."""
    fixes, letters = _find_fixes("names", path.stem)
    found: dict[str, int] = {}
    for name, count in read_counts(path):
        text = fixes.get(name, name) if name.isascii() else name.translate(letters)
        if _is_name(text):
            found.setdefault(text.upper(), count)
    return found


def _find_fixes(data: str, stem: str) -> tuple[dict[str, str], dict[int, int]]:
    """The errata of a list: names to replace (an empty string drops the name), and letters to replace."""
    fixes: dict[str, str] = {}
    letters: dict[int, int] = {}
    for entry in known.find_errata(data):
        if entry.condition == f"{stem} letters":
            letters |= str.maketrans(entry.old, entry.new)
        elif entry.condition == stem:
            fixes |= dict.fromkeys(entry.old.split("|"), entry.new)
    return fixes, letters


def read_counts(path: Path) -> Iterator[tuple[str, int]]:
    """The rows of a register file: a name and its number of bearers, most common first."""
    for line, (name, count) in _read_table(path, columns=2):
        if not (count.isdigit() and count.isascii()) or len(count) > 9:
            raise count_error(path, line, count)
        yield name, int(count)


def count_error(path: Path, line: int, text: str) -> UserError:
    """The error for a line whose number of bearers is not a number."""
    return line_error(path, line, phrase("“{text}” is not a number of bearers", text=text[:40]))


def read_minority_rows(folder: Path, *, errata: bool) -> list[MinorityRow]:
    """The rows of the minority list, in file order."""
    path = folder / MINORITY_FILE
    fixes = _find_fixes("minority-names", path.stem)[0] if errata else {}
    rows = []
    for line, (count, name, ethnicity, gender, first) in _read_table(path, columns=5):
        whose = gender if first == "True" else "both"
        if ethnicity not in ETHNICITIES or whose not in WHOSE:
            raise line_error(path, line, phrase("its ethnicity or gender is unknown"))
        try:
            bearers = int(float(count or 0))
        except (ValueError, OverflowError):
            raise count_error(path, line, count) from None
        rows.append(MinorityRow(bearers, fixes.get(name, name), ethnicity, whose))
    return rows


def read_overlaps(folder: Path, *, errata: bool) -> list[tuple[str, str]]:
    """First names in both lists with their side: DK, M, B (both) or, with errata, "neither"."""
    path = folder / OVERLAP_FILE
    fixes = _find_fixes("names", path.stem)[0] if errata else {}
    return [(name, fixes.get(side, side)) for _, (_, name, side) in _read_table(path, columns=3)]


def _read_table(path: Path, *, columns: int) -> Iterator[tuple[int, list[str]]]:
    """The rows below the header, with their line numbers."""
    reader = csv.reader(read_lines(path), strict=True)
    try:
        for row in reader:
            if len(row) != columns:
                raise columns_error(path, reader.line_num, found=len(row), needed=columns)
            if reader.line_num > 1:
                yield reader.line_num, row
    except csv.Error as error:
        reason = phrase("it is not CSV ({reason})", reason=str(error))
        raise line_error(path, max(reader.line_num, 1), reason) from error
    if reader.line_num < 2:
        raise UserError(
            "{path} holds no names: fetch the official list with `gendalens data pull`.",
            path=str(path),
        )
