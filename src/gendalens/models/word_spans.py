r"""The words of a running text, tokenised as in Danish treebanks: the units that NER models label.

Language models are asked about ``\w+`` (see ``encoding``), but a tagger has learnt one label for
*Anne-Marie*, *Lars'*, *B.T.* and *1950'erne*, and its labels for parts of them are unreliable. A word
is a run of characters between spaces without the punctuation at its edges; a full stop stays with an
abbreviation, an apostrophe with a genitive or a clipped word, a hyphen with half a compound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# A letter may carry combining accents (a decomposed é) or a soft hyphen.
_LETTER = r"[\w\u0300-\u036f\u00ad]"
# DDT writes *Lars'far* without a space, but *succes'en* is one word.
_ENDING = r"(?:e|s|ens?|ets?|ers?|ere|ernes?)\b"
_JOINT = rf"""(?:
    \.?-                                 # Anne-Marie, pct.-skatten
  | [./&]                                # B.T., A/S, B&O
  | \.?['’](?={_ENDING}) | (?<![sxz])['’]  # H.'s, succes'en, O'Connor
  | (?<=\d)[,:](?=\d)                    # 36,5 and 20:30
)"""
_CORE = re.compile(rf"{_LETTER}+(?:{_JOINT}{_LETTER}+)*", re.VERBOSE | re.IGNORECASE)
_DOTS = re.compile(r"\.{2,}")
_VOWEL = re.compile(r"[aeiouyæøåäöáéíóúü]", re.IGNORECASE)
# What may follow the last full stop of a text: closing quotes and brackets.
_CLOSING = re.compile(r"[\s\"'’”»)\]]*")


def split_words(text: str) -> list[tuple[int, int]]:
    """The character offsets of each word in a text."""
    return list(_find_words(text))


def _find_words(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    quoted = False
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        begin = at
        if core := _CORE.match(text, at):
            at = core.end()
            at += _keeps_mark(core.group(), text, at, quoted)
        else:
            dots = _DOTS.match(text, at)
            at = dots.end() if dots else at + 1
            # An apostrophe at the start of a word opens a quotation, and the next one closes it.
            if text[begin] in "'’‘":
                quoted = not quoted
        yield begin, at


def _keeps_mark(word: str, text: str, at: int, quoted: bool) -> bool:
    """Whether the character after a word belongs to it."""
    mark = text[at : at + 1]
    if mark == ".":
        return _abbreviates(word, text, at + 1)
    return mark == "-" or (mark in ("'", "’") and not quoted)


def _abbreviates(word: str, text: str, after: int) -> bool:
    """Whether the full stop after a word belongs to it; ``after`` is the position after the stop."""
    if text.startswith("..", after):
        return False
    if text.startswith(".", after) or ("." in word and not word[-1].isdigit()):
        return True
    if _CLOSING.fullmatch(text, after):
        return False
    visible = re.compile(r"\S").search(text, after)
    following = visible.group() if visible else ""
    if following.islower() or following in (",", ";") or (word.islower() and following.isdigit()):
        return True
    if word.isdigit():
        return len(word) <= 2
    # An initial, or letters without a vowel (kr, Kgl, Chr) that are not an acronym (TV).
    return len(word) == 1 or not (_VOWEL.search(word) or word.isupper())
