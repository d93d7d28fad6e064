"""The same numbers by slow, obvious loops: one sequence at a time, all logits, nothing shared.

Written apart from the package: pieces are found by tokenising prefixes, not by its offsets.
"""

from __future__ import annotations

import re
from typing import Any

import torch


def log_probs(model: Any, ids: list[int], position: int) -> torch.Tensor:
    """The log-probabilities of the whole vocabulary at one position."""
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0, position]
    return torch.log_softmax(logits.double(), dim=-1)


def plain(tokenizer: Any, text: str) -> list[int]:
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids


def masked_fill(tokenizer: Any, model: Any, left: str, word: str, right: str) -> tuple[float, int]:
    """The whole-word log-probability of a word in a gap, and its number of pieces."""
    ids = tokenizer(left + word + right)["input_ids"]
    begin = 1 + len(plain(tokenizer, left.rstrip()))
    end = 1 + len(plain(tokenizer, left + word))
    assert ids[1:end] == plain(tokenizer, left + word)
    total = 0.0
    for at in range(begin, end):
        row = ids[:at] + [tokenizer.mask_token_id] * (end - at) + ids[end:]
        total += float(log_probs(model, row, at)[ids[at]])
    return total, end - begin


def masked_first(tokenizer: Any, model: Any, left: str, right: str, words: list[str]) -> str:
    """The best of the words, and of all vocabulary pieces that the tokenizer writes as one word there."""
    best = max(words, key=lambda word: masked_fill(tokenizer, model, left, word, right)[0])
    highest = masked_fill(tokenizer, model, left, best, right)[0]
    begin = 1 + len(plain(tokenizer, left.rstrip()))
    ids = tokenizer(left + words[0] + right)["input_ids"]
    end = 1 + len(plain(tokenizer, left + words[0]))
    row = [*ids[:begin], tokenizer.mask_token_id, *ids[end:]]
    at_mask = log_probs(model, row, begin)
    for piece in range(len(tokenizer)):
        token = tokenizer.convert_ids_to_tokens(piece)
        word = tokenizer.convert_tokens_to_string([token]).strip()
        if piece in tokenizer.all_special_ids or not re.fullmatch(r"\w+|[^\w\s]", word):
            continue
        written = tokenizer(left + word + right)["input_ids"]
        if written == [*row[:begin], piece, *row[begin + 1 :]] and at_mask[piece] > highest + 1e-6:
            best, highest = word, float(at_mask[piece])
    return best


def words_of_tokens(tokenizer: Any, text: str, **options: Any) -> list[int | None]:
    """The word each token belongs to, by the first letter it covers; None for special tokens."""
    encoded = tokenizer(
        text, return_offsets_mapping=True, return_special_tokens_mask=True, **options
    )
    found: list[int | None] = []
    for (begin, end), special in zip(
        encoded["offset_mapping"], encoded["special_tokens_mask"], strict=True
    ):
        while begin < end and text[begin] == " ":
            begin += 1
        if special:
            found.append(None)
        elif begin == end:  # spaces only: the next word's
            later = [match.start() for match in re.finditer(r"\S", text) if match.start() >= begin]
            found.append(_word_at(text, later[0]))
        else:
            found.append(_word_at(text, begin))
    return found


def masked_score(tokenizer: Any, model: Any, text: str, given: str = "") -> tuple[float, int]:
    """The pseudo-log-likelihood of a text (within-word left to right) and its number of tokens."""
    ids = tokenizer(given + text)["input_ids"]
    words = words_of_tokens(tokenizer, given + text)
    first = len(re.findall(r"\w+|[^\w\s]", given))
    total, count = 0.0, 0
    for at, word in enumerate(words):
        if word is None or word < first:
            continue
        row = [
            tokenizer.mask_token_id if other >= at and words[other] == word else id_
            for other, id_ in enumerate(ids)
        ]
        total += float(log_probs(model, row, at)[ids[at]])
        count += 1
    return total, count


def causal_score(tokenizer: Any, model: Any, text: str, given: str = "") -> tuple[float, int]:
    """The log-likelihood of a text behind BOS (if there is one) and its number of scored tokens."""
    ids = plain(tokenizer, given + text)
    front = [] if tokenizer.bos_token_id is None else [tokenizer.bos_token_id]
    total, count = 0.0, 0
    begin = len(plain(tokenizer, given)) if given else 0
    assert ids[:begin] == plain(tokenizer, given)[:begin]
    for at in range(max(begin, 0 if front else 1), len(ids)):
        seen = front + ids[:at]
        total += float(log_probs(model, seen, len(seen) - 1)[ids[at]])
        count += 1
    return total, count


def _word_at(text: str, place: int) -> int:
    for number, match in enumerate(re.finditer(r"\w+|[^\w\s]", text)):
        if match.start() <= place < match.end():
            return number
    raise AssertionError(f"no word at {place} in {text!r}")
