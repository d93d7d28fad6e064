"""Tokenised texts, with tokens assigned to words by character offsets.

``word_ids()`` is not used: with Gemma-type tokenizers, which do not split at spaces, it assigns a whole
sentence to one word.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SPECIAL = -1

_WORD = re.compile(r"\w+|[^\w\s]")
_VISIBLE = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text's tokens: their ids, where each begins in the text, and which word it belongs to.

    ``starts`` is the position of a token's first visible character; a space-only token belongs to the
    token after it and starts there. Special tokens are ``SPECIAL`` in both.
    """

    ids: tuple[int, ...]
    starts: tuple[int, ...]
    words: tuple[int, ...]

    def within(self, begin: int, end: int) -> range:
        """The tokens that start within the characters from ``begin`` up to ``end``."""
        found = [index for index, start in enumerate(self.starts) if begin <= start < end]
        return range(found[0], found[-1] + 1) if found else range(0)


def tokenise(tokenizer: Any, texts: Sequence[str], *, specials: bool) -> list[Tokens]:
    """The tokens of each text, with the tokenizer's special tokens around them if ``specials``."""
    if not texts:
        return []
    encoded = tokenizer(
        list(texts),
        add_special_tokens=specials,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,
    )
    parts = zip(
        texts,
        encoded["input_ids"],
        encoded["offset_mapping"],
        encoded["special_tokens_mask"],
        strict=True,
    )
    return [_locate_tokens(*part) for part in parts]


def _locate_tokens(
    text: str, ids: Sequence[int], spans: Sequence[tuple[int, int]], added: Sequence[int]
) -> Tokens:
    begins = [word.start() for word in _WORD.finditer(text)]
    starts: list[int] = []
    following = len(text)
    # From the end, because a space-only token takes its position from the next token.
    for (begin, end), special in zip(reversed(spans), reversed(added), strict=True):
        if special:
            starts.append(SPECIAL)
        else:
            visible = _VISIBLE.search(text, begin, end)
            following = visible.start() if visible else following
            starts.append(following)
    starts.reverse()
    words = (
        SPECIAL if start == SPECIAL else bisect_right(begins, start) - (start < len(text))
        for start in starts
    )
    return Tokens(tuple(ids), tuple(starts), tuple(words))
