"""The selection of names from the official lists for the built-in ones.

A name is kept if it is a reliable sign of what its list claims: that its bearer is a woman (or a man)
of this origin, and that it is a first name (or a surname). These are left out:

- first names of which the other gender has 5% or more: they are unisex, or nearly;
- first names that more people bear as a surname (Vang, Ahmed);
- names that both sides of DaCy's list claim, unless the official overlap table decides;
- names that DaCy's list misclassifies (below), found by reading the lists;
- names that fewer than ten people bear: a single bearer is a person, not a statistic.

``python -m tools.builtin_sets.name_cleaning`` rebuilds ``names.csv`` from the fetched official lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import get_args

from gendalens.data import name_lists, registry
from gendalens.data import names as official
from gendalens.data.builtin.names import COLUMNS, FILE, Part, Row, Whose, sort_key
from gendalens.data.name_lists import Lists, capitalise
from gendalens.data.names import Origin
from gendalens.data.pronouns import OTHER, Gender

RARE = 10
OTHER_SHARE = 0.05
CLASSES: dict[Origin, str] = {"majority": "danish", "minority": "muslim"}

# Classed as Danish, but common in Denmark through migration from elsewhere (Turkey, Vietnam, China,
# India, Poland, Spain and Latin America), or not names at all. They are in neither group: the minority of
# this test is that of the list.
NOT_MAJORITY = {
    "first": "AYSE EMINE HATICE THI VAN MICHAL JOSE LUIS ANTONIO CARMEN BEN JUL DE UNAVNGIVET CHR "
    # unisex
    "AMINE ANGEL ANH AYAAN AYAN CHI HONG LIAN MIN NERMIN NGOC NIKOLA WEI XUAN YAN YI YU",
    "last": "NGUYEN TRAN PHAM LE HUYNH LAM LI WANG CHEN ZHANG MENG SINGH BUTT OSMAN YILMAZ KILIC CELIK "
    "KAYA YILDIRIM YILDIZ SAHIN DOGAN DEMIR POLAT TURAN KARA",
}
# Classed as Muslim, but names of the majority (Lulu, Kaiser, Gad), of other Europeans (Daria, Kamila) or
# of no particular origin.
NOT_MINORITY = {
    "first": "ADELA ALISA ALISSA ASIA BAN BEN BIBI BIN DAHLIA DANI DARIA DINAH JANA JANNA JASMINE JUDI "
    "JUL JUN KAMILA LANA LULU MAH MALAIKA MANNA MINA NAIA RAISA RAND SONYA TAI YONAS",
    "last": "AMEN BEN CAN GAD JAN KAISER LONE MINA RAD SALA",
}


def clean_names(lists: Lists) -> list[Row]:
    """The built-in rows, selected from the official lists."""
    rows: list[Row] = []
    for origin in get_args(Origin):
        for gender in get_args(Gender):
            names = _select_first_names(lists, origin, gender)
            rows += _build_rows("first", origin, gender, names, lists.first[gender])
    women, men = lists.first["female"], lists.first["male"]
    both = {name: women[name] + men[name] for name in women if name in men}
    unisex = [name.text.upper() for name in official.find_unisex_names(lists)]
    rows += _build_rows(
        "first", "majority", "unisex", _drop_misclassified(unisex, "majority", "first"), both
    )
    for origin in get_args(Origin):
        rows += _build_rows("last", origin, "both", _select_surnames(lists, origin), lists.last)
    return sorted(rows, key=sort_key)


def _select_first_names(lists: Lists, origin: Origin, gender: Gender) -> list[str]:
    wanted = lists.listed[CLASSES[origin], gender]
    own, rivals = lists.first[gender], lists.first[OTHER[gender]]
    claimed = {name for g in get_args(Gender) for name in lists.listed["muslim", g]}
    # The overlap table says DK or M; a name that is not in it belongs to the minority's narrower list.
    sided = [n for n in wanted if _find_side(lists, n, n in claimed) == origin]
    return [
        n
        for n in _drop_misclassified(sided, origin, "first")
        if rivals.get(n, 0) < OTHER_SHARE * (own.get(n, 0) + rivals.get(n, 0))
        and lists.last.get(n, 0) <= own.get(n, 0)
    ]


def _find_side(lists: Lists, name: str, claimed: bool) -> str:
    sides = {"DK": "majority", "M": "minority", "neither": ""}
    silent = "minority" if claimed else "majority"
    return sides.get(lists.side[name], "") if name in lists.side else silent


def _select_surnames(lists: Lists, origin: Origin) -> list[str]:
    wanted = lists.listed[CLASSES[origin], "both"]
    foreign = set(lists.listed["muslim", "both"])
    kept = [n for n in wanted if origin == "minority" or n not in foreign]
    return _drop_misclassified(kept, origin, "last")


def _drop_misclassified(names: Iterable[str], origin: Origin, part: Part) -> list[str]:
    wrong = (NOT_MAJORITY if origin == "majority" else NOT_MINORITY)[part].split()
    return [name for name in names if name not in wrong]


def _build_rows(
    part: Part, origin: Origin, gender: Whose, names: Iterable[str], bearers: Mapping[str, int]
) -> list[Row]:
    found = {name: bearers.get(name, 0) for name in names}
    kept = [name for name in found if found[name] >= RARE]
    return [Row(part, origin, gender, capitalise(name), found[name]) for name in kept]


def format_rows(rows: Iterable[Row]) -> str:
    """The content of the file."""
    lines = [COLUMNS, *((r.part, r.origin, r.gender, r.name, str(r.bearers)) for r in rows)]
    return "".join(f"{','.join(line)}\n" for line in lines)


if __name__ == "__main__":
    found = name_lists.read(registry.locate("names"), registry.locate("minority-names"))
    FILE.write_text(format_rows(clean_names(found)), encoding="utf-8")
