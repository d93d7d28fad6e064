"""The pieces of a tokenizer's vocabulary that are whole words, with and without a word mark.

A mark means that a space comes before: ▁ in SentencePiece, Ġ in byte-level vocabularies. WordPiece
marks the opposite, what continues a word (##), and older BPE marks a word's end (</w>).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

_METASPACE = "▁"
_WORD = re.compile(r"\w+|[^\w\s\ufffd]")
# Fillers that training tools add to reach a vocabulary size.
_FILLER = re.compile(r"madeupword\d+|unused_?\d+")


class WholeWords(NamedTuple):
    """The pieces that are one whole word each: those without a space mark, those with one."""

    bare: list[int]
    marked: list[int]


class Vocabulary:
    """A tokenizer's pieces as they look in a text."""

    def __init__(self, tokenizer: Any, size: int) -> None:
        self._tokenizer = tokenizer
        self._size = size
        core = tokenizer.backend_tokenizer
        self._continues = getattr(core.model, "continuing_subword_prefix", None) or ""
        self._ends = getattr(core.model, "end_of_word_suffix", None) or ""
        self._bytes = "ByteLevel" in f"{core.pre_tokenizer} {core.decoder}"

    def has_space_mark(self, piece: int) -> bool:
        """Whether a piece begins with a space mark."""
        return self._surface(self._tokenizer.convert_ids_to_tokens(piece)).startswith(" ")

    def write_word(self, piece: int) -> str:
        """A piece as plain text, without marks."""
        return self._surface(self._tokenizer.convert_ids_to_tokens(piece)).strip()

    def find_whole_words(self) -> WholeWords:
        """The pieces that are one whole word each, in order of their numbers.

        The order matters because the first of equally likely pieces is chosen, and the order of
        get_vocab() differs between processes.
        """
        added = self._tokenizer.added_tokens_decoder
        special = set(self._tokenizer.all_special_ids)
        special |= {piece for piece, token in added.items() if token.special}
        words = WholeWords([], [])
        for token, piece in self._tokenizer.get_vocab().items():
            if piece in special or piece >= self._size:
                continue
            if (self._continues and token.startswith(self._continues)) or not token.endswith(
                self._ends
            ):
                continue
            surface = self._surface(token)
            marked = surface.startswith(" ")
            word = surface[marked:]
            if _WORD.fullmatch(word) and not _FILLER.fullmatch(word):
                (words.marked if marked else words.bare).append(piece)
        return WholeWords(sorted(words.bare), sorted(words.marked))

    def _surface(self, token: str) -> str:
        if self._bytes:
            table = _byte_table()
            # A piece that ends inside a character gets a replacement character there and is not a word.
            return bytes(table[char] for char in token if char in table).decode(errors="replace")
        token = token.removeprefix(self._continues).removesuffix(self._ends)
        return token.replace(_METASPACE, " ")


@lru_cache(maxsize=1)
def _byte_table() -> dict[str, int]:
    """The byte that each character of a byte-level vocabulary represents (Radford et al. 2019).

    Printable Latin-1 stands for itself; the other bytes, in order, for the characters from 256 on.
    """
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    table = {chr(byte): byte for byte in printable}
    return table | {chr(256 + rank): byte for rank, byte in enumerate(others)}
