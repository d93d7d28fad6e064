"""CoNLL-U with named entities: one word a line, ten columns, the entity tag in MISC (``name=B-PER``).

The reader is strict: what could be misread is reported with its line. The text of a sentence is
rebuilt from its words and ``SpaceAfter=No``; ``# text``, where it stands, must say the same but for
white space. Multiword tokens (``3-4``) stand in the text instead of their words, empty nodes
(``3.1``) do not stand in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gendalens.data.text import Span, broken
from gendalens.errors import UserError

COLUMNS = 10
WORD_ID = re.compile(r"[1-9][0-9]{0,8}")
RANGE_ID = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
EMPTY_ID = re.compile(r"(0|[1-9][0-9]{0,8})\.[1-9][0-9]{0,8}")
TAG = re.compile(r"O|([BI])-(\S+)")
SENTENCE_ID = re.compile(r"# *sent_id *=(.*)")
TEXT = re.compile(r"# *text *=(.*)")
# Danish writes the genitive without an apostrophe, but not everybody does: Kay-Siff's, Marcus'.
GENITIVE_FORM = re.compile(r".*([^\W_]|\.)['’]s|.*[sxz]['’]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Token:
    """A word as it stands in the text; ``genitive`` if it is marked so, or ends as only one does."""

    text: str
    span: Span
    genitive: bool = False


@dataclass(frozen=True, slots=True)
class Entity:
    """A named entity: where it stands in the text, its label, and which tokens it covers."""

    span: Span
    label: str
    tokens: range


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with its named entities; ``line`` is where it begins in its file."""

    id: str
    text: str
    tokens: tuple[Token, ...]
    entities: tuple[Entity, ...]
    line: int


@dataclass(frozen=True, slots=True)
class _Word:
    """What one line says about the text."""

    line: int
    form: str
    tag: str
    genitive: bool
    space: bool


def read(lines: Sequence[str], path: Path) -> list[Sentence]:
    """The sentences of a file's lines; ``path`` is for the messages."""
    if lines and lines[0].startswith("\ufeff"):  # some editors put a byte-order mark in front
        lines = [lines[0].removeprefix("\ufeff"), *lines[1:]]
    if lines and not any(line.count("\t") == COLUMNS - 1 for line in lines):
        raise UserError(f"{path.name} is no CoNLL-U file: no line has the ten columns of one.")
    sentences: list[Sentence] = []
    seen: set[str] = set()
    for first, block in _blocks(lines, path):
        sentence = _sentence(block, first, len(sentences) + 1, path)
        if sentence.id in seen:
            raise broken(path, first, f"a second sentence has the sent_id “{sentence.id[:80]}”")
        seen.add(sentence.id)
        sentences.append(sentence)
    if not sentences:
        raise UserError(f"{path.name} holds no sentence: it should be a CoNLL-U file.")
    return sentences


def _blocks(lines: Sequence[str], path: Path) -> Iterator[tuple[int, list[str]]]:
    """Each sentence's lines, with the number of the first."""
    block: list[str] = []
    for number, line in enumerate(lines, start=1):
        if line:
            block.append(line)
        elif block:
            yield number - len(block), block
            block = []
        else:
            raise broken(path, number, "an empty line that ends no sentence")
    if block:
        reason = "the last sentence is not ended by an empty line, so the file may be cut off"
        raise broken(path, len(lines), reason)


def _sentence(block: list[str], first: int, ordinal: int, path: Path) -> Sentence:
    """One block of lines: comments, then words."""
    start = next((i for i, line in enumerate(block) if not line.startswith("#")), len(block))
    if start == len(block):
        raise broken(path, first, "a sentence without words")
    words = _words(block[start:], first + start, path)
    text, tokens = _text(words)
    stated = _comment(TEXT, block[:start])
    if stated is not None and stated.split() != text.split():
        raise broken(path, first, "the words below do not make up its “# text”")
    name = _comment(SENTENCE_ID, block[:start])
    return Sentence(
        id=name if name else str(ordinal),
        text=text,
        tokens=tokens,
        entities=_entities(words, tokens, path),
        line=first,
    )


def _comment(pattern: re.Pattern[str], comments: list[str]) -> str | None:
    found = next((m for line in comments if (m := pattern.fullmatch(line))), None)
    return None if found is None else found.group(1).strip()


