"""A configuration of any architecture, made tiny: every size that is known by name is set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.sweep.overrides import OVERRIDES

# Longer than the rows that a model is tried on when it is loaded, shorter than the longest texts asked
# about: what only happens beyond a window must be found too.
WINDOW = 40
POSITIONS = 512
LAYERS = 4
_HIDDEN, _HEADS, _HEAD, _INNER, _EXPERTS = 32, 4, 8, 48, 4

_NAMED: tuple[tuple[int, str], ...] = (
    (
        _HIDDEN,
        """hidden_size d_model n_embd dim embedding_size emb_dim word_embed_proj_dim embedding_dim
        attention_hidden_size pooler_hidden_size prediction_head_size lru_width d_latents entity_emb_size
        input_embedding_size output_embedding_size pronunciation_embed_dim shape_embed_dim embedding_rank
        backbone_hidden_size true_hidden_size intra_bottleneck_size mamba_d_ssm router_hidden_size
        out_hidden_size projection_dim text_hidden_size vision_hidden_size output_dim hidden_dim_out
        projection_hidden_size mm_hidden_size qformer_hidden_size text_embed_dim proj_dim
        hidden_size_global dim_model_base embed_dim""",
    ),
    (
        _INNER,
        """intermediate_size moe_intermediate_size decoder_ffn_dim encoder_ffn_dim hidden_dim d_ff
        ffn_dim d_inner ffn_hidden_size dff dim_ff feed_forward_size n_inner intermediate_size_mlp
        shared_expert_intermediate_size dense_intermediate_size expert_ffn_hidden_size
        moe_shared_expert_intermediate_size shared_intermediate_size
        projector_intermediate_size mlp_dim""",
    ),
    (
        _HEADS,
        """num_attention_heads decoder_attention_heads encoder_attention_heads n_head n_heads num_heads
        attention_heads num_encoder_attention_heads num_decoder_attention_heads
        swa_num_attention_heads linear_num_value_heads linear_num_heads num_self_attention_heads
        num_cross_attention_heads mamba_n_heads mamba_num_heads""",
    ),
    (
        2,
        """num_key_value_heads num_kv_heads swa_num_key_value_heads linear_num_key_heads num_query_groups
        n_mamba_heads mamba_n_groups n_groups mamba_ngroups num_experts_per_tok num_experts_per_token
        moe_topk moe_k moe_num_shared_experts altup_num_inputs hc_mult hc_count
        num_encoder_layers num_self_attends_per_block depth n_shared_experts num_shared_experts
        num_hidden_groups num_feedforward_networks""",
    ),
    (
        _HEAD,
        """head_dim attention_head_dim d_kv d_head dim_head attention_head_size kv_channels
        v_head_dim qk_nope_head_dim qk_rope_head_dim index_head_dim linear_head_dim linear_key_head_dim
        linear_value_head_dim swa_head_dim q_lora_rank kv_lora_rank o_lora_rank laurel_rank adapter_rank
        hidden_size_per_layer_input rotary_dim hc_lowrank ple_embed_dim mamba_head_dim mamba_headdim
        time_step_rank mamba_dt_rank global_head_dim swa_v_head_dim""",
    ),
    # With fewer heads, many tokens are equally relevant, and chance decides which of them are read.
    (16, """index_n_heads mamba_d_state state_size ssm_state_size mamba_d_head gated_norm_rank"""),
    (
        _EXPERTS,
        """num_experts n_routed_experts num_local_experts moe_num_experts zero_expert_num""",
    ),
    (
        LAYERS,
        """num_hidden_layers decoder_layers encoder_layers n_layer n_layers num_layers
        num_decoder_layers num_blocks layers""",
    ),
    (
        1,
        """n_group topk_group num_expert_group first_k_dense_replace num_dense_layers
        num_nextn_predict_layers max_window_layers mtp_num_hidden_layers num_nextn_layers""",
    ),
    (
        POSITIONS,
        """max_position_embeddings n_positions n_ctx max_seq_len max_target_positions
        max_source_positions context_length""",
    ),
    (
        WINDOW,
        """sliding_window attention_chunk_size window_size attention_window local_attention
        sliding_window_size attention_window_size keep_window_size chunk_size mamba_chunk_size
        local_attn_chunk_length lsh_attn_chunk_length index_topk local_transformer_stride
        segment_means_seq_len num_landmarks max_inference_chunksize tpu_short_seq_length""",
    ),
    (
        64,
        """num_hash_buckets entity_vocab_size encoder_hash_byte_group_vocab ngram_vocab_size_base
        shape_vocab_size pronunciation_vocab_size num_centroids num_latents""",
    ),
    (28, "image_size"),
    (14, "patch_size"),
)
SIZES: dict[str, int] = {name: size for size, names in _NAMED for name in names.split()}
_SPREADS = ("initializer_range", "init_std", "initializer_std", "init_std_range")
_SPREAD = 0.3
# Lists with one entry for each layer.
_BY_LAYER = (
    "layer_types",
    "mlp_layer_types",
    "layers_block_type",
    "indexer_types",
    "layer_rope_theta",
    "no_rope_layers",
    "num_attention_heads_per_layer",
    "activation_sparsity_pattern",
)


def shrink(
    config: Any, vocabulary: int, tokens: Mapping[str, int | None], *, wide: bool = False
) -> dict[str, Any]:
    """The arguments that make a tiny configuration of the same class, those of its parts included.

    ``vocabulary`` is the number of tokens, ``tokens`` the ids of the special ones by name. The ids of
    other tokens (of an image, say) are the last of the vocabulary. ``wide`` keeps windows as they are.
    """
    found: dict[str, Any] = {}
    for name, value in config.to_dict().items():
        part = vars(config).get(name)
        if hasattr(part, "to_dict") and hasattr(part, "model_type"):
            found[name] = shrink(part, vocabulary, tokens, wide=wide)
            if part.model_type:
                found[name]["model_type"] = part.model_type
        elif (small := _shrink_value(name, value, vocabulary, tokens, wide)) != value:
            found[name] = small
    if "kv_lora_rank" in found and "num_key_value_heads" in found:
        # Multi-head latent attention has no groups.
        found["num_key_value_heads"] = found["num_attention_heads"]
    return merge(found, OVERRIDES.get(config.model_type, {}))


def merge(arguments: dict[str, Any], special: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with some replaced, those of parts included."""
    found = dict(arguments)
    for name, value in special.items():
        old = found.get(name)
        found[name] = (
            merge(old, value) if isinstance(value, dict) and isinstance(old, dict) else value
        )
    return found


