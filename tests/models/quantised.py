"""Tiny quantised models, made by the packages that run them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tiny
import torch
import transformers

BLOCK = 16


def save_full(folder: Path) -> str:
    """The causal model before quantising; its sizes suit every method."""
    tokenizer = tiny.gemma()
    model = tiny.llama_model(tokenizer, hidden_size=64, intermediate_size=128)
    return tiny.save(folder, model, tokenizer)


def save_fp8(folder: Path, full: str) -> dict[str, torch.Tensor]:
    """The model in 8-bit floats with a scale per block, for which no package is needed.

    The weights that it stands for are returned.
    """
    from safetensors.torch import load_file, save_file

    weights = load_file(Path(full) / "model.safetensors")
    stored: dict[str, torch.Tensor] = {}
    meant: dict[str, torch.Tensor] = {}
    for name, weight in weights.items():
        if "_proj" not in name:
            stored[name] = meant[name] = weight
            continue
        blocks = weight.unflatten(0, (-1, BLOCK)).unflatten(2, (-1, BLOCK))
        scale = blocks.abs().amax((1, 3)) / 448  # the largest number of this format
        small = (blocks / scale[:, None, :, None]).to(torch.float8_e4m3fn)
        stored[name] = small.reshape(weight.shape)
        stored[f"{name}_scale_inv"] = scale
        meant[name] = (small.float() * scale[:, None, :, None]).reshape(weight.shape)
    _copy_rest(folder, full)
    save_file(stored, folder / "model.safetensors", {"format": "pt"})
    describe(folder, quant_method="fp8", activation_scheme="dynamic", weight_block_size=[BLOCK] * 2)
    return meant


def describe(folder: Path, **settings: Any) -> None:
    """Have the configuration say that the weights are quantised."""
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"quantization_config": settings}))


def save_bitsandbytes(folder: Path, full: str, bits: int) -> str:
    """The model as bitsandbytes saves it, to compute in bfloat16."""
    config = transformers.BitsAndBytesConfig(
        load_in_4bit=bits == 4,
        load_in_8bit=bits == 8,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_compute_dtype=torch.bfloat16,
    )
    return _save_quantised(folder, full, config)


def save_torchao(folder: Path, full: str) -> str:
    """The model as torchao saves it."""
    from torchao.quantization import Int8WeightOnlyConfig

    return _save_quantised(folder, full, transformers.TorchAoConfig(Int8WeightOnlyConfig()))


def _save_quantised(folder: Path, full: str, config: Any) -> str:
    model = transformers.AutoModelForCausalLM.from_pretrained(
        full, quantization_config=config, device_map="cpu"
    )
    model.save_pretrained(folder)
    tiny.gemma().save_pretrained(folder)
    return str(folder)


def save_compressed(folder: Path, full: str, *, inputs: bool) -> str:
    """The model as compressed-tensors saves it; with ``inputs``, those of its layers are rounded too."""
    from compressed_tensors.compressors import ModelCompressor
    from compressed_tensors.quantization import (
        QuantizationArgs,
        QuantizationConfig,
        QuantizationScheme,
        QuantizationStatus,
        apply_quantization_config,
    )

    model = transformers.AutoModelForCausalLM.from_pretrained(full)
    weights = QuantizationArgs(num_bits=8, symmetric=True, strategy="channel")
    tokens = QuantizationArgs(num_bits=8, symmetric=True, strategy="token", dynamic=True)
    scheme = QuantizationScheme(
        targets=["Linear"], weights=weights, input_activations=tokens if inputs else None
    )
    config = QuantizationConfig(
        config_groups={"group_0": scheme},
        ignore=["lm_head"],
        quantization_status=QuantizationStatus.COMPRESSED,
    )
    apply_quantization_config(model, config)
    for part in model.modules():
        if hasattr(part, "weight_scale"):
            part.weight_scale.data.copy_(part.weight.data.abs().amax(1, keepdim=True) / 127)
    compressor = ModelCompressor.from_pretrained_model(model)
    compressor.compress_model(model)
    model.save_pretrained(folder)
    compressor.update_config(folder)
    tiny.gemma().save_pretrained(folder)
    return str(folder)


def _copy_rest(folder: Path, full: str) -> None:
    folder.mkdir()
    for file in Path(full).glob("*.json"):
        (folder / file.name).write_bytes(file.read_bytes())
