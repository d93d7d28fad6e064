"""The questions of GenDa Lens 0.0.3: the fill-mask pipeline's first token, and the unmasked loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from families import MASKED, opened

from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.huggingface.masked import MaskedLM
from gendalens.models.huggingface.stored_checkpoint import StoredCheckpoint
from gendalens.models.requests import Reconstruct, TopToken

WORDS = ("sin", "sit", "sine")


def answer(backend: Any, request: Any) -> Any:
    return backend.answer(backend.encode([request]))[0]


@pytest.mark.parametrize("family", list(MASKED))
def test_the_top_token_is_what_the_fill_mask_pipeline_ranks_first(family: str) -> None:
    model = opened(family)
    pipeline = transformers.pipeline("fill-mask", model=model.model, tokenizer=model.tokenizer)
    for left, right in (("smeden gav ", " sin hammer ."), ("", " læste en bog .")):
        expected = pipeline(f"{left}{model.tokenizer.mask_token}{right}")[0]["token_str"]
        found = answer(model.backend, TopToken(left, right))
        assert found.token == expected


def test_the_space_before_the_mask_goes_for_one_model_known_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """0.0.3 does so for `vesteinn/DanskBert` and `<mask>`, and for no other."""
    folder = opened("unigram, mask keeps the space").folder
    monkeypatch.chdir(folder.parent)
    Path("vesteinn").mkdir(exist_ok=True)
    if not Path("vesteinn/DanskBert").exists():
        Path("vesteinn/DanskBert").symlink_to(folder)
    glued = MaskedLM(StoredCheckpoint("vesteinn/DanskBert", LoadOptions()))
    usual = MaskedLM(StoredCheckpoint(str(folder), LoadOptions()))
    request = TopToken("smeden gav ", " sin hammer .")
    (with_space,), (without,) = usual.encode([request]), glued.encode([request])
    assert with_space.length == without.length + 1
    assert usual.fingerprint() != glued.fingerprint()


def slow_loss(model: Any, tokenizer: Any, text: str, old: str, new: str | None) -> float:
    tokens = tokenizer.tokenize(f"{tokenizer.cls_token} {text} {tokenizer.sep_token}")
    changed = list(tokens)
    if new is not None:
        changed[tokens.index(old)] = new
    with torch.no_grad():
        logits = model(torch.tensor([tokenizer.convert_tokens_to_ids(changed)])).logits[0]
    gold = torch.tensor(tokenizer.convert_tokens_to_ids(tokens))
    return float(torch.nn.functional.cross_entropy(logits, gold))


@pytest.mark.parametrize(("family", "token"), [("wordpiece cased", "sin"), ("unigram", "▁sin")])
@pytest.mark.parametrize("replacement", ["hans", "hendes", None, "no-such-token"])
def test_reconstruction_is_the_unmasked_loss_against_the_unchanged_sentence(
    family: str, token: str, replacement: str | None
) -> None:
    model = opened(family)
    text = "smeden gav hende sin hammer."
    expected = slow_loss(model.model, model.tokenizer, text, token, replacement)
    found = answer(model.backend, Reconstruct(text, WORDS, replacement))
    assert found.loss == pytest.approx(expected, rel=1e-5)


def test_reconstruction_stops_where_the_reflexive_is_no_single_token() -> None:
    with pytest.raises(UserError, match=r"none of sin, sit, sine is one token .* protocol 2"):
        opened("byte-level").backend.encode([Reconstruct("hun så sin kat.", WORDS, "hans")])


def test_a_causal_model_refuses_protocol_one() -> None:
    backend = opened("gpt2").backend
    assert backend.answers == {"fill", "score"}
    with pytest.raises(UserError, match="Protocol 1 needs a masked language model"):
        backend.encode([TopToken("hun så ", " kat.")])
