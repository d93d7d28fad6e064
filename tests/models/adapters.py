"""Tiny adapters, trained for a few steps on the spot, with their base and merged with it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import peft
import taggers
import tiny
import torch
import transformers

#: The head that each kind of adapter is trained with.
HEADS = {"causal": "CausalLM", "masked": "MaskedLM", "tagger": "TokenClassification"}
ADDED = ["Ærøskøbing", "bådsmand"]


@dataclass(frozen=True)
class Trained:
    """Folders: a base, an adapter trained on it, and the two merged by peft."""

    base: Path
    adapter: Path
    merged: Path


def train(folder: Path, kind: str, *, tokens: bool = False, **options: Any) -> Trained:
    """A LoRA of a kind; with ``tokens``, it adds tokens to its base's."""
    found = Trained(folder / "base", folder / "adapter", folder / "merged")
    tokenizer = tiny.gemma() if kind == "causal" else tiny.wordpiece()
    make = tiny.llama_model if kind == "causal" else tiny.bert_model
    tiny.save(found.base, make(tokenizer), tokenizer)
    head = getattr(transformers, f"AutoModelFor{HEADS[kind]}")
    labels: dict[str, Any] = {}
    if kind == "tagger":
        labels["id2label"] = dict(enumerate(taggers.IOB))
        labels["label2id"] = {label: index for index, label in enumerate(taggers.IOB)}
        options = {"task_type": "TOKEN_CLS", "target_modules": ["query", "value"], **options}
    elif kind == "causal":
        options = {"task_type": "CAUSAL_LM", **options}
    torch.manual_seed(1)  # new rows of embeddings and new classifiers are drawn
    model = head.from_pretrained(found.base, **labels)
    if tokens:
        tokenizer.add_tokens(ADDED)
        model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    settings = {"r": 4, "lora_alpha": 16, "target_modules": "all-linear", **options}
    model = peft.get_peft_model(model, peft.LoraConfig(**settings))
    _train(model, tokenizer, kind)
    with warnings.catch_warnings(action="ignore"):  # peft says that it saves resized embeddings
        model.save_pretrained(found.adapter)
    if kind == "tagger":
        model.get_base_model().config.save_pretrained(found.adapter)
    if tokens:
        tokenizer.save_pretrained(found.adapter)
    tiny.save(found.merged, model.merge_and_unload(), tokenizer)
    return found


def _train(model: Any, tokenizer: Any, kind: str) -> None:
    rows = [tokenizer(text)["input_ids"] for text in [*tiny.SENTENCES[:4], " ".join(ADDED)]]
    weights = [part for part in model.parameters() if part.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=0.05)
    model.train()
    for row in rows:
        ids = torch.tensor([row])
        labels = ids % len(taggers.IOB) if kind == "tagger" else ids
        optimizer.zero_grad()
        model(input_ids=ids, labels=labels).loss.backward()
        optimizer.step()
    model.eval()
