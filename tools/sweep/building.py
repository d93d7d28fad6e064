"""Tiny random models of any architecture, saved with a tokenizer that fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tiny
import torch
import transformers

from tools.sweep.heads import CAUSAL, WRAPPERS, Head
from tools.sweep.shrinking import shrink

LABELS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
# The model has more tokens than its tokenizer, as many real ones do.
_SPARE = 16
# Models that number positions from the padding token on; their tokenizers are RoBERTa's.
_ROBERTAS = frozenset(
    """camembert data2vec-text ibert longformer luke mpnet roberta roberta-prelayernorm xlm-roberta
    xlm-roberta-xl xmod""".split()  # noqa: SIM905
)
# The size of a typical logit; some random models give far larger ones, which are rounded more coarsely.
_LOGITS = 3.0


class NotBuiltError(Exception):
    """A model that cannot be made; the text says why."""


def build(folder: Path, architecture: str, head: Head, *, wide: bool = False) -> Any:
    """A random model, saved into a folder; ``wide``: with windows of the default size."""
    tokenizer = choose_tokenizer(architecture, head)
    config = make_config(architecture, head, tokenizer, wide=wide)
    model = make_model(architecture, head, config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model


def has_windows(architecture: str, head: Head) -> bool:
    """Whether an architecture has windows of any kind."""
    tokenizer = choose_tokenizer(architecture, head)
    narrow, wide = (make_config(architecture, head, tokenizer, wide=wide) for wide in (False, True))
    return bool(narrow.to_dict() != wide.to_dict())


def make_model(architecture: str, head: Head, config: Any) -> Any:
    """A random model of a configuration."""
    torch.manual_seed(0)
    # The auto class knows which part of a configuration a model of text alone needs.
    auto = getattr(transformers, head.auto_class)
    model = auto.from_config(config).float().eval()
    randomise(model)
    return model


def choose_tokenizer(architecture: str, head: Head) -> Any:
    """A tokenizer of the kind that such models have."""
    if architecture in _ROBERTAS:
        return tiny.byte_level()
    return tiny.gpt2(specials=True) if head in (CAUSAL, WRAPPERS) else tiny.wordpiece()


def make_config(architecture: str, head: Head, tokenizer: Any, *, wide: bool) -> Any:
    """The tiny configuration of an architecture."""
    kind = transformers.CONFIG_MAPPING[architecture]
    tokens = {
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "sep_token_id": tokenizer.sep_token_id,
        "cls_token_id": tokenizer.cls_token_id,
        "mask_token_id": tokenizer.mask_token_id,
    }
    arguments = shrink(kind(), len(tokenizer) + _SPARE, tokens, wide=wide)
    labels = {
        "id2label": dict(enumerate(LABELS)),
        "label2id": {label: index for index, label in enumerate(LABELS)},
    }
    if head is CAUSAL and hasattr(kind(), "is_decoder"):
        arguments["is_decoder"] = True
    return kind(**arguments, **labels)


def randomise(model: Any) -> None:
    """Give random values to weights that begin as zeros, as those of a trained model are not."""
    generator = torch.Generator().manual_seed(1)

    def draw(like: torch.Tensor, spread: float) -> torch.Tensor:
        return torch.randn(like.shape, generator=generator) * spread

    with torch.no_grad():
        for part in model.modules():
            padding = getattr(part, "padding_idx", None)
            if isinstance(part, torch.nn.Embedding) and padding is not None:
                part.weight[padding] = draw(part.weight[padding], 0.3)
        for weight in model.parameters():
            if not bool(weight.isfinite().all()) or not bool(weight.any()):
                weight.copy_(draw(weight, 0.1))
