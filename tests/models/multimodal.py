"""Tiny models that read pictures or sound as well as text, with random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tiny
import torch
import transformers

_SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "intermediate_size": 48,
    "head_dim": 16,
    "max_position_embeddings": 128,
    "pad_token_id": 0,
    "bos_token_id": 2,
    "eos_token_id": 1,
}
_PICTURES = {
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "image_size": 28,
    "patch_size": 14,
}
_QWEN_PICTURES = {
    "hidden_size": 32,
    "depth": 1,
    "num_heads": 2,
    "intermediate_size": 48,
    "patch_size": 14,
    "out_hidden_size": 32,
}
_ROTARY = {
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 3, 3]}
}

#: Of each, what its configuration needs to be tiny: the part that reads text, and the rest.
KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "aya_vision": (
        {"model_type": "cohere2", "logit_scale": 0.25},
        {"vision_config": {"model_type": "siglip_vision_model", **_PICTURES}},
    ),
    "idefics3": ({"model_type": "llama"}, {"vision_config": _PICTURES}),
    "llava": (
        {"model_type": "llama"},
        {"vision_config": {"model_type": "clip_vision_model", **_PICTURES}},
    ),
    "llava_next": (
        {"model_type": "granite", "logits_scaling": 8.0},
        {"vision_config": {"model_type": "siglip_vision_model", **_PICTURES}},
    ),
    "mistral3": (
        {"model_type": "mistral"},
        {"vision_config": {"model_type": "pixtral", "head_dim": 16, **_PICTURES}},
    ),
    "qwen2_5_vl": (_ROTARY, {"vision_config": _QWEN_PICTURES}),
    "qwen3_vl": (_ROTARY, {"vision_config": _QWEN_PICTURES}),
    "smolvlm": ({"model_type": "llama"}, {"vision_config": _PICTURES}),
    "voxtral": (
        {"model_type": "llama"},
        {
            "audio_config": {
                "model_type": "voxtral_encoder",
                "num_hidden_layers": 1,
                "hidden_size": 32,
                "intermediate_size": 48,
                "num_attention_heads": 2,
            }
        },
    ),
}


def make_model(kind: str, tokenizer: Any) -> Any:
    """A random model of a kind, with one vocabulary for text and pictures."""
    text, rest = KINDS[kind]
    config = transformers.AutoConfig.for_model(
        kind, text_config={**_SIZES, **text, "vocab_size": len(tokenizer)}, **rest
    )
    torch.manual_seed(0)
    model = transformers.AutoModelForMultimodalLM.from_config(config).eval()
    with torch.no_grad():
        for weights in model.parameters():
            if weights.ndim > 1:
                weights.normal_(0, 0.3)
    return model


def make_text_model(model: Any) -> Any:
    """A copy of the part that reads text, in a model of its own class if there is one."""
    config = model.config.get_text_config()
    if type(config) not in transformers.MODEL_FOR_CAUSAL_LM_MAPPING:
        return None
    alone = transformers.AutoModelForCausalLM.from_config(config)
    alone.base_model.load_state_dict(model.get_decoder().state_dict())
    alone.get_output_embeddings().load_state_dict(model.get_output_embeddings().state_dict())
    return alone.eval()


def save(folder: Path, model: Any) -> str:
    """The folder with the model in it, as a name for load_model."""
    return tiny.save(folder, model, tiny.gemma())
