"""Texts read as trees get the numbers that each gets alone, and no beginning is read twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import tiny
import torch
import transformers
from asking import answer_all
from families import CAUSAL, opened

from gendalens.models.huggingface import trees, vocabulary_head
from gendalens.models.huggingface.forward import Network
from gendalens.models.huggingface.trees import TreeNetwork
from gendalens.models.huggingface.trie import Tree, count_nodes, pack_trees
from gendalens.models.huggingface.vocabulary_head import VocabularyHead
from gendalens.models.requests import Fill, Request, Score

REQUESTS: list[Request] = [
    *(Score(text.replace("hun", word)) for text in tiny.SENTENCES for word in ("hun", "han", "de")),
    *(
        Score(end, given="Læreren mødte ")
        for end in ("hans bog.", "hendes bog.", "sin søn ved åen.")
    ),
    Fill("Så gik ", " hjem til Århus.", ("han", "hun", "gartneren")),
]


def read_alone(backend: Any, requests: list[Request]) -> dict[Request, list[float]]:
    """The log-probabilities of every request's tokens, each row read by the model as it is."""
    found = {}
    for request in requests:
        (item,) = backend.encode([request])
        rows = [backend.network.read_alone(row).double().log_softmax(-1) for row in item.inputs]
        values = iter([rows[row][at, token].item() for row, at, token in item.asked])
        groups = item.groups or (len(item.asked),)
        found[request] = [sum(next(values) for _ in range(count)) for count in groups]
    return found


def list_numbers(answer: Any) -> list[float]:
    return [answer.log_likelihood] if hasattr(answer, "tokens") else list(answer.log_probs)


