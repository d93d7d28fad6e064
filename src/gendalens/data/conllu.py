"""CoNLL-U with named entities: one word per line, ten columns, the entity tag in MISC (``name=B-PER``).

The reader is strict: it reports ambiguous input with its line number. The text of a sentence is
rebuilt from its words and ``SpaceAfter=No``; a ``# text`` comment must agree with it except in white
space. Multiword tokens (``3-4``) replace their words in the text, and empty nodes (``3.1``) are left out.
A ``# newdoc`` comment begins a document, which lasts until the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gendalens.data.text import Span, columns_error, line_error
from gendalens.errors import UserError
from gendalens.words import phrase

COLUMNS = 10
WORD_ID = re.compile(r"[1-9][0-9]{0,8}")
RANGE_ID = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
EMPTY_ID = re.compile(r"(0|[1-9][0-9]{0,8})\.[1-9][0-9]{0,8}")
TAG = re.compile(r"O|([BI])-(\S+)")
SENTENCE_ID = re.compile(r"# *sent_id *=(.*)")
TEXT = re.compile(r"# *text *=(.*)")
# With an id, without one, or with something else, which cannot identify the document.
NEW_DOCUMENT = re.compile(r"# *newdoc(?:\s+id\s*=(.*)|\s.*)?")
# Most Danish genitives have no apostrophe, but some texts write one: Kay-Siff's, Marcus'.
GENITIVE_FORM = re.compile(r".*([^\W_]|\.)['’]s|.*[sxz]['’]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Token:
    """A word as it appears in the text; ``genitive`` by its tag or its ending."""

    text: str
    span: Span
    genitive: bool = False


@dataclass(frozen=True, slots=True)
class Entity:
    """A named entity: its span in the text, its label, and the tokens it covers."""

    span: Span
    label: str
    tokens: range


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with its named entities; ``line`` is where it begins in its file.

    ``document`` is the id of its document: as read, the comment that began it (``newdoc id = X``, or
    ``newdoc 3`` for the third comment if that has no id), or empty if there was none yet. See
    `gendalens.data.documents`, which gives every sentence of a file a document.
    """

    id: str
    text: str
    tokens: tuple[Token, ...]
    entities: tuple[Entity, ...]
    line: int
    document: str = ""


@dataclass(frozen=True, slots=True)
class _Word:
    """The content of one line."""

    line: int
    form: str
    tag: str
    genitive: bool
    space: bool


def read(lines: Sequence[str], path: Path) -> list[Sentence]:
    """The sentences of a file's lines; ``path`` is for the messages."""
    if lines and lines[0].startswith("\ufeff"):  # some editors write a byte-order mark
        lines = [lines[0].removeprefix("\ufeff"), *lines[1:]]
    if lines and not any(line.count("\t") == COLUMNS - 1 for line in lines):
        raise UserError(
            "{file} is not a CoNLL-U file: no line has its ten columns. Name another file.",
            file=path.name,
        )
    sentences: list[Sentence] = []
    seen: set[str] = set()
    document, marks = "", 0
    for first, block in _split_blocks(lines, path):
        mark = _find_comment(NEW_DOCUMENT, block)
        if mark is not None:
            marks += 1
            document = f"newdoc id = {mark}" if mark else f"newdoc {marks}"
        sentence = _read_sentence(block, first, len(sentences) + 1, document, path)
        if sentence.id in seen:
            reason = phrase("a second sentence has the sent_id “{id}”", id=sentence.id[:80])
            raise line_error(path, first, reason)
        seen.add(sentence.id)
        sentences.append(sentence)
    if not sentences:
        raise UserError("{file} holds no sentences: name a CoNLL-U file.", file=path.name)
    return sentences


def _split_blocks(lines: Sequence[str], path: Path) -> Iterator[tuple[int, list[str]]]:
    """The lines of each sentence, with the number of the first line."""
    block: list[str] = []
    for number, line in enumerate(lines, start=1):
        if line:
            block.append(line)
        elif block:
            yield number - len(block), block
            block = []
        else:
            raise line_error(path, number, phrase("an empty line that ends no sentence"))
    if block:
        reason = phrase(
            "the last sentence is not followed by an empty line, so the file may be truncated"
        )
        raise line_error(path, len(lines), reason)


def _read_sentence(
    block: list[str], first: int, ordinal: int, document: str, path: Path
) -> Sentence:
    """One block of lines: comments, then words."""
    start = next((i for i, line in enumerate(block) if not line.startswith("#")), len(block))
    if start == len(block):
        raise line_error(path, first, phrase("a sentence without words"))
    words = _read_words(block[start:], first + start, path)
    text, tokens = _build_text(words)
    stated = _find_comment(TEXT, block[:start])
    if stated is not None and stated.split() != text.split():
        raise line_error(path, first, phrase("the words below do not make up its “# text”"))
    name = _find_comment(SENTENCE_ID, block[:start])
    return Sentence(
        id=name if name else str(ordinal),
        text=text,
        tokens=tokens,
        entities=_read_entities(words, tokens, path),
        line=first,
        document=document,
    )


