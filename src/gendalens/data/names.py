"""The names given to persons, in four groups: majority or minority origin × women or men.

There are two lists. The *register* (Statistics Denmark 2023, set ``names``) counts the bearers of a name;
the *minority list* (dacy, set ``minority-names``, after Meldgaard 2005) says which names are Danish and
which are Muslim. How common a name is always comes from the register: dacy counts middle names too
(Marie: 259,943 against the register's 18,183), has no counts for minority surnames, and is from 2021.

Protocol 2 has four ways to draw:

``top``, that of 0.0.3
    The 500 most common first names of women and of men and the 500 most common surnames; for the
    minority every name of the list. No name is in two groups: `overlapping_names.csv` says which
    side a first name belongs to, a surname of the minority list is not the majority's, and the errata
    say which names of the register are nobody's majority although no list has them (Zeynep, Katarzyna).
``all``, the specification's *all Danish female names*
    Every name of the register that the minority list gives to the group, each as likely as any other.
    A name that the list does not have is nobody's: of the 80,000 women's names that are left in the
    register without the Muslim ones, 99% are unlisted, nine in ten of them with fewer than ten bearers
    and most of them no more Danish than Muslim (Elakshi, Antoaneta).
``all-by-bearers``
    The same names, each as likely as it is common: the name of a person drawn from the population.
``matched``
    First names that are equally common and equally long in all four groups, by coarsened exact
    matching (Iacus, King & Porro 2012): a stratum holds the names of one length in characters and one
    octave of bearers (64 to 127, 128 to 255, …), and only strata in which all four groups have names are
    kept. Every group draws a stratum with the same probability, in proportion to the smallest number of
    names that any of the four groups has in it, then a name within it. So length is balanced exactly and
    bearers within a factor of two, nothing is discarded at random, and no name is drawn more often than
    if the lists consisted of full sets of four alone. Surnames are drawn the same way, over the two
    origins. The majority pool is the register's names that the list classes as Danish; a first name that
    more people bear as a surname (Vang, Juel, Hassan) is left out of every group alike.

Protocol 1 builds the lists of 0.0.3, defects and duplicates included.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from gendalens.data import name_lists
from gendalens.data.name_lists import (
    Lists,
    MinorityRow,
    capitalise,
    read_counts,
    read_minority_rows,
    read_overlaps,
)
from gendalens.data.pronouns import Gender
from gendalens.errors import UserError
from gendalens.words import phrase

Origin = Literal["majority", "minority"]
How = Literal["top", "matched", "all", "all-by-bearers"]
Key = TypeVar("Key", bound=Hashable)
HOWS: tuple[How, ...] = get_args(How)

TOP = 500
# A unisex name has at least this many bearers, and at least this share of them are of either gender.
UNISEX_BEARERS = 100
UNISEX_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Name:
    """A name and its number of bearers in the register."""

    text: str
    bearers: int


@dataclass(frozen=True, slots=True)
class Group:
    """A group of names by origin and gender; "unisex" is an extra group."""

    origin: Origin
    gender: Gender | Literal["unisex"]

    def __str__(self) -> str:
        return f"{self.origin} {self.gender}"


GROUPS = tuple(Group(origin, gender) for origin in get_args(Origin) for gender in get_args(Gender))
UNISEX = Group("majority", "unisex")


@dataclass(frozen=True)
class NameList:
    """Names to draw from, in strata that are drawn in proportion to their weights.

    An unmatched list is a single stratum. Matched lists have the same weights, so one draw gives names
    of the same stratum in each of them.
    """

    strata: tuple[tuple[Name, ...], ...]
    weights: tuple[int, ...] = (1,)
    _ends: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ends", tuple(accumulate(self.weights)))

    def __len__(self) -> int:
        return sum(map(len, self.strata))

    @cached_property
    def names(self) -> tuple[Name, ...]:
        """All names, stratum by stratum."""
        return tuple(name for stratum in self.strata for name in stratum)

    def draw(self, u: float) -> Name:
        """The name at ``u``, 0 ≤ u < 1: a stratum in proportion to its weight, a name in it uniformly."""
        if len(self.strata) == 1:
            stratum = self.strata[0]
            return stratum[int(u * len(stratum))]
        at = u * self._ends[-1]
        i = bisect_right(self._ends, at)
        start = self._ends[i - 1] if i else 0
        stratum = self.strata[i]
        # Rounding may carry the product to the end of the stratum.
        return stratum[min(int((at - start) / self.weights[i] * len(stratum)), len(stratum) - 1)]

    @property
    def mean_length(self) -> float:
        """The mean length in characters of a drawn name."""
        return self._mean(lambda name: len(name.text))

    @property
    def mean_bearers(self) -> float:
        """The geometric mean of the bearers of a drawn name, counting at least one per name."""
        return math.exp(self._mean(lambda name: math.log(max(name.bearers, 1))))

    def _mean(self, value: Callable[[Name], float]) -> float:
        weighted = (
            weight * sum(map(value, stratum)) / len(stratum)
            for stratum, weight in zip(self.strata, self.weights, strict=True)
        )
        return sum(weighted) / sum(self.weights)


@dataclass(frozen=True, slots=True)
class NamePool:
    """The names of one group. Women and men of one origin have the same surnames."""

    first: NameList
    last: NameList


Pools = Mapping[Group, NamePool]


def read(register: Path, minority: Path, how: How) -> dict[Group, NamePool]:
    """The pools of protocol 2: the four groups and the unisex extra, errata applied."""
    return build(name_lists.read(register, minority), how, register, minority)


def build(lists: Lists, how: How, register: Path, minority: Path) -> dict[Group, NamePool]:
    """The pools of lists that have been read from these folders."""
    check_how(how)
    first = {group: _find_first_names(lists, group, how) for group in GROUPS}
    last = {origin: _find_surnames(lists, origin, how) for origin in get_args(Origin)}
    lonely = next((str(g) for g, found in first.items() if not found), None)
    if lonely or not all(last.values()):
        raise UserError(
            "The name lists leave no name for {group:t}: see {register} and {minority}, or fetch the "
            "official ones with `gendalens data pull names minority-names`.",
            group=lonely or phrase("the surnames of one origin"),
            register=str(register),
            minority=str(minority),
        )
    return build_pools(first, last, find_unisex_names(lists), how)


def check_how(how: str) -> None:
    """Raise a user error if there is no such way to draw names."""
    if how not in HOWS:
        raise UserError(
            "There is no way '{how}' to draw names: choose one of {hows}.", how=how, hows=HOWS
        )


def build_pools(
    first: Mapping[Group, list[Name]],
    last: Mapping[Origin, list[Name]],
    unisex: tuple[Name, ...],
    how: How,
) -> dict[Group, NamePool]:
    """The pools for lists of names, most common first, with a unisex group if there are such names."""
    build_lists = BUILDERS[how]
    firsts, lasts = build_lists(first), build_lists(last)
    pools = {group: NamePool(firsts[group], lasts[group.origin]) for group in GROUPS}
    if unisex:
        pools[UNISEX] = NamePool(NameList((unisex,)), lasts["majority"])
    return pools


def _find_first_names(lists: Lists, group: Group, how: How) -> list[Name]:
    """The names of one group, most common first; no name is in two groups."""
    gender: Gender = "female" if group.gender == "female" else "male"
    other: Gender = "male" if gender == "female" else "female"
    bearers, rivals = lists.first[gender], lists.first[other]
    foreign = {*lists.listed["muslim", "female"], *lists.listed["muslim", "male"]}
    if group.origin == "minority":
        wanted: Iterable[str] = lists.listed["muslim", gender]
        kept = [n for n in wanted if lists.side.get(n, "M") == "M"]
    else:
        wanted = bearers if how == "top" else lists.listed["danish", gender]
        kept = [n for n in wanted if lists.side.get(n) == "DK" or n not in foreign]
        kept = [n for n in kept if n not in lists.foreign[gender]]
    # A name with more bearers of the other gender does not indicate this one.
    kept = [n for n in kept if bearers.get(n, 0) > rivals.get(n, 0) or n not in rivals]
    if how == "matched":
        kept = [n for n in kept if bearers.get(n, 0) >= lists.last.get(n, 0)]
    if how != "top":
        kept = [n for n in kept if bearers.get(n, 0)]
    return _rank(kept, bearers, TOP if group.origin == "majority" and how == "top" else None)


def _find_surnames(lists: Lists, origin: Origin, how: How) -> list[Name]:
    """The surnames of one origin, most common first."""
    foreign = lists.listed["muslim", "both"]
    if origin == "minority":
        kept = [n for n in foreign if how == "top" or n in lists.last]
    else:
        wanted = lists.last if how == "top" else lists.listed["danish", "both"]
        out = {*foreign, *lists.foreign["both"]}
        kept = [n for n in wanted if n not in out and n in lists.last]
    return _rank(kept, lists.last, TOP if origin == "majority" and how == "top" else None)


def find_unisex_names(lists: Lists) -> tuple[Name, ...]:
    """Names that women and men bear in similar numbers, without minority names; most common first."""
    women, men = lists.first["female"], lists.first["male"]
    foreign = {
        *(name for gender in get_args(Gender) for name in lists.listed["muslim", gender]),
        *(name for gender in get_args(Gender) for name in lists.foreign[gender]),
    }
    both = {n: women[n] + men[n] for n in women if n in men and n not in foreign}
    kept = [
        n
        for n, total in both.items()
        if total >= UNISEX_BEARERS and min(women[n], men[n]) >= UNISEX_SHARE * total
    ]
    return tuple(_rank(kept, both))


def _rank(names: Iterable[str], bearers: Mapping[str, int], most: int | None = None) -> list[Name]:
    """The names, most common first, so that one draw gives names of similar rank in every group."""
    known = {name: bearers.get(name, 0) for name in names}
    ranked = sorted(known, key=lambda n: (-known[n], n))
    return [Name(capitalise(n), known[n]) for n in ranked[:most]]


def _build_whole(found: Mapping[Key, list[Name]]) -> dict[Key, NameList]:
    return {key: NameList((tuple(names),)) for key, names in found.items()}


def _build_matched(found: Mapping[Key, list[Name]]) -> dict[Key, NameList]:
    """The strata in which every group has names, with one set of weights for all."""
    cells: dict[tuple[int, int], dict[Key, list[Name]]] = defaultdict(lambda: defaultdict(list))
    for key, names in found.items():
        for name in names:
            cells[len(name.text), name.bearers.bit_length()][key].append(name)
    shared = [cells[at] for at in sorted(cells) if len(cells[at]) == len(found)]
    if not shared:
        raise UserError(
            "The name lists have no first names or surnames of the same length and number of bearers "
            "in all groups: use `--names top`, or the official lists."
        )
    weights = tuple(min(map(len, cell.values())) for cell in shared)
    return {key: NameList(tuple(tuple(cell[key]) for cell in shared), weights) for key in found}


def _build_by_bearers(found: Mapping[Key, list[Name]]) -> dict[Key, NameList]:
    """Each name as a stratum of its own, which is as likely as the name is common."""
    return {
        key: NameList(tuple((name,) for name in names), tuple(name.bearers for name in names))
        for key, names in found.items()
    }


BUILDERS: Mapping[How, Callable[[Mapping[Any, list[Name]]], dict[Any, NameList]]] = {
    "top": _build_whole,
    "matched": _build_matched,
    "all": _build_whole,
    "all-by-bearers": _build_by_bearers,
}


def find_surnames(lists: Lists, names: Iterable[str]) -> frozenset[str]:
    """Those of some names that more people bear as a surname than as a first name."""
    return frozenset(
        name
        for name in names
        if lists.last.get(name.upper(), 0)
        > sum(bearers.get(name.upper(), 0) for bearers in lists.first.values())
    )


def read_classic(register: Path, minority: Path) -> dict[Group, NamePool]:
    """The pools of protocol 1, as GenDa Lens 0.0.3 builds them: no errata, duplicates kept."""
    side = dict(read_overlaps(register, errata=False))
    rows = read_minority_rows(minority, errata=False)
    last = [name.title() for name, _ in islice(read_counts(register / name_lists.LAST_FILE), TOP)]
    foreign = [row.name for row in rows if (row.ethnicity, row.gender) == ("muslim", "both")]
    pools = {}
    for gender, file in name_lists.FIRST_FILES.items():
        top = [name.title() for name, _ in islice(read_counts(register / file), TOP)]
        kept = [name for name in top if side.get(name) != "M"]
        pools[Group("majority", gender)] = _build_plain_pool(kept, last)
        listed = [n for n in _list_by_share(rows, gender) if side.get(n) != "DK"]
        pools[Group("minority", gender)] = _build_plain_pool(listed, foreign)
    return {group: pools[group] for group in GROUPS}


def _build_plain_pool(first: Sequence[str], last: Sequence[str]) -> NamePool:
    """A pool without numbers of bearers, which protocol 1 does not use."""
    if not first or not last:
        raise UserError(
            "The name lists leave no name for one of the groups: fetch the official ones with "
            "`gendalens data pull names minority-names`."
        )
    return NamePool(
        NameList((tuple(Name(n, 0) for n in first),)), NameList((tuple(Name(n, 0) for n in last),))
    )


def _list_by_share(rows: Sequence[MinorityRow], gender: Gender) -> list[str]:
    """The minority's first names with at least half of their bearers of that gender, by dacy's counts.

    A name without bearers has no share and is left out, as dacy's division by zero leaves it out.
    """
    totals: dict[str, int] = defaultdict(int)
    own: dict[str, int] = defaultdict(int)
    for row in rows:
        if row.ethnicity == "muslim" and row.gender != "both":
            totals[row.name] += row.bearers
            if row.gender == gender:
                own[row.name] += row.bearers
    return sorted(n for n, count in own.items() if totals[n] and count / totals[n] >= 0.5)
