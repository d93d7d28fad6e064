"""Tiny models of architectures that are unlike BERT, for masked words and for labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tiny
import torch
import transformers

SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "initializer_range": 0.3,
    "max_position_embeddings": 128,
}
FUNNEL = {
    "block_sizes": [1, 1],
    "num_decoder_layers": 1,
    "d_model": 32,
    "n_head": 2,
    "d_head": 16,
    "d_inner": 48,
    "initializer_std": 0.3,
}
REFORMER = {
    "attention_head_size": 16,
    "attn_layers": ["local", "lsh"],
    "axial_pos_embds": False,
    "hidden_size": 32,
    "feed_forward_size": 48,
    "num_attention_heads": 2,
    "is_decoder": False,
    "local_attn_chunk_length": 8,
    "lsh_attn_chunk_length": 8,
    "num_buckets": 4,
    "initializer_range": 0.3,
    "max_position_embeddings": 128,
}
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "bert": SIZES,
    "canine": SIZES | {"local_transformer_stride": 8, "num_hash_buckets": 64},
    "convbert": SIZES | {"embedding_size": 32},
    "cpmant": SIZES | {"dim_head": 16, "dim_ff": 48, "prompt_length": 4, "segment_types": 4},
    "fnet": SIZES,
    "funnel": FUNNEL,
    "luke": SIZES | {"entity_vocab_size": 10, "entity_emb_size": 16},
    "mobilebert": SIZES
    | {"embedding_size": 16, "intra_bottleneck_size": 16, "num_feedforward_networks": 1},
    "nystromformer": SIZES,
    "reformer": REFORMER,
    "yoso": SIZES,
}
LABELS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")


def save(folder: Path, architecture: str, head: str) -> str:
    """A folder with a random model in it, as a name for load_model; a ``head`` is "MaskedLM"."""
    tokenizer = tiny.wordpiece()
    labels = {
        "id2label": dict(enumerate(LABELS)),
        "label2id": {label: index for index, label in enumerate(LABELS)},
    }
    config = transformers.AutoConfig.for_model(
        architecture,
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        eos_token_id=None,
        **labels,
        **CONFIGURATIONS[architecture],
    )
    torch.manual_seed(0)
    model = getattr(transformers, f"AutoModelFor{head}").from_config(config).eval()
    if architecture == "mobilebert":
        # A trained model's padding is not zero.
        torch.nn.init.normal_(model.mobilebert.embeddings.word_embeddings.weight)
    return tiny.save(folder, model, tokenizer)
