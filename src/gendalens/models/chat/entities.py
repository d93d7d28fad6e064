"""The names that a chat model lists as JSON, found again in the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from unicodedata import normalize

#: The kinds of name that a chat model is asked for.
LABELS = ("PER", "LOC", "ORG")
#: JSON Schema of the list.
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "navne": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "navn": {"type": "string"},
                        "type": {"type": "string", "enum": list(LABELS)},
                    },
                    "required": ["navn", "type"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["navne"],
        "additionalProperties": False,
    }
)
_KINDS = {
    "PER": "per pers person personer people personnavn",
    "LOC": "loc location locations sted steder place gpe stednavn land by country city",
    "ORG": """org organisation organisationer organization organizations virksomhed firma company
        corporation institution""",
}
_LABEL_OF = {word: label for label, words in _KINDS.items() for word in words.split()}
_NAME_KEYS, _KIND_KEYS = ("navn", "name", "tekst", "text"), ("type", "kind", "label", "kategori")
_FENCE = re.compile(r"```[a-zA-Z]*\s*\n?(.*?)```", re.DOTALL)


class Named(NamedTuple):
    """A name as the model wrote it; ``label`` is empty if it is of no kind that was asked for."""

    name: str
    label: str


class Aligned(NamedTuple):
    """Entities as (start, end, label), and how many of the names do not occur in the text."""

    entities: tuple[tuple[int, int, str], ...]
    invented: int


def parse_names(text: str) -> list[Named] | None:
    """The names in a model's answer; None if it is no list of names.

    >>> parse_names('```json [{"navn": "Anna", "type": "person"}]```')
    [Named(name='Anna', label='PER')]
    """
    found = _parse_json(text)
    if isinstance(found, dict):
        # The object that holds the list; its key is a matter of taste.
        found = next(iter(found.values())) if len(found) == 1 else None
    if not isinstance(found, list):
        return None
    names = [_read_entry(entry) for entry in found]
    return None if None in names else [name for name in names if name]


def align_names(text: str, names: Sequence[Named]) -> Aligned:
    """The places of the names in the text.

    Longer names go first, so that *Hansen* is not found within *Anna Hansen*. A repeated name takes the
    next place; the repetitions that the text does not have are ignored. A name without its genitive
    ending covers the whole word, as annotators mark it.
    """
    taken: list[tuple[int, int, str]] = []
    invented = 0
    for name, label in sorted(names, key=lambda named: -len(named.name)):
        places = list(_find_places(text, name))
        if not places:
            invented += 1
        free = (place for place in places if not _overlaps(place, taken))
        if place := next(free, None):
            taken.append((*place, label))
    entities = tuple(entity for entity in sorted(taken) if entity[2])
    return Aligned(entities, invented)


def _parse_json(text: str) -> Any:
    fenced = _FENCE.search(text)
    content = fenced[1] if fenced else text
    begins = [at for at in (content.find("{"), content.find("[")) if at >= 0]
    end = max(content.rfind("}"), content.rfind("]"))
    if not begins or end < 0:
        return None
    try:
        return json.loads(content[min(begins) : end + 1])
    except (ValueError, RecursionError):
        return None


def _read_entry(entry: object) -> Named | None:
    if not isinstance(entry, dict):
        return None
    name = next((entry[key] for key in _NAME_KEYS if key in entry), None)
    kind = next((entry[key] for key in _KIND_KEYS if key in entry), None)
    if not isinstance(name, str) or not isinstance(kind, str) or not name.strip():
        return None
    return Named(name.strip(), _LABEL_OF.get(kind.strip().casefold(), ""))


def _find_places(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Where a name stands as a whole word, with a genitive ending if it has one there."""
    for written in dict.fromkeys((name, normalize("NFC", name), normalize("NFD", name))):
        words = r"\s+".join(_write_pattern(word) for word in written.split())
        pattern = rf"(?<!\w){words}(?:['’]?s|['’])?(?!\w)"
        for flags in (re.NOFLAG, re.IGNORECASE):
            places = [match.span() for match in re.finditer(pattern, text, flags)]
            if places:
                yield from places
                return


def _write_pattern(word: str) -> str:
    """A pattern of a word, whatever form its apostrophes and hyphens have."""
    pattern = re.sub(r"['’‘]", "['’‘]", re.escape(word))
    return re.sub(r"\\?[-‐‑–]", "[-‐‑–]", pattern)


def _overlaps(place: tuple[int, int], taken: Sequence[tuple[int, int, str]]) -> bool:
    return any(place[0] < end and begin < place[1] for begin, end, _ in taken)