def _words(lines: list[str], first: int, path: Path) -> list[_Word]:
    """The words that stand in the text, their numbers checked."""
    words: list[_Word] = []
    last = 0  # the number of the last word
    inside = 0  # the last word that a multiword token covers
    for number, line in enumerate(lines, start=first):
        if line.startswith("#"):
            raise broken(path, number, "a comment inside a sentence")
        columns = line.split("\t")
        if len(columns) != COLUMNS:
            raise broken(path, number, f"it has {len(columns)} columns where ten are needed")
        key = columns[0]
        if WORD_ID.fullmatch(key):
            if int(key) != last + 1:
                raise broken(path, number, f"word {key} follows word {last}")
            last += 1
            word = _word(columns, number, path, tagged=last > inside)
            if last > inside:
                words.append(word)
            else:
                words[-1] = _merged(words[-1], word, path)
        elif found := RANGE_ID.fullmatch(key):
            begin, end = int(found.group(1)), int(found.group(2))
            if begin != last + 1 or end <= begin or last < inside:
                raise broken(path, number, f"the multiword token {key} does not fit its place")
            inside = end
            words.append(_word(columns, number, path, tagged=False))
        elif found := EMPTY_ID.fullmatch(key):
            if int(found.group(1)) != last:
                raise broken(path, number, f"the empty node {key} does not follow its word")
        else:
            raise broken(path, number, f"“{key[:40]}” is no number of a word")
    if last < inside:
        raise broken(path, first + len(lines) - 1, "its last multiword token lacks words")
    if not words:
        raise broken(path, first, "a sentence without words")
    return words


def _word(columns: list[str], line: int, path: Path, *, tagged: bool) -> _Word:
    """One line's form, tag, case and spacing; without a tag only where none is needed."""
    form = columns[1]
    if not form or form != form.strip():
        raise broken(path, line, "its form is empty or has white space around it")
    tag, space = "", True
    for part in columns[9].split("|"):
        key, divider, value = part.partition("=")
        if key == "name" and divider:
            if tag or not TAG.fullmatch(value):
                reason = f"“{part[:40]}” is no tag: write name=O, name=B-PER or name=I-PER, once"
                raise broken(path, line, reason)
            tag = value
        elif key == "SpaceAfter" and divider:
            if value != "No":
                raise broken(path, line, f"“{part[:40]}” should be SpaceAfter=No")
            space = False
    if tagged and not tag:
        raise broken(path, line, "its last column has no tag (name=O, name=B-PER and so on)")
    genitive = "Case=Gen" in columns[5].split("|") or GENITIVE_FORM.fullmatch(form) is not None
    return _Word(line, form, tag, genitive, space)


def _merged(token: _Word, word: _Word, path: Path) -> _Word:
    """A multiword token after one more of its words: it is tagged as its first word is."""
    if token.tag and word.tag.startswith("B-"):
        raise broken(path, word.line, "an entity begins inside a multiword token")
    tag = token.tag or word.tag
    if not tag:
        raise broken(path, word.line, "neither it nor its multiword token has a tag (name=…)")
    return _Word(token.line, token.form, tag, token.genitive or word.genitive, token.space)


def _text(words: list[_Word]) -> tuple[str, tuple[Token, ...]]:
    """The text and the place of each word in it."""
    pieces: list[str] = []
    tokens: list[Token] = []
    at = 0
    for word in words:
        end = at + len(word.form)
        tokens.append(Token(word.form, Span(at, end), word.genitive))
        pieces.append(word.form)
        if word.space:
            pieces.append(" ")
            end += 1
        at = end
    return "".join(pieces).rstrip(" "), tuple(tokens)


def _entities(words: list[_Word], tokens: tuple[Token, ...], path: Path) -> tuple[Entity, ...]:
    """The entities that the tags spell out (IOB2: each begins with B-)."""
    found: list[Entity] = []
    begin, label = 0, ""
    for i, word in enumerate(words):
        prefix, _, name = word.tag.partition("-")
        if prefix == "I":
            if name != label:
                before = "that label" if label else "an entity"
                raise broken(path, word.line, f"the tag {word.tag[:40]} does not continue {before}")
            continue
        if label:
            found.append(_entity(tokens, begin, i, label))
        begin, label = i, name
    if label:
        found.append(_entity(tokens, begin, len(words), label))
    return tuple(found)


def _entity(tokens: tuple[Token, ...], begin: int, end: int, label: str) -> Entity:
    span = Span(tokens[begin].span.start, tokens[end - 1].span.end)
    return Entity(span, label, range(begin, end))
