"""Real models that answer several batches at once: what threads share must not show."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from asking import answer_all
from families import CAUSAL, MASKED, opened, reopened
from taggers import TAGGERS, opened_tagger

from gendalens.models.detect import load_model
from gendalens.models.huggingface.transformer import keeps_state
from gendalens.models.requests import Answer, Fill, Request, Score, Tag

WORDS = ("bageren", "gartneren", "hun", "han", "bog", "båd", "brød", "gik", "hjem", "gav", "det")
TEXTS = [
    " ".join(WORDS[(i * j) % len(WORDS)] for j in range(1, 3 + i % 7)) + "." for i in range(40)
]


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def numbers(answer: Answer) -> list[float]:
    values = [getattr(answer, name) for name in answer.__slots__]
    flat = [n for value in values for n in (value if isinstance(value, tuple) else (value,))]
    return [n for n in flat if isinstance(n, float)]


def one_by_one(backend: Any, requests: list[Request]) -> dict[Request, Answer]:
    return {r: backend.answer(backend.encode([r]))[0] for r in dict.fromkeys(requests)}


FEW = ("unigram", "gpt2")


@pytest.mark.parametrize(
    "family",
    [
        family if family in FEW else pytest.param(family, marks=pytest.mark.slow)
        for family in (*MASKED, *CAUSAL)
    ],
)
def test_language_models_answer_alike(family: str) -> None:
    backend = opened(family).backend
    requests: list[Request] = [Score(text) for text in TEXTS]
    requests += [Fill(f"{text} Nu går ", " hjem.", ("han", "hun")) for text in TEXTS]
    assert backend.workers == (1 if "multimodal" in family else 2)
    expected = one_by_one(backend, requests)
    found = answer_all(backend, requests, batch_tokens=100)
    assert found.keys() == expected.keys()
    for request, answer in found.items():
        assert numbers(answer) == pytest.approx(numbers(expected[request]), rel=1e-4)
    again: Any = load_model(str(opened(family).folder))
    assert answer_all(again, requests, batch_tokens=100) == found


@pytest.mark.slow
@pytest.mark.parametrize("family", TAGGERS)
def test_taggers_answer_alike(family: str) -> None:
    backend = opened_tagger(family).backend
    requests: list[Request] = [Tag(text) for text in TEXTS]
    assert backend.workers == 2
    assert answer_all(backend, requests, batch_tokens=60) == one_by_one(backend, requests)


def test_what_might_disturb_another_thread_works_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = opened("wordpiece cased").backend
    with_code = reopened(backend, trust_remote_code=True)
    assert with_code.workers == 1
    monkeypatch.setattr("gendalens.models.huggingface.transformer.memory_is_limited", lambda: True)
    assert backend.workers == 1


def test_a_graphics_card_has_one_batch_at_a_time() -> None:
    backend = opened("wordpiece cased").backend
    assert reopened(backend, device="cuda").workers == 1


def test_a_processor_with_a_number_is_a_processor() -> None:
    backend = opened("wordpiece cased").backend
    numbered = reopened(backend, device="cpu:0")
    assert (numbered.workers, numbered.batch_tokens) == (2, backend.batch_tokens)


def test_models_that_write_into_themselves_are_known() -> None:
    assert keeps_state(transformers.BigBirdConfig())
    assert keeps_state(transformers.FunnelConfig())
    assert not keeps_state(transformers.BertConfig())
    assert not keeps_state(transformers.LlamaConfig())
    stretched = transformers.LlamaConfig()
    stretched.rope_parameters = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10_000.0}
    assert keeps_state(stretched)
    assert keeps_state(SimpleNamespace(get_text_config=transformers.LlamaConfig))
