"""The last layer works at the asked positions alone, and the answers are those of the plain pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tiny
import torch
import transformers
from families import MASKED, opened, reopened

from gendalens.models.detect import load_model
from gendalens.models.huggingface.forward import Network
from gendalens.models.huggingface.last_layer import LastLayerNetwork
from gendalens.models.requests import Fill, Score

SCORES = [Score("Hun købte et rødt æble på torvet."), Score("Han sov."), Score("En kat så ham.")]
FILLS = [Fill("Lægen sagde, at ", " var træt.", ("han", "hun")), Fill("Her er ", ".", ("ham",))]


def rows_after_attention(backend: Any) -> list[torch.Size]:
    """The shapes of what comes out of the last layer that has an attention of its own."""
    parts = backend.network._model.named_modules()
    last = [part for name, part in parts if name.endswith(".attention.output")][-1]
    shapes: list[torch.Size] = []
    last.register_forward_hook(lambda _part, _args, output: shapes.append(output.shape))
    return shapes


@pytest.mark.parametrize("family", MASKED)
@pytest.mark.parametrize("requests", [SCORES, FILLS], ids=["score", "fill"])
def test_answers_are_those_of_the_plain_pass(
    family: str, requests: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(opened(family).folder)
    early: Any = load_model(folder)
    assert type(early.network) is LastLayerNetwork
    monkeypatch.setattr(type(early), "network_class", Network)
    plain: Any = load_model(folder)
    found = early.answer(early.encode(requests))
    assert type(plain.network) is Network
    assert early.network.early == (family != "head bypassed")
    for one, other in zip(found, plain.answer(plain.encode(requests)), strict=True):
        if isinstance(requests[0], Score):
            assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-4)
        else:
            assert one.log_probs == pytest.approx(other.log_probs, abs=1e-4)
            assert one.first == other.first


def test_the_last_layer_sees_the_asked_positions_only() -> None:
    backend: Any = load_model(str(opened("wordpiece cased").folder))
    encoded = backend.encode(SCORES)
    shapes = rows_after_attention(backend)
    backend.answer(encoded)
    asked = {(item.inputs[row], at) for item in encoded for row, at in item.sites}
    assert [tuple(shape[:2]) for shape in shapes] == [(1, len(asked))]


# DeBERTa's own code asks torch for what it will not have for long.
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
@pytest.mark.parametrize("architecture", ["Electra", "DebertaV2", "XLMRoberta", "Camembert"])
def test_kin_of_bert_pick_early_too(architecture: str, tmp_path: Path) -> None:
    tokenizer = tiny.wordpiece()
    config = getattr(transformers, f"{architecture}Config")(
        vocab_size=len(tokenizer),
        hidden_size=32,
        embedding_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        pad_token_id=0,
    )
    torch.manual_seed(0)
    model = getattr(transformers, f"{architecture}ForMaskedLM")(config)
    backend: Any = load_model(tiny.save(tmp_path, model, tokenizer))
    assert backend.network.early


def test_layers_that_are_one_and_the_same_are_read_plainly() -> None:
    model = tiny.bert_model(tiny.wordpiece()).eval()
    model.bert.encoder.layer[0] = model.bert.encoder.layer[1]
    network = LastLayerNetwork(model, "shared", 0, 128)
    assert not network.early
    rows, places = ((1, 2, 3), (4, 5)), ((0, 1), (1, 0))
    with torch.inference_mode():
        whole = model(*network.pad_rows(rows)).logits
        assert torch.allclose(network._logits(rows, places), whole[[0, 1], [1, 0]], atol=1e-5)


def test_weights_that_are_no_numbers_do_not_hide_behind_the_early_pick() -> None:
    model = tiny.bert_model(tiny.wordpiece()).eval()
    torch.nn.init.constant_(model.bert.embeddings.word_embeddings.weight, float("nan"))
    assert not LastLayerNetwork(model, "broken", 0, 128).early


def test_other_number_formats_are_read_plainly() -> None:
    backend = opened("wordpiece cased").backend
    coarse = reopened(backend, dtype="bfloat16")
    assert not coarse.network.early
