"""A text for a tagger: rows of tokens no longer than its window, and where each word is."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from gendalens.models.huggingface.encoding import SPECIAL, Tokens
from gendalens.models.word_spans import split_words

Row = tuple[int, ...]
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Windows:
    """A text as rows of token ids, with the positions of its words.

    ``pieces`` holds (row, begin, end) for each word's tokens, ``spans`` the offsets of its characters.
    """

    inputs: tuple[Row, ...]
    pieces: tuple[tuple[int, int, int], ...]
    spans: tuple[Span, ...]
    averaged: bool = False

    @property
    def rows(self) -> int:
        """Rows of the forward pass."""
        return len(self.inputs)

    @property
    def length(self) -> int:
        """Tokens in the longest row."""
        return max(map(len, self.inputs), default=0)

    @property
    def positions(self) -> int:
        """Positions at which the head runs: all of them."""
        return sum(map(len, self.inputs))


class SingleSpaced:
    """A text with single spaces between its words, and a map back to the original characters.

    Taggers are trained on words with single spaces between them; some tokenizers turn other white space
    into tokens, which would then be the first pieces of words.
    """

    def __init__(self, original: str) -> None:
        chunks = list(re.finditer(r"\S+", original))
        self.text = " ".join(chunk.group() for chunk in chunks)
        # The position before a chunk represents the space in front of it.
        self._places = [at for chunk in chunks for at in range(chunk.start() - 1, chunk.end())][1:]

    def locate(self, begin: int, end: int) -> Span:
        """The characters of the original that a stretch without outer spaces came from."""
        return self._places[begin], self._places[end - 1] + 1


def cut_windows(
    text: SingleSpaced, tokens: Tokens, window: int | None, *, averaged: bool
) -> Windows:
    """The tokens of a text in windows that overlap by half, each word in the best one for it.

    Every window gets the special tokens that the tokenizer puts around a text.
    """
    found = _find_pieces(text.text, tokens)
    if not found:
        return Windows((), (), (), averaged)
    front = next(at for at, start in enumerate(tokens.starts) if start != SPECIAL)
    back = next(at for at, start in enumerate(reversed(tokens.starts)) if start != SPECIAL)
    stop = len(tokens.ids) - back
    body = tokens.ids[front:stop]
    room = len(body) if window is None else max(1, window - front - back)
    begins = _find_window_starts(len(body), room)
    pieces = []
    for first, last in found.values():
        row = _find_widest_window(first - front, begins, room, len(body))
        shift = front - begins[row]
        pieces.append((row, first - front + shift, min(last - front + 1 + shift, front + room)))
    return Windows(
        tuple(
            tokens.ids[:front] + body[begin : begin + room] + tokens.ids[stop:] for begin in begins
        ),
        tuple(pieces),
        tuple(text.locate(begin, end) for begin, end in found),
        averaged,
    )


def _find_pieces(text: str, tokens: Tokens) -> dict[Span, tuple[int, int]]:
    """The first and the last token of each word at whose start a token begins.

    Other words are left out: the tokenizer dropped them (a control character) or joined them to the
    word before (``."`` can be one token), whose label says nothing about them.
    """
    spans = split_words(text)
    begins = [begin for begin, _ in spans]
    found: dict[Span, tuple[int, int]] = {}
    for index, start in enumerate(tokens.starts):
        word = bisect_right(begins, start) - 1
        if word >= 0 and start < spans[word][1]:
            first, _ = found.setdefault(spans[word], (index, index))
            found[spans[word]] = (first, index)
    return found


def _find_window_starts(length: int, room: int) -> list[int]:
    """The starts of windows of ``room`` tokens that overlap by half; the last ends with the text."""
    last = max(0, length - room)
    return [*range(0, last, max(1, room // 2)), last]


def _find_widest_window(at: int, begins: Sequence[int], room: int, length: int) -> int:
    """The window with the most context on the token's shorter side; the text's own ends do not count."""

    def sight(row: int) -> float:
        begin, end = begins[row], begins[row] + room
        left = at - begin if begin > 0 else math.inf
        right = end - 1 - at if end < length else math.inf
        return min(left, right)

    latest = bisect_right(begins, at) - 1
    # Windows begin half a window apart, so at most four can contain a token.
    holding = (row for row in range(max(0, latest - 3), latest + 1) if at < begins[row] + room)
    return max(holding, key=sight)
