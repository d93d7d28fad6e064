"""Label schemes of taggers: the meaning of *B-PER*, *U-PER*, *PER-I* or plain *PER*."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

OUTSIDE = frozenset({"", "-", "_", "O", "OUTSIDE", "NONE", "X", "PAD", "[PAD]", "<PAD>"})

_PREFIXED = re.compile(r"(?P<mark>[BIMELSU])[-_/](?P<type>.+)", re.IGNORECASE)
_SUFFIXED = re.compile(r"(?P<type>.+)[-_/](?P<mark>[BIMELSU])", re.IGNORECASE)


class Place(Enum):
    """A word's position within its entity."""

    BEGIN = "B"
    INSIDE = "I"
    END = "E"
    SINGLE = "S"


# BILOU has L and U for the E and S of BIOES; BMES has M for inside.
_PLACES = {
    "B": Place.BEGIN,
    "I": Place.INSIDE,
    "M": Place.INSIDE,
    "E": Place.END,
    "L": Place.END,
    "S": Place.SINGLE,
    "U": Place.SINGLE,
}
_OPENING = (Place.BEGIN, Place.SINGLE)
_CLOSING = (Place.END, Place.SINGLE)


@dataclass(frozen=True, slots=True)
class Mark:
    """A parsed label: the entity type and the word's place in the entity."""

    type: str
    place: Place


def read_labels(labels: Sequence[str]) -> list[Mark | None]:
    """The mark of each label; None for labels of words outside entities.

    The labels are read together: *S-TOG* is a type of its own unless most labels have such a mark,
    some of them B, I, S or U. Without marks, neighbours of one type are one entity.
    """
    entities = [label for label in labels if label.strip().upper() not in OUTSIDE]
    style = next((style for style in (_PREFIXED, _SUFFIXED) if _is_style_of(style, entities)), None)
    return [_read_mark(label, style) if label in entities else None for label in labels]


def list_types(marks: Iterable[Mark | None]) -> tuple[str, ...]:
    """The entity types of a model, in its own order."""
    return tuple(dict.fromkeys(mark.type for mark in marks if mark))


def join_entities(
    marks: Iterable[Mark | None], spans: Iterable[tuple[int, int]]
) -> list[tuple[int, int, str]]:
    """The entities of a text, from the mark and the span (begin, end) of each word.

    Lenient, like CoNLL's scorer and seqeval by default: an entity also begins where the type changes or
    where *inside* follows no entity, so that IOB1 and IOB2 are both understood.
    """
    found: list[tuple[int, int, str]] = []
    open_ = False
    for mark, (begin, end) in zip(marks, spans, strict=True):
        if mark is None:
            open_ = False
            continue
        if open_ and mark.type == found[-1][2] and mark.place not in _OPENING:
            found[-1] = (found[-1][0], end, mark.type)
        else:
            found.append((begin, end, mark.type))
        open_ = mark.place not in _CLOSING
    return found


def join_run_on_entities(
    marks: Sequence[Mark | None], spans: Sequence[tuple[int, int]]
) -> list[tuple[int, int, str]]:
    """The entities as read by spacy-wrap, and so by GenDa Lens 0.0.3.

    *Inside* continues an entity of any type, and the last word decides the type of the whole entity.
    """
    found: list[tuple[int, int, str]] = []
    open_ = False
    for mark, (begin, end) in zip(marks, spans, strict=True):
        if mark is None:
            open_ = False
            continue
        if open_ and mark.place not in _OPENING:
            begin = found.pop()[0]
        found.append((begin, end, mark.type))
        open_ = True
    return found


def _is_style_of(style: re.Pattern[str], labels: Sequence[str]) -> bool:
    matches = [found for found in map(style.fullmatch, labels) if found]
    marks = {found["mark"].upper() for found in matches}
    return bool(marks & set("BISU")) and 2 * len(matches) > len(labels)


def _read_mark(label: str, style: re.Pattern[str] | None) -> Mark:
    found = style.fullmatch(label) if style else None
    if found is None:
        return Mark(label.strip(), Place.INSIDE)
    return Mark(found["type"], _PLACES[found["mark"].upper()])
