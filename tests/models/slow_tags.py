"""Entities by slow, obvious loops: one row at a time, the first piece of each word, seqeval's spans."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from seqeval.metrics.sequence_labeling import get_entities

from gendalens.models.word_spans import split_words

Entity = tuple[int, int, str]


def first_pieces(tokenizer: Any, text: str) -> list[tuple[int, int, int]]:
    """(begin, end, token) of each word that begins a token."""
    encoded = tokenizer(text, return_offsets_mapping=True, return_special_tokens_mask=True)
    found = []
    for begin, end in split_words(text):
        for at, (left, right) in enumerate(encoded["offset_mapping"]):
            if encoded["special_tokens_mask"][at]:
                continue
            while left < right and text[left] == " ":
                left += 1
            while left == right and left < len(text) and text[left] == " ":
                left, right = left + 1, right + 1
            if begin <= left < end:
                found.append((begin, end, at))
                break
    return found


def tag(tokenizer: Any, model: Any, text: str) -> list[Entity]:
    """The entities of a text that fits the window."""
    ids = tokenizer(text)["input_ids"]
    scores = _scores(model, ids)
    pieces = first_pieces(tokenizer, text)
    labels = [model.config.id2label[int(scores[at].argmax())] for _, _, at in pieces]
    return spans(labels, [(begin, end) for begin, end, _ in pieces])


def tag_long(tokenizer: Any, model: Any, text: str, window: int, step: int) -> list[Entity]:
    """The entities of a long text: every window is read, every word where it is furthest inside."""
    ids = tokenizer(text)["input_ids"]
    front = [tokenizer.cls_token_id]
    back = [tokenizer.sep_token_id]
    body = ids[1:-1]
    assert ids == front + body + back
    room = window - 2
    begins = [*range(0, len(body) - room, step), len(body) - room]
    rows = [(begin, _scores(model, front + body[begin : begin + room] + back)) for begin in begins]
    labels = []
    pieces = first_pieces(tokenizer, text)
    for _, _, token in pieces:
        at = token - 1
        best, widest = None, -1.0
        for begin, scores in rows:
            if begin <= at < begin + room:
                left = at - begin if begin else float("inf")
                right = begin + room - 1 - at if begin + room < len(body) else float("inf")
                if min(left, right) > widest:
                    widest = min(left, right)
                    best = model.config.id2label[int(scores[at - begin + 1].argmax())]
        assert best is not None
        labels.append(best)
    return spans(labels, [(begin, end) for begin, end, _ in pieces])


def spans(labels: list[str], places: list[tuple[int, int]]) -> list[Entity]:
    """The entities of labelled words by seqeval, whose default mode is lenient."""
    plain = [_as_bioes(label) for label in labels]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = get_entities(plain)
    return [(places[first][0], places[last][1], kind) for kind, first, last in found]


def _as_bioes(label: str) -> str:
    if label == "O":
        return label
    label = label.replace("_", "-")
    kind, _, mark = label.rpartition("-")
    if len(mark) == 1 and kind:
        label = f"{mark}-{kind}"
    if label[1:2] != "-":
        return f"I-{label}"
    return label.replace("L-", "E-", 1).replace("U-", "S-", 1) if label[0] in "LU" else label


def _scores(model: Any, ids: list[int]) -> torch.Tensor:
    with torch.no_grad():
        logits: torch.Tensor = model(torch.tensor([ids])).logits[0]
    return logits
