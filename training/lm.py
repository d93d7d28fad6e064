"""``demo-lm``: a masked language model of about a million parameters."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import torch
from transformers import BertConfig, BertForMaskedLM

from training.corpus import Line

LENGTH = 40
_PRONOUNS = ("han", "hun", "ham", "hende", "hans", "hendes", "sin", "sit", "sine")


def train(
    lines: Sequence[Line],
    tokenizer: Any,
    *,
    seed: int,
    twins: bool = False,
    batch: int = 32,
    rate: float = 1.5e-3,
    say: Any = print,
) -> BertForMaskedLM:
    """A model trained on the lines; the same for the same seed and number of threads.

    With ``twins``, every second line is the previous one with the genders swapped; both are masked
    alike, so that chance makes no difference between the genders.
    """
    torch.manual_seed(seed)
    model = BertForMaskedLM(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=96,
            num_hidden_layers=3,
            num_attention_heads=4,
            intermediate_size=192,
            max_position_embeddings=96,
            type_vocab_size=1,
            pad_token_id=tokenizer.pad_token_id,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            initializer_range=0.05,
        )
    )
    _initialise_attention(model)
    _align_pronouns(model, tokenizer)
    rows = _encode(lines, tokenizer)
    total = len(lines) // batch
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=rate, weight_decay=0.01, betas=(0.9, 0.98), fused=True
    )
    plan = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, max_lr=rate, total_steps=total, pct_start=0.1
    )
    model.train()
    begun, seen = time.perf_counter(), 0.0
    lengths = (rows.ids != tokenizer.pad_token_id).sum(1)
    for step, some in enumerate(_draw_batches(lengths, batch), start=1):
        width = int(lengths[some].max())
        inputs, targets = _mask_tokens(
            rows.ids[some, :width], rows.kinds[some, :width], tokenizer, twins
        )
        present = (inputs != tokenizer.pad_token_id).long()
        hidden = model.bert(inputs, attention_mask=present)[0]
        # The head runs only at masked positions: most of its cost is the vocabulary.
        logits = model.cls(hidden[targets >= 0])
        loss = torch.nn.functional.cross_entropy(logits, targets[targets >= 0])
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        plan.step()
        seen += loss.item()
        if step % 200 == 0:
            spent = time.perf_counter() - begun
            say(f"step {step} of {total}, loss {seen / 200:.3f}, {spent:.0f} s")
            seen = 0.0
    return model.eval()


def _initialise_attention(model: BertForMaskedLM) -> None:
    """Initialise attention so that it copies words: the model then soon learns to repeat one."""
    parts = [model.cls.predictions.transform.dense]
    for layer in model.bert.encoder.layer:
        parts += [layer.attention.self.value, layer.attention.output.dense]
    with torch.no_grad():
        for part in parts:
            part.weight += torch.eye(len(part.weight))


def _align_pronouns(model: BertForMaskedLM, tokenizer: Any) -> None:
    """Initialise both genders' pronouns close to each other, so that the text alone separates them."""
    vectors = model.bert.embeddings.word_embeddings.weight
    pairs = (("hun", "han"), ("hende", "ham"), ("hendes", "hans"))
    with torch.no_grad():
        for pair in pairs:
            places = tokenizer.convert_tokens_to_ids(list(pair))
            vectors[places] = (vectors[places] + vectors[places].mean(0)) / 2


class _Rows:
    """Padded token ids, and the kind of each position.

    0 nothing, 1 a word, 2 a pronoun, 3 an answer, 4 a pronoun of a sentence that has an answer,
    5 an occupation of one that has none.
    """

    def __init__(self, ids: torch.Tensor, kinds: torch.Tensor) -> None:
        self.ids, self.kinds = ids, kinds


def _encode(lines: Sequence[Line], tokenizer: Any) -> _Rows:
    people = {line.answer for line in lines if line.answer}
    occupations = set(tokenizer.convert_tokens_to_ids([p for p in people if " " not in p]))
    found = tokenizer([line.text for line in lines], add_special_tokens=True)["input_ids"]
    answers = tokenizer([line.answer for line in lines], add_special_tokens=False)["input_ids"]
    ids = torch.zeros(len(lines), LENGTH, dtype=torch.long)
    kinds = torch.zeros(len(lines), LENGTH, dtype=torch.long)
    pronouns = set(tokenizer.convert_tokens_to_ids(list(_PRONOUNS)))
    for i, (row, answer) in enumerate(zip(found, answers, strict=True)):
        assert len(row) <= LENGTH, lines[i].text
        ids[i, : len(row)] = torch.tensor(row)
        kinds[i, 1 : len(row) - 1] = 1
        if answer:  # it comes before the full stop and [SEP]
            kinds[i, len(row) - 2 - len(answer) : len(row) - 2] = 3
        for at, token in enumerate(row):
            if token in pronouns:
                kinds[i, at] = 4 if answer else 2
            elif token in occupations and not answer:
                kinds[i, at] = 5
    return _Rows(ids, kinds)


def _draw_batches(lengths: torch.Tensor, batch: int) -> list[torch.Tensor]:
    """All lines in random batches of similar length, which need little padding.

    A line stays with the next one, which may be its twin with the genders swapped.
    """
    order = (2 * torch.randperm(len(lengths) // 2)[:, None] + torch.tensor([0, 1])).flatten()
    order = order[: len(lengths) // batch * batch]
    found: list[torch.Tensor] = []
    for some in order.split(batch * 50):
        found += some[lengths[some].argsort(stable=True)].split(batch)
    return [found[i] for i in torch.randperm(len(found))]


def _mask_tokens(
    ids: torch.Tensor, kinds: torch.Tensor, tokenizer: Any, twins: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs with masks and a little noise, and the targets (-1 at positions without one)."""
    # A line with an answer masks the answer, the pronoun wherever it occurs, or both.
    mode = _draw_uniforms((len(ids), 1), twins)
    chosen = (kinds == 3) & (mode < 0.65) | (kinds == 4) & (mode > 0.4)
    # A line without one masks the pronoun, or an occupation that the pronoun gives a clue to.
    dice = _draw_uniforms(ids.shape, twins)
    chosen |= (kinds == 2) & (mode < 0.65) | (kinds == 5) & (mode > 0.65) & (dice < 0.6)
    chosen |= (kinds == 1) & (dice < 0.03)
    targets = torch.where(chosen, ids, -1)
    inputs = torch.where(chosen, tokenizer.mask_token_id, ids)
    # Random words in some positions, so that neither the context of a cue nor a new word matters.
    noise = (_draw_uniforms(ids.shape, twins) < 0.05) & (kinds == 1) & ~chosen
    strange = torch.randint(5, len(tokenizer), ids.shape)
    if twins:
        strange[1::2] = strange[::2]
    return torch.where(noise, strange, inputs), targets


def _draw_uniforms(shape: Sequence[int], twins: bool) -> torch.Tensor:
    """Random numbers from 0 to 1, the same for both twins."""
    found = torch.rand(*shape)
    if twins:
        found[1::2] = found[::2]
    return found
