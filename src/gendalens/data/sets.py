"""The sets as protocol 2 reads them: official, built in, or the user's own files."""

from __future__ import annotations

from gendalens.data import abc, dane, dawinobias, names
from gendalens.data.abc import Triple
from gendalens.data.builtin import abc as builtin_abc
from gendalens.data.builtin import names as builtin_names
from gendalens.data.builtin import schemas
from gendalens.data.conllu import Sentence
from gendalens.data.dawinobias import WinoLine
from gendalens.data.names import Group, How, NamePool
from gendalens.data.registry import Source
from gendalens.errors import UserError


def read_wino_lines(source: Source) -> list[WinoLine]:
    """The schemas of both conditions, pro first."""
    if source.builtin:
        return schemas.read()
    return dawinobias.read(source.folder, errata=source.official)


def read_triples(source: Source) -> list[Triple]:
    """The distinct triples."""
    if source.builtin:
        return builtin_abc.read()
    return abc.read(source.folder, errata=source.official)


def read_sentences(source: Source) -> list[Sentence]:
    """The sentences with their entities; the built-in ones have DaNE's layout."""
    return dane.read(source.files[0], errata=source.official)


def read_name_pools(register: Source, minority: Source, how: How) -> dict[Group, NamePool]:
    """The names of every group."""
    if register.builtin != minority.builtin:
        raise UserError(
            "The built-in names are one list in place of two: use it for both 'names' and "
            "'minority-names', or for neither."
        )
    if register.builtin:
        return builtin_names.read_pools(how)
    return names.read(register.folder, minority.folder, how)
