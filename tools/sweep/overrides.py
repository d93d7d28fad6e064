"""What the general rules for tiny configurations do not know about single architectures.

The keys are types of configuration; a part of a configuration has a type of its own.
"""

from __future__ import annotations

from typing import Any

_FULL, _LINEAR, _SLIDING = "full_attention", "linear_attention", "sliding_attention"
# With larger weights, these recurrent models magnify rounding: float32 and float64 differ by up to 7e-4
# for one and the same row, while padding makes no difference at all in float64.
_CALM = {"initializer_range": 0.1}
_MAMBA_HEADS = {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_n_groups": 1}
_GRANITE = {"attention_multiplier": 0.35}  # 1 / sqrt(head_dim), as in other models
# The parts of a position (time, height, width) share the rotated half of a head.
_IN_PARTS = {
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]}
}
_HALF_TURNED = {
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 1e4,
        "partial_rotary_factor": 0.5,
        "mrope_section": [1, 1, 0],
    }
}
_REFORMER = {
    "attn_layers": ["local", "lsh", "local", "lsh"],
    "axial_pos_embds": False,
    "num_buckets": 4,
}
_NGRAM = {
    "indexer_n_heads": 2,
    "indexer_kv_heads": 1,
    "indexer_head_dim": 8,
    "indexer_budget": 16,
    "indexer_compress_ratio": 4,
}

OVERRIDES: dict[str, dict[str, Any]] = {
    "bamba": _MAMBA_HEADS | {"attn_layer_indices": [1, 3]},
    "big_bird": {"block_size": 4},
    "bigbird_pegasus": {"block_size": 4},
    "chameleon": {"vocabulary_map": {"<image>": 400}},
    "canine": {"num_hash_buckets": 512},
    "cohere_compass_text": {
        "layer_types": [_SLIDING, _FULL] * 2,
        "rope_parameters": {
            _FULL: {"rope_type": "default", "rope_theta": 1e4},
            _SLIDING: {"rope_type": "default", "rope_theta": 1e4},
        },
    },
    "dbrx": {"attn_config": {"rope_theta": 1e4, "clip_qkv": 8.0}},
    "deepseek_v2": {"num_experts_per_tok": 2},
    "dots1": {"n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2},
    "emu3": {"vocabulary_map": {"<image>": 400}},
    "esmc": {"num_key_value_heads": 4},
    "falcon_h1": _MAMBA_HEADS | {"mamba_d_ssm": 64},
    "gemma3n_text": {
        "layer_types": [_SLIDING, _FULL] * 2,
        "num_kv_shared_layers": 2,
        "intermediate_size": 48,
        "activation_sparsity_pattern": [0.5, 0.5, 0.0, 0.0],
    },
    "glm46v_text": _IN_PARTS,
    "glm4v_moe_text": _HALF_TURNED,
    "glm4v_text": _IN_PARTS,
    "glm_ocr_text": _IN_PARTS,
    "gpt_neo": {"attention_types": [[["global", "local"], 2]]},
    "granite": _GRANITE,
    "granite_swa": _GRANITE,
    "granitemoe": _GRANITE,
    "granitemoe_swa": _GRANITE,
    "granitemoeshared": _GRANITE,
    "granitemoehybrid": _GRANITE | _MAMBA_HEADS | {"layer_types": [_LINEAR, _FULL] * 2},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1},
    "layoutlmv3": {"coordinate_size": 5, "shape_size": 6},
    "lfm2_moe": {"layer_types": ["conv", _FULL] * 2, "num_dense_layers": 1},
    "lilt": {"hidden_size": 48},
    "mamba2": {"num_heads": 4, "head_dim": 16, "n_groups": 2},
    "minimax": {"block_size": 16},
    "mistral4": {"head_dim": 16},
    "nemotron": {"num_key_value_heads": 2},
    "neomme": {
        "rope_parameters": {
            _FULL: {"rope_type": "default", "rope_theta": 1e6, "partial_rotary_factor": 0.5}
        }
    },
    "paddleocr_vl_text": _IN_PARTS,
    "prophetnet": {"num_encoder_layers": 4},
    "qwen2_5_vl_text": _IN_PARTS,
    "qwen2_vl_text": _IN_PARTS,
    "qwen3_5_moe_text": _CALM,
    "qwen3_5_text": _CALM,
    "qwen3_next": _CALM,
    "qwen4_exp_text": _NGRAM,
    "reformer": _REFORMER,
    "xlstm": {"hidden_size": 128, "embedding_dim": 128, "num_heads": 2, "chunk_size": 32},
    "xmod": {"default_language": "en_XX"},
    "zamba": {
        "attention_hidden_size": 64,
        "attention_head_dim": 16,
        "attn_layer_period": 2,
        "attn_layer_offset": 1,
        **_CALM,
    },
    "zamba2": {
        "attention_hidden_size": 64,
        "attention_head_dim": 16,
        "mamba_headdim": 32,
        **_CALM,
    },
    "zaya": {"num_experts_per_tok": 1},
}
