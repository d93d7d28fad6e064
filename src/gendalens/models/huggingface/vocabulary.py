"""The pieces of a tokenizer's vocabulary that are whole words, with and without a word mark.

A mark means that a space comes before: ▁ in SentencePiece, Ġ in byte-level vocabularies. WordPiece
marks the opposite, what continues a word (##), and older BPE marks a word's end (</w>).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

_METASPACE = "▁"
_WORD = re.compile(r"\w+|[^\w\s\ufffd]")
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
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

    def write_text(self, pieces: Iterable[int]) -> str:
        """The text that pieces stand for together, spaces as the vocabulary marks them."""
        written = (
            self._added[piece].content.encode()
            if piece in self._added
            else self._encode_piece(self._tokenizer.convert_ids_to_tokens(piece))
            for piece in pieces
        )
        # Joined before they are decoded, because a letter can be divided between pieces.
        return b"".join(written).decode(errors="replace")

    @cached_property
    def special(self) -> frozenset[int]:
        """The special tokens, those included that the tokenizer has no name for."""
        return frozenset(self._tokenizer.all_special_ids) | {
            piece for piece, token in self._added.items() if token.special
        }

    @cached_property
    def _added(self) -> dict[int, Any]:
        added: dict[int, Any] = self._tokenizer.added_tokens_decoder
        return added

    def find_whole_words(self) -> WholeWords:
        """The pieces that are one whole word each, in order of their numbers.

        The order matters because the first of equally likely pieces is chosen, and the order of
        get_vocab() differs between processes.
        """
        special = self.special
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
        # A piece that ends inside a character gets a replacement character there and is not a word.
        return self._encode(token).decode(errors="replace")

    def _encode_piece(self, token: str) -> bytes:
        """A piece's part of a text; <0xC3> is one byte of a character that is no piece itself."""
        byte = _BYTE.fullmatch(token)
        return bytes.fromhex(byte[1]) if byte else self._encode(token)

    def _encode(self, token: str) -> bytes:
        if self._bytes:
            table = _byte_table()
            return bytes(table[char] for char in token if char in table)
        token = token.removeprefix(self._continues).removesuffix(self._ends)
        return token.replace(_METASPACE, " ").encode()


@lru_cache(maxsize=1)
def _byte_table() -> dict[str, int]:
    """The byte that each character of a byte-level vocabulary represents (Radford et al. 2019).

    Printable Latin-1 stands for itself; the other bytes, in order, for the characters from 256 on.
    """
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    table = {chr(byte): byte for byte in printable}
    return table | {chr(256 + rank): byte for rank, byte in enumerate(others)}
