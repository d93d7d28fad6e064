"""Likelihoods of a prompt's tokens, as some servers give them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gendalens.models.endpoint.dialect import read_choice_of

ECHO, PROMPT_LOGPROBS = "echo", "prompt_logprobs"
WAYS = (ECHO, PROMPT_LOGPROBS)
_CUT = "\ufffd"


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
    logprobs = choice.get("logprobs")
    if not isinstance(logprobs, dict):
        return None
    tokens, values = logprobs.get("tokens"), logprobs.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
        return None
    if not all(isinstance(token, str) for token in tokens):
        return None
    return tokens, [_read_number(value) for value in values]


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
        if not entries or not isinstance(entries[0], dict):
            return None
        tokens.append(str(entries[0].get("decoded_token", "")))
        values.append(_read_number(entries[0].get("logprob")))
    return tokens, values


def _read_number(value: Any) -> float | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if usable and math.isfinite(value) else None


def _align(text: str, tokens: Sequence[str], values: Sequence[float | None]) -> ScoredText | None:
    """The tokens that make up the text, without special tokens before it and what was written after."""
    rest = "".join(tokens[1:])
    if tokens and not tokens[0] and len(rest) < len(text) and text.endswith(rest):
        # A first token that the server does not spell out is what is missing at the beginning.
        tokens = [text[: len(text) - len(rest)], *tokens[1:]]
    # A first token without text is a special one.
    for front in range(int(bool(tokens) and not tokens[0]), min(3, len(tokens))):
        starts = _locate(text, tokens[front:])
        if starts is not None:
            end = front + len(starts)
            return ScoredText(
                _find_visible(text, starts), tuple(values[front:end]), begins_with_special=front > 0
            )
    return None


def _locate(text: str, tokens: Sequence[str]) -> list[int] | None:
    """Where the tokens that make up the text start; None if they do not.

    Byte-level tokenizers cut rare letters in two (*Ø*), and a server shows each half as U+FFFD. Such
    tokens stand for what is between their neighbours.
    """
    starts: list[int] = []
    at, is_cut = 0, False
    for token in tokens:
        if at >= len(text):
            break
        if _CUT in token:
            is_cut = True
        elif is_cut:
            at, is_cut = text.find(token, at + 1), False
            if at < 0:
                return None
        starts.append(at)
        if not is_cut:
            if not text.startswith(token, at):
                return None
            at += len(token)
    return starts if at == len(text) or is_cut else None


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
