"""Short trainings of a tiny masked model, with everything in them that depends on random numbers."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import tiny
import torch
import transformers

STEPS = 9
#: What a measurement in these tests asks: little, and of a set that needs no network.
QUICK: dict[str, Any] = {"tasks": "lm-abc", "data": "builtin", "sample": 8}


@dataclass(frozen=True)
class Trained:
    """What a training leaves: the loss of each step, the model, and the Trainer's log, if any."""

    losses: list[float]
    model: Any
    log: list[dict[str, Any]]

    def weights(self) -> list[Any]:
        return [one.detach().clone() for one in self.model.parameters()]


@cache
def make_tokenizer() -> Any:
    """One tokenizer for all: training it anew may number its tokens differently."""
    return tiny.wordpiece()


def make_model() -> tuple[Any, Any]:
    """A model with dropout, and its tokenizer; one layer is frozen in evaluation mode."""
    tokenizer = make_tokenizer()
    model = tiny.bert_model(tokenizer, hidden_dropout_prob=0.2, attention_probs_dropout_prob=0.2)
    model.train()
    model.bert.encoder.layer[0].eval()
    return model, tokenizer


def train_in_loop(measure: Callable[[int, Any, Any], object] = lambda *_: None) -> Trained:
    """A plain loop, shuffled and masked with three generators; ``measure`` gets step and model.

    It is called between the backward pass and the step of the optimiser, when gradients are there.
    """
    model, tokenizer = make_model()
    seed_all()
    lines = list(tiny.SENTENCES)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for step in range(STEPS):
        random.shuffle(lines)
        batch = mask_batch([tokenizer(line) for line in lines[:4]], tokenizer)
        loss = model(**batch).loss
        loss.backward()
        measure(step, model, tokenizer)
        optimiser.step()
        optimiser.zero_grad()
        losses.append(loss.item())
    return Trained(losses, model, [])


def train_with_trainer(
    *callbacks: Any, out: Path, tokenizer_given: bool = True, **settings: Any
) -> Trained:
    """The same by the Trainer, which shuffles; the loss of each step is in its log."""
    model, tokenizer = make_model()
    seed_all()
    arguments = {
        "output_dir": str(out),
        "per_device_train_batch_size": 4,
        "max_steps": STEPS,
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "use_cpu": True,
        "disable_tqdm": True,
        "dataloader_pin_memory": False,
        "learning_rate": 1e-3,
    }
    trainer = transformers.Trainer(
        model=model,
        args=transformers.TrainingArguments(**arguments | settings),
        train_dataset=[tokenizer(line) for line in tiny.SENTENCES],
        data_collator=lambda lines: mask_batch(lines, tokenizer),
        processing_class=tokenizer if tokenizer_given else None,
        callbacks=list(callbacks),
    )
    trainer.remove_callback(transformers.PrinterCallback)
    trainer.train()
    log = trainer.state.log_history
    return Trained([one["loss"] for one in log if "loss" in one], model, log)


def mask_batch(lines: list[Any], tokenizer: Any) -> Any:
    """A padded batch in which some tokens are masked, drawn by NumPy."""
    batch = tokenizer.pad([{"input_ids": line["input_ids"]} for line in lines], return_tensors="pt")
    chosen = torch.tensor(np.random.random(batch["input_ids"].shape) < 0.3)
    batch["labels"] = batch["input_ids"].where(chosen, -100)
    batch["input_ids"][chosen] = tokenizer.mask_token_id
    return batch


def seed_all() -> None:
    transformers.set_seed(1)
