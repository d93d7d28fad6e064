"""Tiny token classifiers with random weights, for several tokenizers and label schemes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import tiny
import torch
import transformers
from families import Opened

from gendalens.models.detect import load_model

IOB = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG"]
IOB_ONE = ["O", "I-PER", "I-LOC", "I-ORG", "B-PER"]
BILOU = ["O", *(f"{mark}-{kind}" for kind in ("PER", "LOC") for mark in "BILU")]
BIOES = ["O", *(f"{mark}_{kind}" for kind in ("PER", "LOC") for mark in "BIES")]
PLAIN = ["O", "PERSON", "GPE", "ORG"]
SUFFIXED = ["PER-B", "PER-I", "LOC-B", "LOC-I", "O"]

TAGGERS: dict[str, tuple[Callable[[], Any], str, Sequence[str]]] = {
    "wordpiece, IOB": (tiny.wordpiece, "bert", IOB),
    "wordpiece uncased, IOB1": (lambda: tiny.wordpiece(lowercase=True), "bert", IOB_ONE),
    "wordpiece letters, BILOU": (lambda: tiny.wordpiece(size=70), "bert", BILOU),
    "unigram, BIOES": (lambda: tiny.unigram(lstrip=True), "roberta", BIOES),
    "byte-level, no prefix": (tiny.byte_level, "roberta", PLAIN),
    "gemma type, suffix": (tiny.gemma, "llama", SUFFIXED),
}

WINDOW = 64

_home = tempfile.TemporaryDirectory(prefix="gendalens-taggers-")


def save(folder: Path, tokenizer: Any, kind: str, labels: Sequence[str]) -> str:
    """A folder with a random token classifier in it, as a name for load_model."""
    sizes = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 48,
        "initializer_range": 0.5,
        "pad_token_id": tokenizer.pad_token_id,
        "id2label": dict(enumerate(labels)),
        "label2id": {label: index for index, label in enumerate(labels)},
    }
    # RoBERTa counts its positions from the padding token's id on.
    places = WINDOW + tokenizer.pad_token_id + 1 if kind == "roberta" else WINDOW
    config = transformers.AutoConfig.for_model(kind, max_position_embeddings=places, **sizes)
    torch.manual_seed(1)
    model = transformers.AutoModelForTokenClassification.from_config(config).eval()
    return tiny.save(folder, model, tokenizer)


@cache
def opened_tagger(family: str) -> Opened:
    """The tiny tagger of a family, as a backend and plainly."""
    make_tokenizer, kind, labels = TAGGERS[family]
    folder = Path(_home.name) / family.replace(" ", "-").replace(",", "")
    save(folder, make_tokenizer(), kind, labels)
    return Opened(
        folder,
        load_model(str(folder)),
        transformers.AutoTokenizer.from_pretrained(folder),
        transformers.AutoModelForTokenClassification.from_pretrained(folder).eval(),
    )
