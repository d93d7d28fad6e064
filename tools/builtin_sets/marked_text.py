"""Sentences with their entities in brackets, and the CoNLL-U that they make.

``ner.txt`` is written by people: a genre's name after ``#``, then one sentence a line, as in
``[PER Mette Holm]s hund bor i [LOC Aarhus].`` An ending behind the bracket (s, ', 's) is a genitive's; it
belongs to the word, as in DaNE. ``ner.conllu`` is made from it by ``python -m
tools.builtin_sets.marked_text`` and has words, entities and genitives, no syntax.
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
# Words as the Danish treebank cuts them: an abbreviation, an initial and an ordinal keep their point,
# a genitive keeps its apostrophe, hyphens join.
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
class Marked:
    """A sentence as it was written: its text, and its entities (span with ending, label, genitive)."""

    genre: str
    text: str
    entities: tuple[tuple[Span, str, bool], ...]


def read(lines: list[str]) -> Iterator[Marked]:
    """The sentences of a marked text."""
    genre = ""
    for number, line in enumerate(lines, start=1):
        if line.startswith("# "):
            genre = line.removeprefix("# ")
        elif line:
            yield _marked(genre, line, number)


def _marked(genre: str, line: str, number: int) -> Marked:
    text, done = "", 0
    entities = []
    for found in MARK.finditer(line):
        text += line[done : found.start()]
        label, name, ending = found.group(1), found.group(2), found.group(3) or ""
        span = Span(len(text), len(text) + len(name) + len(ending))
        entities.append((span, label, bool(ending)))
        text += name + ending
        done = found.end()
    text += line[done:]
    if "[" in text or "]" in text:
        raise UserError(f"Line {number} of the marked text has a stray bracket: mend the mark.")
    return Marked(genre, text, tuple(entities))


def conllu(sentences: Iterator[Marked]) -> Iterator[str]:
    """The lines of the CoNLL-U file; sentences are numbered within their genre."""
    count: dict[str, int] = {}
    for sentence in sentences:
        number = count[sentence.genre] = count.get(sentence.genre, 0) + 1
        yield f"# sent_id = {sentence.genre}-{number}"
        yield f"# text = {sentence.text}"
        yield from _rows(sentence)
        yield ""


def _rows(sentence: Marked) -> Iterator[str]:
    words = [Span(*found.span()) for found in WORD.finditer(sentence.text)]
    starts, ends = {word.start for word in words}, {word.end for word in words}
    for span, _, _ in sentence.entities:
        if span.start not in starts or span.end not in ends:
            raise UserError(f"“{sentence.text}”: an entity begins or ends inside a word.")
    for number, word in enumerate(words, start=1):
        tag, features = "O", "_"
        for span, label, genitive in sentence.entities:
            if span.start <= word.start < span.end:
                tag = f"{'B' if word.start == span.start else 'I'}-{label}"
                features = "Case=Gen" if genitive and word.end == span.end else "_"
        glued = sentence.text[word.end : word.end + 1] not in ("", " ")
        misc = f"name={tag}" + ("|SpaceAfter=No" if glued else "")
        form = sentence.text[word.start : word.end]
        yield f"{number}\t{form}\t_\t_\t_\t{features}\t_\t_\t_\t{misc}"


def made() -> str:
    """What the shipped marked text makes: the content of ``ner.conllu``."""
    return "".join(f"{line}\n" for line in conllu(read(read_lines(SOURCE))))


if __name__ == "__main__":
    TARGET.write_text(made(), encoding="utf-8")
