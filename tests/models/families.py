"""The families of tiny models, each saved once and opened both ways: by GenDa Lens and plainly."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import tiny
import transformers

from gendalens.models.detect import load_model
from gendalens.models.huggingface.stored_checkpoint import StoredCheckpoint

MASKED: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "wordpiece cased": (tiny.wordpiece, tiny.bert_model),
    "wordpiece uncased": (lambda: tiny.wordpiece(lowercase=True), tiny.bert_model),
    "wordpiece letters": (lambda: tiny.wordpiece(size=70), tiny.bert_model),
    "unigram": (lambda: tiny.unigram(lstrip=True), tiny.roberta_model),
    "unigram, mask keeps the space": (lambda: tiny.unigram(lstrip=False), tiny.roberta_model),
    "byte-level": (tiny.byte_level, tiny.roberta_model),
    "head bypassed": (tiny.wordpiece, tiny.mobilebert_model),
}
CAUSAL: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "gpt2": (lambda: tiny.gpt2(specials=True), tiny.gpt2_model),
    "gpt2 without special tokens": (lambda: tiny.gpt2(specials=False), tiny.gpt2_model),
    "llama": (lambda: tiny.gemma(adds_bos=False), tiny.llama_model),
    "llama, tokenizer adds bos": (tiny.gemma, tiny.llama_model),
    "gemma 3, multimodal": (tiny.gemma, tiny.gemma_model),
}

_home = tempfile.TemporaryDirectory(prefix="gendalens-tiny-")


@dataclass(frozen=True)
class Opened:
    """A tiny model: its folder, the backend, and the plain tokenizer and model of transformers."""

    folder: Path
    backend: Any
    tokenizer: Any
    model: Any


@cache
def opened(family: str) -> Opened:
    """The tiny model of a family."""
    make_tokenizer, make_model = (MASKED | CAUSAL)[family]
    folder = Path(_home.name) / family.replace(" ", "-")
    tokenizer = make_tokenizer()
    tiny.save(folder, make_model(tokenizer), tokenizer)
    plain = getattr(
        transformers, "AutoModelForMaskedLM" if family in MASKED else "AutoModelForCausalLM"
    )
    return Opened(
        folder,
        load_model(str(folder)),
        transformers.AutoTokenizer.from_pretrained(folder),
        plain.from_pretrained(folder).eval(),
    )


def reopened(backend: Any, **options: Any) -> Any:
    """The same model, to be loaded otherwise."""
    checkpoint = backend.checkpoint
    return type(backend)(StoredCheckpoint(checkpoint.name, replace(checkpoint.options, **options)))
