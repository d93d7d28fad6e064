"""Gemma 3 270M as a folder in float32, which every program loads quickly."""

from __future__ import annotations

from pathlib import Path

from real import fetch


def save_gemma(folder: Path) -> Path:
    """The folder, made on first use from the file that ``make real`` uses."""
    import torch
    import transformers

    if (folder / "tokenizer.json").is_file():
        return folder
    file = fetch()
    options = {"gguf_file": file.name, "dtype": torch.float32}
    read = transformers.AutoModelForCausalLM.from_pretrained(file.parent, **options)
    # A model that was read from such a file refuses to be saved, so its weights go into a new one.
    config = read.config
    vars(config).pop("quantization_config", None)
    model = type(read)(config)
    model.load_state_dict(read.state_dict())
    model.save_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    tokenizer.save_pretrained(folder)
    return folder
