"""Sentences with their entities in brackets, and their conversion to CoNLL-U.

``ner.txt`` is written by people: a genre's name after ``#``, then one sentence per line, as in
``[PER Mette Holm]s hund bor i [LOC Aarhus].`` An ending after the bracket (s, ', 's) marks a genitive and
belongs to the word, as in DaNE. ``python -m tools.builtin_sets.marked_text`` turns it into
``ner.conllu``, which has words, entities and genitives, but no syntax.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gendalens.data.builtin.catalogue import FOLDER
from gendalens.data.text import Span, read_lines
from gendalens.errors import UserError

SOURCE = FOLDER / "ner.txt"
TARGET = FOLDER / "ner.conllu"

MARK = re.compile(r"\[(PER|LOC|ORG|MISC) ([^][]+)\](['’]s|['’]|s(?!\w))?")
ABBREVIATIONS = ("att", "chr", "co", "fr", "hr", "kr", "nr", "pr")
# Words as the Danish treebank splits them: an abbreviation, an initial and an ordinal keep their full
# stop, a genitive keeps its apostrophe, hyphens join.
WORD = re.compile(
    rf"""
    ph\.d\.(?:-\w+)?
    | (?i:{"|".join(ABBREVIATIONS)})\.
    | (?:[A-ZÆØÅ]\.)+(?=[ ])
    | \d+\.(?=[ ][a-zæøå])
    | \d+(?:[.,]\d+)+(?!\w)
    | \w+(?:[-'’]\w+)*(?:(?<=[sxz])['’])?
    | \S
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class MarkedEntity:
    """An entity of a marked sentence; the span includes a genitive's ending."""

    span: Span
    label: str
    genitive: bool


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    """A sentence of the marked text: its text and its entities."""

    genre: str
    text: str
    entities: tuple[MarkedEntity, ...]


def read(lines: list[str]) -> Iterator[MarkedSentence]:
    """The sentences of a marked text."""
    genre = ""
    for number, line in enumerate(lines, start=1):
        if line.startswith("# "):
            genre = line.removeprefix("# ")
        elif line:
            yield _read_line(genre, line, number)


def _read_line(genre: str, line: str, number: int) -> MarkedSentence:
    text, done = "", 0
    entities = []
    for found in MARK.finditer(line):
        text += line[done : found.start()]
        label, name, ending = found.group(1), found.group(2), found.group(3) or ""
        span = Span(len(text), len(text) + len(name) + len(ending))
        entities.append(MarkedEntity(span, label, bool(ending)))
        text += name + ending
        done = found.end()
    text += line[done:]
    if "[" in text or "]" in text:
        raise UserError(
            "Line {line} of the marked text has a stray bracket: correct the mark.", line=number
        )
    return MarkedSentence(genre, text, tuple(entities))


def to_conllu(sentences: Iterator[MarkedSentence]) -> Iterator[str]:
    """The lines of the CoNLL-U file; sentences are numbered within their genre."""
    count: dict[str, int] = {}
    for sentence in sentences:
        number = count[sentence.genre] = count.get(sentence.genre, 0) + 1
        yield f"# sent_id = {sentence.genre}-{number}"
        yield f"# text = {sentence.text}"
        yield from _format_rows(sentence)
        yield ""


def _format_rows(sentence: MarkedSentence) -> Iterator[str]:
    words = [Span(*found.span()) for found in WORD.finditer(sentence.text)]
    starts, ends = {word.start for word in words}, {word.end for word in words}
    for entity in sentence.entities:
        if entity.span.start not in starts or entity.span.end not in ends:
            raise UserError(
                "“{text}”: an entity begins or ends inside a word; move its brackets.",
                text=sentence.text,
            )
    for number, word in enumerate(words, start=1):
        tag, features = "O", "_"
        for entity in sentence.entities:
            span = entity.span
            if span.start <= word.start < span.end:
                tag = f"{'B' if word.start == span.start else 'I'}-{entity.label}"
                features = "Case=Gen" if entity.genitive and word.end == span.end else "_"
        glued = sentence.text[word.end : word.end + 1] not in ("", " ")
        misc = f"name={tag}" + ("|SpaceAfter=No" if glued else "")
        form = sentence.text[word.start : word.end]
        yield f"{number}\t{form}\t_\t_\t_\t{features}\t_\t_\t_\t{misc}"


def build_conllu() -> str:
    """The content of ``ner.conllu``, built from the shipped marked text."""
    return "".join(f"{line}\n" for line in to_conllu(read(read_lines(SOURCE))))


if __name__ == "__main__":
    TARGET.write_text(build_conllu(), encoding="utf-8")
