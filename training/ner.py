"""``demo-ner``: a token classifier of about half a million parameters."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

import torch
from transformers import BertConfig, BertForTokenClassification

from training.entities import Tagged

LABELS = ("O", *(f"{mark}-{kind}" for kind in ("PER", "LOC", "ORG") for mark in "BI"))
LENGTH = 64
#: Share of known words that are spelt in letters, as unknown words are.
SPELT = 0.15


def train(
    sentences: Sequence[Tagged],
    tokenizer: Any,
    *,
    seed: int,
    batch: int = 64,
    rate: float = 3e-3,
    say: Any = print,
) -> BertForTokenClassification:
    """A model trained on the sentences; the same for the same seed and number of threads."""
    torch.manual_seed(seed)
    model = BertForTokenClassification(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=128,
            max_position_embeddings=256,
            type_vocab_size=1,
            pad_token_id=tokenizer.pad_token_id,
            hidden_dropout_prob=0.1,
            attention_probs_dropout_prob=0.0,
            id2label=dict(enumerate(LABELS)),
            label2id={label: number for number, label in enumerate(LABELS)},
        )
    )
    ids, labels = _encode(sentences, tokenizer, seed)
    total = len(sentences) // batch
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01, fused=True)
    plan = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, max_lr=rate, total_steps=total, pct_start=0.1
    )
    model.train()
    begun, seen = time.perf_counter(), 0.0
    order = torch.randperm(len(sentences))[: total * batch].view(-1, batch)
    for step, some in enumerate(order, start=1):
        width = int((ids[some] != tokenizer.pad_token_id).sum(1).max())
        inputs, targets = ids[some, :width], labels[some, :width]
        logits = model(inputs, attention_mask=(inputs != tokenizer.pad_token_id).long()).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        plan.step()
        seen += loss.item()
        if step % 100 == 0:
            spent = time.perf_counter() - begun
            say(f"step {step} of {total}, loss {seen / 100:.3f}, {spent:.0f} s")
            seen = 0.0
    return model.eval()


def _encode(
    sentences: Sequence[Tagged], tokenizer: Any, seed: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and labels, -100 at all but a word's first piece."""
    dice = random.Random(seed)
    whole: dict[str, list[int]] = {}
    ids = torch.full((len(sentences), LENGTH), tokenizer.pad_token_id)
    labels = torch.full((len(sentences), LENGTH), -100)
    known = tokenizer.get_vocab()
    unknown = tokenizer.unk_token_id
    for i, sentence in enumerate(sentences):
        row, row_labels = [tokenizer.cls_token_id], [-100]
        for word, tag in zip(sentence.words, sentence.tags, strict=True):
            if word not in whole:
                whole[word] = tokenizer(word, add_special_tokens=False)["input_ids"]
            pieces = whole[word]
            if word.isalpha() and dice.random() < SPELT:
                spelt = (word[0], *(f"##{letter}" for letter in word[1:]))
                pieces = [known.get(piece, unknown) for piece in spelt]
            row += pieces
            row_labels += [LABELS.index(tag), *[-100] * (len(pieces) - 1)]
        row, row_labels = row[: LENGTH - 1], row_labels[: LENGTH - 1]
        row.append(tokenizer.sep_token_id)
        ids[i, : len(row)] = torch.tensor(row)
        labels[i, : len(row_labels)] = torch.tensor(row_labels)
    return ids, labels
