"""Likelihoods of a prompt's tokens, as some servers give them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gendalens.models.endpoint.dialect import read_choice_of
from gendalens.models.endpoint.plain import read_dict, read_number

ECHO, PROMPT_LOGPROBS = "echo", "prompt_logprobs"
WAYS = (ECHO, PROMPT_LOGPROBS)
# How servers show a token that is only part of a letter, and what it may be in the text.
_PART = re.compile(r"bytes:.*|<0x[0-9A-Fa-f]{2}>", re.DOTALL)
_UNREADABLE = re.compile("\N{REPLACEMENT CHARACTER}+")
_LETTERS = r"[^\x00-\x7f]{0,4}?"


@dataclass(frozen=True, slots=True)
class ScoredText:
    """The tokens of a text with their start and their log-probability, None where nothing precedes.

    ``begins_with_special`` if the server puts a special token (BOS) in front.
    """

    starts: tuple[int, ...]
    log_probs: tuple[float | None, ...]
    begins_with_special: bool

    def sum_from(self, start: int) -> tuple[float, int, int]:
        """The log-likelihood from a character on, the number of scored tokens, and of unscored ones."""
        wanted = [
            value for at, value in zip(self.starts, self.log_probs, strict=True) if at >= start
        ]
        scored = [value for value in wanted if value is not None]
        return math.fsum(scored), len(scored), len(wanted) - len(scored)

    def count_between(self, start: int, end: int) -> int:
        """The number of tokens whose first visible character is there."""
        return sum(start <= at < end for at in self.starts)


def write_request(way: str, text: str) -> dict[str, Any]:
    """The body of a completion request that asks for the likelihood of its prompt."""
    body: dict[str, Any] = {"prompt": text, "max_tokens": 1, "temperature": 0}
    if way == ECHO:
        return {**body, "echo": True, "logprobs": 1}
    return {**body, "prompt_logprobs": 0}


def read_response(way: str, text: str, plain: dict[str, Any]) -> ScoredText | None:
    """The scored tokens of the prompt; None if the response does not hold them."""
    choice = read_choice_of(plain)
    found = _read_echo(choice) if way == ECHO else _read_prompt(choice, plain)
    return _align(text, *found) if found is not None else None


def _read_echo(choice: dict[str, Any]) -> tuple[list[str], list[float | None]] | None:
    logprobs = read_dict(choice.get("logprobs"))
    tokens, values = logprobs.get("tokens"), logprobs.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
        return None
    if not all(isinstance(token, str) for token in tokens):
        return None
    return tokens, [read_number(value) for value in values]


def _read_prompt(
    choice: dict[str, Any], plain: dict[str, Any]
) -> tuple[list[str], list[float | None]] | None:
    listed = choice.get("prompt_logprobs") or plain.get("prompt_logprobs")
    if not isinstance(listed, list):
        return None
    tokens: list[str] = []
    values: list[float | None] = []
    for index, one in enumerate(listed):
        if one is None and index == 0:
            tokens.append("")
            values.append(None)
            continue
        entries = list(one.values()) if isinstance(one, dict) else []
        # Of several, nothing tells which one is the token of the prompt.
        if len(entries) != 1 or not isinstance(entries[0], dict):
            return None
        tokens.append(str(entries[0].get("decoded_token", "")))
        values.append(read_number(entries[0].get("logprob")))
    return tokens, values


def _align(text: str, tokens: Sequence[str], values: Sequence[float | None]) -> ScoredText | None:
    """The tokens that make up the text, without special tokens before it and what was written after."""
    rest = "".join(tokens[1:])
    if tokens and not tokens[0] and len(rest) < len(text) and text.endswith(rest):
        # A first token that the server does not spell out is what is missing at the beginning.
        tokens = [text[: len(text) - len(rest)], *tokens[1:]]
    # A first token without text is a special one.
    for front in range(int(bool(tokens) and not tokens[0]), min(3, len(tokens))):
        starts = _find_starts(text, tokens[front:])
        if starts is not None:
            return ScoredText(
                _find_visible(text, starts),
                tuple(values[front : front + len(starts)]),
                begins_with_special=front > 0,
            )
    return None


def _find_starts(text: str, tokens: Sequence[str]) -> list[int] | None:
    """Where the tokens start that spell the text; None if they do not."""
    pattern = [f"({_write_pattern(token)})" for token in tokens]
    # At most one token, and perhaps the end of the text, was written after the prompt.
    for count in range(max(1, len(tokens) - 2), len(tokens) + 1):
        if found := re.fullmatch("".join(pattern[:count]), text):
            return [found.start(place + 1) for place in range(count)]
    return None


def _write_pattern(token: str) -> str:
    """A pattern of what a token may be in the text: itself, or part of a letter that is not ASCII."""
    if _PART.fullmatch(token):
        return _LETTERS
    return _LETTERS.join(re.escape(part) for part in _UNREADABLE.split(token))


def _find_visible(text: str, starts: Sequence[int]) -> tuple[int, ...]:
    """Where each token's first visible character is; a space-only token starts with the next."""
    found: list[int] = []
    following = end = len(text)
    for start in reversed(starts):
        blank = len(text[start:end]) - len(text[start:end].lstrip())
        if start + blank < end:
            following = start + blank
        found.append(following)
        end = start
    return tuple(reversed(found))
