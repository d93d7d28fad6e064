"""The two lists of names, read from their files: the register and the minority list."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gendalens.data import errata as known
from gendalens.data.pronouns import Gender
from gendalens.data.text import broken, read_lines
from gendalens.errors import UserError

FIRST_FILES: dict[Gender, str] = {
    "female": "first_names_2023_women.csv",
    "male": "first_names_2023_men.csv",
}
LAST_FILE = "last_names_2023.csv"
OVERLAP_FILE = "overlapping_names.csv"
MINORITY_FILE = "names.csv"
# A name is one word of letters, parts joined by hyphens or apostrophes (Anne-Marie, O'Neill).
WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
CAPITAL = re.compile(r"(?:^|-)(?:[^\W\d_]['’])?[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Lists:
    """Both official lists, read: who bears a name, and how the minority list classes it.

    Names are in capitals here, as the register has them.
    """

    first: Mapping[Gender, Mapping[str, int]]
    last: Mapping[str, int]
    side: Mapping[str, str]
    listed: Mapping[tuple[str, str], tuple[str, ...]]


def capitalise(name: str) -> str:
    """A name with capitals where Danish has them: first, after a hyphen, after O' and the like.

    >>> capitalise("ANNE-MARIE"), capitalise("ØRSTED"), capitalise("O'NEILL"), capitalise("ALA'A")
    ('Anne-Marie', 'Ørsted', "O'Neill", "Ala'a")
    """
    return CAPITAL.sub(lambda found: found.group().upper(), name.lower())


def read(register: Path, minority: Path) -> Lists:
    """Both lists with errata, each name once; what is no name (empty, numbers, initials) left out."""
    first = {gender: _register(register / file) for gender, file in FIRST_FILES.items()}
    listed: dict[tuple[str, str], list[str]] = defaultdict(list)
    for _, name, kind, gender in minority_rows(minority, errata=True):
        if _is_name(name):
            listed[kind, gender].append(name.upper())
    keys = [
        (kind, gender) for kind in ("danish", "muslim") for gender in ("female", "male", "both")
    ]
    return Lists(
        first=first,
        last=_register(register / LAST_FILE),
        side={name.upper(): side for name, side in overlaps(register, errata=True)},
        listed={key: tuple(dict.fromkeys(listed[key])) for key in keys},
    )


def _is_name(text: str) -> bool:
    return len(text) > 1 and (text.isalpha() or WORD.fullmatch(text) is not None)


def _register(path: Path) -> dict[str, int]:
    """A file of the register with errata; of a name that stands twice, the first count."""
    fixes, letters = _errata("names", path.stem)
    found: dict[str, int] = {}
    for name, count in counted(path):
        text = fixes.get(name, name) if name.isascii() else name.translate(letters)
        if _is_name(text):
            found.setdefault(text.upper(), count)
    return found


def _errata(data: str, stem: str) -> tuple[dict[str, str], dict[int, int]]:
    """What the errata say about a list: names to replace (by nothing: to leave out), and letters."""
    fixes: dict[str, str] = {}
    letters: dict[int, int] = {}
    for entry in known.entries(data):
        if entry.condition == f"{stem} letters":
            letters |= str.maketrans(entry.old, entry.new)
        elif entry.condition == stem:
            fixes |= dict.fromkeys(entry.old.split("|"), entry.new)
    return fixes, letters


def counted(path: Path) -> Iterator[tuple[str, int]]:
    """The rows of a file of the register: a name and how many bear it, most common first."""
    for line, (name, count) in _table(path, header=2):
        if not (count.isdigit() and count.isascii()) or len(count) > 9:
            raise broken(path, line, f"“{count[:40]}” is no number of bearers")
        yield name, int(count)


def minority_rows(folder: Path, *, errata: bool) -> list[tuple[int, str, str, str]]:
    """The rows of the minority list: count, name, class, gender (for surnames "both")."""
    path = folder / MINORITY_FILE
    fixes = _errata("minority-names", path.stem)[0] if errata else {}
    rows = []
    for line, (count, name, kind, gender, first) in _table(path, header=5):
        whose = gender if first == "True" else "both"
        if kind not in ("danish", "muslim") or whose not in ("female", "male", "both"):
            raise broken(path, line, "its ethnicity or gender is none that is known")
        try:
            number = int(float(count or 0))
        except (ValueError, OverflowError):
            raise broken(path, line, f"“{count[:40]}” is no number of bearers") from None
        rows.append((number, fixes.get(name, name), kind, whose))
    return rows


def overlaps(folder: Path, *, errata: bool) -> list[tuple[str, str]]:
    """First names of both lists and the side they are on: DK, M, B (both), with errata "neither"."""
    path = folder / OVERLAP_FILE
    fixes = _errata("names", path.stem)[0] if errata else {}
    return [(name, fixes.get(side, side)) for _, (_, name, side) in _table(path, header=3)]


def _table(path: Path, *, header: int) -> Iterator[tuple[int, list[str]]]:
    """The rows below a header of so many columns, with their lines."""
    reader = csv.reader(read_lines(path), strict=True)
    try:
        for row in reader:
            if len(row) != header:
                reason = f"it has {len(row)} columns where {header} are needed"
                raise broken(path, reader.line_num, reason)
            if reader.line_num > 1:
                yield reader.line_num, row
    except csv.Error as error:
        raise broken(path, max(reader.line_num, 1), f"it is no CSV ({error})") from error
    if reader.line_num < 2:
        raise UserError(
            f"{path} holds no names: fetch the official list with `gendalens data pull`."
        )