def _find_comment(pattern: re.Pattern[str], comments: list[str]) -> str | None:
    """What the first such comment says, stripped; None without such a comment."""
    found = next((m for line in comments if (m := pattern.fullmatch(line))), None)
    return None if found is None else (found.group(1) or "").strip()


def _read_words(lines: list[str], first: int, path: Path) -> list[_Word]:
    """The words that appear in the text; checks their numbering."""
    words: list[_Word] = []
    last = 0  # the number of the last word
    inside = 0  # the last word that a multiword token covers
    for number, line in enumerate(lines, start=first):
        if line.startswith("#"):
            raise line_error(path, number, phrase("a comment inside a sentence"))
        columns = line.split("\t")
        if len(columns) != COLUMNS:
            raise columns_error(path, number, found=len(columns), needed=COLUMNS)
        key = columns[0]
        if WORD_ID.fullmatch(key):
            if int(key) != last + 1:
                reason = phrase("word {number} follows word {previous}", number=key, previous=last)
                raise line_error(path, number, reason)
            last += 1
            word = _read_word(columns, number, path, tagged=last > inside)
            if last > inside:
                words.append(word)
            else:
                words[-1] = _merge(words[-1], word, path)
        elif found := RANGE_ID.fullmatch(key):
            begin, end = int(found.group(1)), int(found.group(2))
            if begin != last + 1 or end <= begin or last < inside:
                reason = phrase("the multiword token {number} is out of place", number=key)
                raise line_error(path, number, reason)
            inside = end
            words.append(_read_word(columns, number, path, tagged=False))
        elif found := EMPTY_ID.fullmatch(key):
            if int(found.group(1)) != last:
                reason = phrase("the empty node {number} does not follow its word", number=key)
                raise line_error(path, number, reason)
        else:
            reason = phrase("“{text}” is not the number of a word", text=key[:40])
            raise line_error(path, number, reason)
    if last < inside:
        reason = phrase("its last multiword token lacks words")
        raise line_error(path, first + len(lines) - 1, reason)
    if not words:
        raise line_error(path, first, phrase("a sentence without words"))
    return words


def _read_word(columns: list[str], line: int, path: Path, *, tagged: bool) -> _Word:
    """One line's form, tag, case and spacing; only an optional tag may be missing."""
    form = columns[1]
    if not form or form != form.strip():
        raise line_error(path, line, phrase("its form is empty or has white space around it"))
    tag, space = "", True
    for part in columns[9].split("|"):
        key, equals, value = part.partition("=")
        if key == "name" and equals:
            if tag or not TAG.fullmatch(value):
                reason = phrase(
                    "“{text}” is not a tag: write name=O, name=B-PER or name=I-PER, once",
                    text=part[:40],
                )
                raise line_error(path, line, reason)
            tag = value
        elif key == "SpaceAfter" and equals:
            if value != "No":
                reason = phrase("“{text}” should be SpaceAfter=No", text=part[:40])
                raise line_error(path, line, reason)
            space = False
    if tagged and not tag:
        reason = phrase("its last column has no tag (name=O, name=B-PER and so on)")
        raise line_error(path, line, reason)
    genitive = "Case=Gen" in columns[5].split("|") or GENITIVE_FORM.fullmatch(form) is not None
    return _Word(line, form, tag, genitive, space)


def _merge(token: _Word, word: _Word, path: Path) -> _Word:
    """A multiword token extended by one of its words; it takes the tag of its first word."""
    if token.tag and word.tag.startswith("B-"):
        raise line_error(path, word.line, phrase("an entity begins inside a multiword token"))
    tag = token.tag or word.tag
    if not tag:
        reason = phrase("neither it nor its multiword token has a tag (name=…)")
        raise line_error(path, word.line, reason)
    return _Word(token.line, token.form, tag, token.genitive or word.genitive, token.space)


def _build_text(words: list[_Word]) -> tuple[str, tuple[Token, ...]]:
    """The text and the position of each word in it."""
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


def _read_entities(words: list[_Word], tokens: tuple[Token, ...], path: Path) -> tuple[Entity, ...]:
    """The entities that the tags spell out (IOB2: each begins with B-)."""
    found: list[Entity] = []
    begin, label = 0, ""
    for i, word in enumerate(words):
        prefix, _, name = word.tag.partition("-")
        if prefix == "I":
            if name != label:
                reason = (
                    phrase("the tag {tag} does not continue that label", tag=word.tag[:40])
                    if label
                    else phrase("the tag {tag} does not continue an entity", tag=word.tag[:40])
                )
                raise line_error(path, word.line, reason)
            continue
        if label:
            found.append(_build_entity(tokens, begin, i, label))
        begin, label = i, name
    if label:
        found.append(_build_entity(tokens, begin, len(words), label))
    return tuple(found)


def _build_entity(tokens: tuple[Token, ...], begin: int, end: int, label: str) -> Entity:
    span = Span(tokens[begin].span.start, tokens[end - 1].span.end)
    return Entity(span, label, range(begin, end))