def _shrink_value(
    name: str, value: Any, vocabulary: int, tokens: Mapping[str, int | None], wide: bool
) -> Any:
    if name in tokens:
        # Some classes insist on a token that the tokenizer does not have.
        others = (tokens["eos_token_id"], tokens["pad_token_id"])
        return next((id_ for id_ in (tokens[name], *others) if id_ is not None), value)
    if isinstance(value, bool):
        return value
    if name in _SPREADS:
        return _SPREAD
    if name == "vocab_size":
        return vocabulary
    if isinstance(value, int) or name == "head_dim":
        if name in SIZES:
            return value if wide and SIZES[name] == WINDOW else SIZES[name]
        if name.endswith("vocab_size") and value > 1000:
            return vocabulary
        if name.endswith(("_token_id", "_token_index")):
            return vocabulary - 1 - sum(map(ord, name)) % 8
    if name == "rope_parameters" and isinstance(value, dict) and "mrope_section" in value:
        # The parts of a position (time, height, width) share the rotated half of a head.
        turned = int(_HEAD * value.get("partial_rotary_factor", 1.0)) // 2
        return value | {
            "mrope_section": [turned - turned // 2, turned // 4, turned // 2 - turned // 4]
        }
    if name in _BY_LAYER and isinstance(value, list | tuple):
        return _cut_layers(value)
    return value


def _cut_layers(kinds: Any) -> list[Any]:
    """The kinds of layer, each at least once if there are not too many."""
    distinct = list(dict.fromkeys(map(str, kinds)))
    first = {str(kind): kind for kind in reversed(kinds)}
    return [first[distinct[index % len(distinct)]] for index in range(LAYERS)]
