"""The sweep over all architectures: one of each kind of trouble, and that it sees what it looks for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gendalens.models.base import Batching
from gendalens.models.huggingface.forward import Network
from gendalens.models.huggingface.padding_trial import PaddingTrial
from tools.sweep import overrides, page, record
from tools.sweep.heads import CAUSAL, HEADS, MASKED, TOKENS, Head
from tools.sweep.outcome import Verdict
from tools.sweep.trial import TOLERANCE, try_architecture

ANY, EQUAL, ONE = (batching.value for batching in Batching)

RIGHT = [
    (MASKED, "bert", ANY),
    pytest.param(
        MASKED, "big_bird", ANY, marks=pytest.mark.slow
    ),  # turns to full attention at the first short text
    (MASKED, "convbert", EQUAL),
    pytest.param(MASKED, "luke", ANY, marks=pytest.mark.slow),  # cuts the output of its layers
    (MASKED, "modernbert", ANY),  # sliding windows on both sides
    pytest.param(MASKED, "perceiver", ANY, marks=pytest.mark.slow),  # more logits than tokens
    pytest.param(MASKED, "reformer", EQUAL, marks=pytest.mark.slow),  # random hashes
    pytest.param(
        MASKED, "roberta", ANY, marks=pytest.mark.slow
    ),  # numbers positions from the padding token
    pytest.param(CAUSAL, "blt", ANY, marks=pytest.mark.slow),  # cannot make a cache
    pytest.param(
        CAUSAL, "deepseek_v32", ANY, marks=pytest.mark.slow
    ),  # attends to the most relevant tokens
    pytest.param(
        CAUSAL, "doge", EQUAL, marks=pytest.mark.slow
    ),  # the same, and padding changes which are kept of equals
    pytest.param(CAUSAL, "gemma3", ANY, marks=pytest.mark.slow),  # reads images too
    pytest.param(CAUSAL, "gpt_neo", ANY, marks=pytest.mark.slow),  # windows in every other layer
    pytest.param(CAUSAL, "hrm_text", ONE, marks=pytest.mark.slow),  # reads a text again and again
    (CAUSAL, "llama", ANY),
    (CAUSAL, "mamba", ANY),  # recurrent: no cache of keys and values
    pytest.param(CAUSAL, "mixtral", ANY, marks=pytest.mark.slow),  # experts
    (TOKENS, "canine", EQUAL),
    (TOKENS, "gpt2", ANY),
    pytest.param(TOKENS, "t5gemma", EQUAL, marks=pytest.mark.slow),  # encoder and decoder
]

REFUSED = [
    (MASKED, "bart", "is an encoder–decoder (BartForConditionalGeneration)"),
    (MASKED, "mra", "gives the same numbers whatever the other words are"),
    (CAUSAL, "cpmant", "its predictions depend on later words"),
    (CAUSAL, "gemma4_unified_assistant", "cannot read even a short text"),
    (TOKENS, "bros", "is a BrosForTokenClassification, which GenDa Lens cannot test"),
    (TOKENS, "mra", "gives the same numbers whatever the other words are"),
]


@pytest.mark.parametrize(("head", "architecture", "batching"), RIGHT)
def test_architectures_answer_as_the_plain_model(
    head: Head, architecture: str, batching: str
) -> None:
    found = try_architecture(head, architecture)
    assert (found.verdict, found.reason) == (Verdict.RIGHT, "")
    assert found.batching == batching
    assert 0 <= found.relative <= found.difference < TOLERANCE


@pytest.mark.parametrize(("head", "architecture", "sentence"), REFUSED)
def test_architectures_without_meaning_are_refused(
    head: Head, architecture: str, sentence: str
) -> None:
    found = try_architecture(head, architecture)
    assert found.verdict is Verdict.REFUSED
    assert sentence in found.reason


@pytest.mark.parametrize("head", [CAUSAL, TOKENS])
def test_long_and_short_texts_are_kept_apart_where_length_changes_positions(
    head: Head, monkeypatch: pytest.MonkeyPatch
) -> None:
    rope = {
        "rope_type": "longrope",
        "rope_theta": 1e4,
        "partial_rotary_factor": 1.0,
        "short_factor": [1.0] * 4,
        "long_factor": [1.0, 2.0, 3.0, 4.0],
        "original_max_position_embeddings": 40,
    }
    scaled = {"original_max_position_embeddings": 40, "rope_parameters": rope}
    monkeypatch.setitem(overrides.OVERRIDES, "phi3", scaled)
    found = try_architecture(head, "phi3")
    assert (found.verdict, found.batching) == (Verdict.RIGHT, ANY)


def test_the_sweep_sees_what_padding_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PaddingTrial, "choose_batching", lambda *_: Batching.ANY_LENGTH)
    found = try_architecture(MASKED, "convbert")
    assert found.verdict is Verdict.WRONG
    assert found.difference > 0.1


def test_the_sweep_sees_a_model_that_ignores_its_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PaddingTrial, "_check_context", lambda *_: None)
    found = try_architecture(MASKED, "mra")
    assert (found.verdict, found.difference) == (Verdict.WRONG, 0)
    assert found.reason == "Its numbers do not depend on the other words."


def test_an_error_that_nobody_foresaw_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ValueError("broken")

    monkeypatch.setattr(Network, "fill", fail)
    found = try_architecture(MASKED, "bert")
    assert found.verdict is Verdict.FAILED
    assert "cannot answer (ValueError: broken)" in found.reason


def test_a_model_that_cannot_be_made_says_why() -> None:
    found = try_architecture(TOKENS, "layoutlmv2")
    assert found.verdict is Verdict.NOT_BUILT
    assert found.reason.startswith("ImportError: LayoutLMv2Model requires the detectron2 library")


def test_the_page_was_written_by_the_sweep() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.write_page(record.Record.read())


def test_the_page_holds_for_the_pinned_software() -> None:
    pinned = dict(
        re.findall(r"^([\w-]+)==([\w.]+)", Path("constraints.txt").read_text(), re.MULTILINE)
    )
    software = record.Record.read().software
    assert software == {name: pinned[name] for name in software}
    assert software == record.installed_software()


def test_the_page_has_every_architecture_and_nothing_is_wrong_in_silence() -> None:
    outcomes = record.Record.read().outcomes
    for head in HEADS.values():
        tried = {one.architecture for one in outcomes if one.head == head.name}
        assert tried == set(head.list_classes())
    assert not [one.architecture for one in outcomes if one.verdict is Verdict.WRONG]
    assert all(one.difference < TOLERANCE for one in outcomes)