@pytest.fixture
def tokens_run(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The tokens of every pass, padding included."""
    passes: list[int] = []
    call = Network._call

    def spy(self: Network, ids: Any, mask: Any, **more: Any) -> Any:
        passes.append(ids.numel())
        return call(self, ids, mask, **more)

    monkeypatch.setattr(Network, "_call", spy)
    return passes


@pytest.mark.parametrize("family", CAUSAL)
def test_trees_of_any_packing_give_the_numbers_of_rows_read_alone(family: str) -> None:
    backend = opened(family).backend
    expected = read_alone(backend, REQUESTS)
    for batch_tokens in (1, 40, 384):
        found = answer_all(backend, REQUESTS, batch_tokens=batch_tokens)
        for request in REQUESTS:
            assert list_numbers(found[request]) == pytest.approx(expected[request], abs=1e-5)


def test_no_token_is_read_twice_within_a_batch(tokens_run: list[int]) -> None:
    backend = opened("llama").backend
    rows = [row for item in encode_all(backend) for row in item.inputs]
    answer_all(backend, REQUESTS[:1])  # loads and tries the model
    tokens_run.clear()
    answer_all(backend, REQUESTS, batch_tokens=10_000)
    # The two kinds of request are asked one after the other.
    kinds = (
        [row for item in encode_all(backend, kind) for row in item.inputs] for kind in (Score, Fill)
    )
    assert sum(tokens_run) == sum(map(count_nodes, kinds)) < sum(map(len, rows)) / 2


def encode_all(backend: Any, kind: type | None = None) -> list[Any]:
    kinds = [kind] if kind else [Score, Fill]
    return [
        item
        for one in kinds
        for item in backend.encode([request for request in REQUESTS if isinstance(request, one)])
    ]


def test_small_batches_repeat_only_the_stems_where_they_are_cut(tokens_run: list[int]) -> None:
    backend = opened("llama").backend
    answer_all(backend, REQUESTS[:1])
    tokens_run.clear()
    answer_all(backend, REQUESTS[:-1], batch_tokens=150)
    assert max(tokens_run) <= 150
    least = count_nodes(row for item in encode_all(backend, Score) for row in item.inputs)
    assert sum(tokens_run) <= 1.15 * least


def test_the_head_runs_once_for_each_node_that_is_asked_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend = opened("llama").backend
    lines: list[int] = []
    read = VocabularyHead.read

    def spy(self: VocabularyHead, hidden: Any, asked: Any) -> Any:
        lines.append(len(hidden))
        return read(self, hidden, asked)

    monkeypatch.setattr(VocabularyHead, "read", spy)
    answer_all(backend, REQUESTS[:-4], batch_tokens=10_000)
    rows = [row for item in backend.encode(REQUESTS[:-4]) for row in item.inputs]
    assert sum(lines) == count_nodes(rows)


# --- which models read trees ---


@pytest.fixture
def untried() -> Iterator[TreeNetwork]:
    """A network that has tried nothing yet, and will have tried nothing."""
    network = opened("llama").backend.network
    network._tried.clear()
    yield network
    network._tried.clear()


def test_windows_counted_in_rows_are_found_out(tmp_path: Any) -> None:
    """GPT-Neo counts its windows from one token of a row to another, whatever their positions."""
    tokenizer = tiny.gpt2(specials=True)
    folder = tiny.save(tmp_path, tiny.gpt_neo_model(tokenizer), tokenizer)
    from gendalens.models.detect import load_model

    backend: Any = load_model(folder)
    assert backend.network.find_tree_limit(5) == 0
    expected = read_alone(backend, REQUESTS)
    for request, answer in answer_all(backend, REQUESTS).items():
        assert list_numbers(answer) == pytest.approx(expected[request], abs=1e-5)


def test_trees_are_no_deeper_than_a_window_and_unknown_windows_are_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = opened("gemma 3, multimodal").backend.network
    assert network.find_tree_limit(60) == 16
    monkeypatch.setattr(network, "_attention_span", float("inf"))
    monkeypatch.setattr(network, "_tried", {})
    assert network.find_tree_limit(60) == 0


def test_deeper_trees_are_tried_when_a_text_needs_them(untried: TreeNetwork) -> None:
    untried._window = None
    assert untried.find_tree_limit(30) == 64
    assert untried._tried == {64: True}
    assert untried.find_tree_limit(400) == 768
    assert untried._tried == {64: True, 192: True, 384: True, 768: True}
    assert untried.find_tree_limit(10_000) == 768


@pytest.mark.parametrize("mistake", ["positions", "mask", "error"])
def test_a_model_that_reads_trees_wrongly_or_not_at_all_reads_rows(
    mistake: str, untried: TreeNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out = TreeNetwork._lay_out

    def broken(self: TreeNetwork, trees: list[Tree]) -> Any:
        ids, mask, positions = lay_out(self, trees)
        if mistake == "error":
            raise TypeError("got an unexpected keyword argument 'position_ids'")
        if mistake == "positions":
            positions = torch.arange(ids.shape[1]).expand_as(positions)
        else:
            mask = torch.zeros_like(mask)
        return ids, mask, positions

    monkeypatch.setattr(TreeNetwork, "_lay_out", broken)
    backend = opened("llama").backend
    assert untried.find_tree_limit(30) == 0
    found = answer_all(backend, REQUESTS[:6])
    expected = read_alone(backend, REQUESTS[:6])
    for request in REQUESTS[:6]:
        assert list_numbers(found[request]) == pytest.approx(expected[request], abs=1e-5)


def test_memory_that_runs_out_says_nothing_about_trees(
    untried: TreeNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> Any:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    with monkeypatch.context() as patch:
        patch.setattr(TreeNetwork, "_lay_out", full)
        with pytest.raises(RuntimeError, match="allocate"):
            untried.find_tree_limit(30)
    assert untried.find_tree_limit(30) == 64


def test_texts_too_long_for_trees_are_read_beside_them(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = opened("llama").backend
    encoded = backend.encode(REQUESTS[:-1])
    limit = sorted(item.length for item in encoded)[len(encoded) // 2]
    monkeypatch.setattr(backend.network, "_attention_span", limit)
    long = [item.length > limit for item in encoded]
    assert any(long)
    batches = backend.plan(encoded, 100)
    assert sorted(i for batch in batches for i in batch) == list(range(len(encoded)))
    assert all(len({long[i] for i in batch}) == 1 for batch in batches)


# --- the output layer ---


def test_the_head_in_blocks_gives_the_numbers_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    layer = torch.nn.Linear(8, 50)
    head = VocabularyHead(layer, lambda logits: logits)
    hidden = torch.randn(5, 8)
    asked = [(4, 49), (0, 0), (2, 17), (2, 3), (0, 49)]
    expected = layer(hidden)
    for size in (1, 5 * 7, 10**6):
        monkeypatch.setattr(vocabulary_head, "_ON_PROCESSOR", size)
        values, totals = head.read(hidden, asked)
        assert torch.allclose(values, torch.stack([expected[at] for at in asked]), atol=1e-6)
        assert torch.allclose(totals, expected.logsumexp(-1), atol=1e-5)


@pytest.mark.parametrize("name", ["gemma2", "cohere", "granite"])
def test_what_a_model_does_to_its_logits_is_found_out(name: str) -> None:
    sizes = {
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "intermediate_size": 32,
        "vocab_size": 60,
        "head_dim": 16,
    }
    changes = {"gemma2": {"final_logit_softcapping": 3.0}, "granite": {"logits_scaling": 4.0}}
    config = transformers.AutoConfig.for_model(
        name, **sizes, **changes.get(name, {"logit_scale": 0.2}), pad_token_id=0, bos_token_id=1
    )
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    network = TreeNetwork(model, name, 0, 100)
    network.try_batches([tuple(range(3, 40))])
    assert network._head is not None
    # A model that does something else to them keeps its own head.
    other = TreeNetwork(model, name, 0, 100)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "list_changes", lambda _: [lambda logits: logits])
        other.try_batches([tuple(range(3, 40))])
        assert other._head is None


def test_a_head_of_its_own_gives_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = opened("gpt2").backend
    expected = read_alone(backend, REQUESTS[:8])
    monkeypatch.setattr(backend.network, "_head", None)
    monkeypatch.setattr(backend.network, "_max_positions", 20)
    found = answer_all(backend, REQUESTS[:8])
    for request in REQUESTS[:8]:
        assert list_numbers(found[request]) == pytest.approx(expected[request], abs=1e-5)


# --- other devices ---


def test_everything_lands_on_the_device_of_the_model() -> None:
    """On the meta device, which has shapes and no numbers, an operation across devices is an error."""
    tokenizer = tiny.gpt2(specials=True)
    with torch.device("meta"):
        model = tiny.gpt2_model(tokenizer)
    network = TreeNetwork(model.eval(), "shapes", 0, 100)
    rows: dict[tuple[int, ...], Any] = {(1, 2, 3): [0, 2], (1, 2, 4, 5): [3], (6,): [0]}
    packed = list(pack_trees(rows, width=5, most_asked=100))
    assert [len(tree) for tree in packed] == [5, 1]
    places = [(0, 0), (0, 4), (1, 0)]
    with torch.inference_mode():
        ids, mask, positions = network._lay_out(packed)
        hidden = network._run_to_head(packed, places)
        head = VocabularyHead(model.get_output_embeddings(), lambda logits: logits)
        values, totals = head.read(hidden, [(0, 3), (2, 7), (1, 0), (1, 1)])
    assert (ids.shape, mask.shape, positions.shape) == ((2, 5), (2, 1, 5, 5), (2, 5))
    assert (hidden.shape, values.shape, totals.shape) == ((3, 32), (4,), (3,))
    assert {part.device.type for part in (ids, mask, positions, hidden, values, totals)} == {"meta"}


def test_a_graphics_card_reads_several_trees_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    network = opened("llama").backend.network
    packed = [Tree(tokens=[1] * size) for size in (300, 384, 384, 20)]
    assert [len(group) for group in network._group(packed)] == [1, 1, 1, 1]
    monkeypatch.setattr(network, "_input_device", torch.device("cuda", 0))
    monkeypatch.setattr(trees, "_PASS_TOKENS", 1000)
    assert [len(group) for group in network._group(packed)] == [2, 2]
