"""Beginnings that rows share run once, and the answers are those of the plain pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tiny
from families import CAUSAL, opened

from gendalens.models.detect import load_model
from gendalens.models.huggingface.forward import Network
from gendalens.models.huggingface.prefixes import PrefixNetwork
from gendalens.models.huggingface.trees import TreeNetwork
from gendalens.models.requests import Score

GIVEN = (
    "Hun købte et rødt æble på torvet, og »hun« henviser til",
    "Han læste en bog om øer og åer, mens hendes kat sov, og »han« henviser nu altså til",
    "Kort:",
)
QUESTIONS = [
    Score(word, given=given)
    for given in GIVEN
    for word in (" smeden.", " gartneren i huset.", " hun")
]


@pytest.fixture(autouse=True)
def no_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models that can read trees have no use for shared beginnings."""
    monkeypatch.setattr(TreeNetwork, "find_tree_limit", lambda *_: 0)


def counted(backend: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The tokens of every pass, padding aside."""
    passes: list[int] = []
    run = Network.run

    def spy(self: Network, ids: Any, mask: Any, places: Any, **more: Any) -> Any:
        passes.append(int(mask[:, -ids.shape[1] :].sum()))
        return run(self, ids, mask, places, **more)

    monkeypatch.setattr(Network, "run", spy)
    return passes


@pytest.mark.parametrize("family", CAUSAL)
def test_shared_beginnings_run_once_and_give_the_plain_answers(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = opened(family).backend
    encoded = backend.encode(QUESTIONS)
    monkeypatch.setattr(PrefixNetwork, "_can_share", False, raising=True)
    backend.network.__dict__.pop("_can_share", None)
    plain = backend.answer(encoded)
    backend.network._can_share = True
    passes = counted(backend, monkeypatch)
    shared = backend.answer(encoded)
    del backend.network._can_share
    for one, other in zip(shared, plain, strict=True):
        assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-4)
        assert one.tokens == other.tokens
    whole = sum(len(row) for item in encoded for row in item.inputs)
    # The tiny Gemma sees sixteen tokens back in some layers, so its rows run whole.
    assert (sum(passes) < 0.7 * whole) == (family != "gemma 3, multimodal")


def test_a_model_of_which_some_layers_see_only_sixteen_tokens_back_gives_the_plain_answers(
    tmp_path: Path,
) -> None:
    tokenizer = tiny.gpt2(specials=True)
    backend: Any = load_model(tiny.save(tmp_path, tiny.gpt_neo_model(tokenizer), tokenizer))
    encoded = backend.encode(QUESTIONS)
    found = backend.answer(encoded)
    assert backend.network._can_share
    backend.network._can_share = False
    for one, other in zip(found, backend.answer(encoded), strict=True):
        assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-4)


def test_an_architecture_that_shares_wrongly_or_not_at_all_is_read_plainly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend = opened("gpt2").backend
    encoded = backend.encode(QUESTIONS)
    network = backend.network
    network._can_share = False
    right = backend.answer(encoded)

    def wrong(self: PrefixNetwork, rows: Any, places: Any, *rest: Any) -> Any:
        return Network._logits(self, rows, places) + 1

    def none(self: PrefixNetwork, *rest: Any) -> Any:
        raise TypeError("no such cache")

    def other(self: PrefixNetwork, *rest: Any) -> Any:
        raise RuntimeError("The size of tensor a (5) must match the size of tensor b (2)")

    for broken in (wrong, none, other):
        network.__dict__.pop("_can_share", None)
        with monkeypatch.context() as patch:
            patch.setattr(PrefixNetwork, "_share_beginnings", broken)
            assert backend.answer(encoded) == right
        assert network._can_share is False
    network.__dict__.pop("_can_share", None)


def test_memory_that_runs_out_says_nothing_about_an_architecture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(self: PrefixNetwork, *rest: Any) -> Any:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    network = opened("gpt2").backend.network
    network.__dict__.pop("_can_share", None)
    with monkeypatch.context() as patch:
        patch.setattr(PrefixNetwork, "_share_beginnings", full)
        with pytest.raises(RuntimeError, match="allocate"):
            assert network._can_share
    assert network._can_share is True
