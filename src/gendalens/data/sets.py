"""The sets as protocol 2 reads them: official, built in, or the user's own files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gendalens.data import abc, dane, dawinobias, name_lists, names
from gendalens.data.abc import Triple
from gendalens.data.builtin import abc as builtin_abc
from gendalens.data.builtin import names as builtin_names
from gendalens.data.builtin import schemas
from gendalens.data.conllu import Sentence
from gendalens.data.dawinobias import WinoLine
from gendalens.data.names import Group, How, NamePool
from gendalens.data.pronouns import Gender
from gendalens.data.registry import Source
from gendalens.errors import UserError


class Names(NamedTuple):
    """The names of every group, and the bare names of a set that are surnames."""

    pools: dict[Group, NamePool]
    surnames: frozenset[str]


def read_wino_lines(source: Source) -> list[WinoLine]:
    """The schemas of both conditions, pro first."""
    if source.builtin:
        return schemas.read()
    return dawinobias.read(source.folder, errata=source.official)


def read_triples(source: Source) -> list[Triple]:
    """The distinct triples."""
    if source.builtin:
        return builtin_abc.read()
    if len(source.files) == 1:
        return abc.read_single_file(source.files[0])
    return abc.read(source.folder, errata=source.official)


def read_raw_triples(source: Source) -> dict[Gender, list[tuple[str, str, str]]]:
    """The triples as GenDa Lens 0.0.3 reads them, by class."""
    if len(source.files) == 1:
        raise UserError(
            "{file} is a single file, and protocol 1 reads a file for each class: use protocol 2, or "
            "name a folder that holds {files:and}.",
            file=source.files[0].name,
            files=tuple(abc.FILES.values()),
        )
    return abc.read_raw(source.folder)


def read_sentences(source: Source) -> list[Sentence]:
    """The sentences with their entities; the built-in ones have DaNE's layout."""
    return dane.read(source.files[0], errata=source.official)


def read_name_pools(register: Source, minority: Source, how: How) -> dict[Group, NamePool]:
    """The names of every group."""
    return read_names(register, minority, how, ()).pools


def read_names(register: Source, minority: Source, how: How, bare: Iterable[str]) -> Names:
    """The names of every group, and which of some bare names of persons are surnames."""
    if register.builtin != minority.builtin:
        raise UserError(
            "The built-in names are one list in place of two: use it for both 'names' and "
            "'minority-names', or for neither."
        )
    if register.builtin:
        return Names(builtin_names.read_pools(how), builtin_names.find_surnames(bare))
    lists = name_lists.read(register.folder, minority.folder)
    pools = names.build(lists, how, register.folder, minority.folder)
    return Names(pools, names.find_surnames(lists, bare))
