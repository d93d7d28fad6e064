"""A model that is spread over devices and the disk answers as it does on one device."""

from __future__ import annotations

import gc
import importlib.util
import shutil
import tempfile
from pathlib import Path
from typing import Any

import adapters
import multimodal
import pytest
import taggers
import tiny
import torch
from asking import answer_all
from families import opened

from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.detect import load_model
from gendalens.models.huggingface.devices import find_input_device, is_offloaded
from gendalens.models.requests import Fill, Request, Score, Tag

REQUESTS: list[Request] = [
    *(Score(sentence) for sentence in tiny.SENTENCES),
    Fill("Det er ", " båd.", ("hans", "hendes")),
]
# Room for some of the layers of the models here: their weights take 50 to 250 KB.
SMALL = LoadOptions(device="auto", max_memory="cpu=40KB")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which temporary ones are made."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def get_model(backend: Any) -> Any:
    return backend.network._model if hasattr(backend, "network") else backend.model


@pytest.mark.parametrize("family", ["gpt2", "llama", "wordpiece cased", "byte-level"])
def test_layers_on_disk_answer_as_those_in_memory(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(opened(family).folder)
    backend = load_model(folder, SMALL)
    answers, plain = answer_all(backend, REQUESTS), answer_all(load_model(folder), REQUESTS)
    for request in REQUESTS:
        assert get_scores(answers[request]) == pytest.approx(get_scores(plain[request]), abs=1e-5)
    assert is_offloaded(get_model(backend))
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    assert (backend.workers, load_model(folder).workers) == (1, 4)
    assert backend.fingerprint() == load_model(folder).fingerprint()


def test_a_tagger_on_disk_tags_as_in_memory(tmp_path: Path) -> None:
    folder = taggers.save(tmp_path / "tagger", tiny.wordpiece(), "bert", taggers.IOB)
    requests: list[Request] = [Tag(sentence) for sentence in tiny.SENTENCES]
    backend: Any = load_model(folder, SMALL)
    plain: Any = load_model(folder)
    assert answer_all(backend, requests) == answer_all(plain, requests)
    assert is_offloaded(backend.model)
    (row,) = backend.encode(requests[:1])[0].inputs
    found = backend._score_rows([row])[row]
    assert found == pytest.approx(plain._score_rows([row])[row], abs=1e-6)


def test_the_text_part_of_a_multimodal_model_stays_on_disk(tmp_path: Path) -> None:
    """Its wrapper is given up, and with it what would have moved the tokens to the right device."""
    folder = multimodal.save(tmp_path / "llava", multimodal.make_model("llava", tiny.gemma()))
    backend = load_model(folder, SMALL)
    answers, plain = answer_all(backend, REQUESTS), answer_all(load_model(folder), REQUESTS)
    gc.collect()
    again = backend.answer(backend.encode(REQUESTS[:1]))
    assert get_scores(again[0]) == pytest.approx(get_scores(plain[REQUESTS[0]]), abs=1e-5)
    for request in REQUESTS:
        assert get_scores(answers[request]) == pytest.approx(get_scores(plain[request]), abs=1e-5)
    assert is_offloaded(get_model(backend))


def test_without_a_limit_a_small_model_stays_in_memory() -> None:
    folder = str(opened("llama").folder)
    backend = load_model(folder, LoadOptions(device="auto"))
    answers, plain = answer_all(backend, REQUESTS), answer_all(load_model(folder), REQUESTS)
    assert answers == plain
    assert not is_offloaded(get_model(backend))


def test_a_pickle_is_written_to_a_temporary_folder_that_is_removed(
    tmp_path: Path, temporary: Path
) -> None:
    """Weights that cannot be read from where they lie are written anew."""
    folder = shutil.copytree(opened("llama").folder, tmp_path / "pickled")
    weights = opened("llama").model.state_dict()
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    options = LoadOptions(device="auto", max_memory="cpu=40KB", allow_pickle=True)
    backend = load_model(str(folder), options)
    answers, plain = answer_all(backend, REQUESTS), answer_all(opened("llama").backend, REQUESTS)
    for request in REQUESTS:
        assert get_scores(answers[request]) == pytest.approx(get_scores(plain[request]), abs=1e-5)
    assert any(temporary.rglob("*.safetensors"))
    del backend
    gc.collect()
    assert not any(temporary.iterdir())


def test_a_file_that_changes_while_layers_are_read_from_it_is_told(tmp_path: Path) -> None:
    folder = shutil.copytree(opened("llama").folder, tmp_path / "model")
    backend = load_model(str(folder), SMALL)
    encoded = backend.encode(REQUESTS[:1])
    assert backend.answer(encoded)
    shutil.copy(folder / "model.safetensors", folder / "new")
    (folder / "new").replace(folder / "model.safetensors")
    with pytest.raises(UserError, match="changed while they were read"):
        backend.answer(encoded)


def test_an_adapter_is_not_put_onto_layers_on_disk(tmp_path: Path) -> None:
    found = adapters.train(tmp_path, "causal")
    backend = load_model(str(found.adapter), SMALL)
    encoded = backend.encode(REQUESTS[:1])
    with pytest.raises(UserError, match="does not fit into memory: merge the two"):
        backend.answer(encoded)


def test_tokens_go_to_the_device_on_which_the_first_layer_runs() -> None:
    """As accelerate's hooks say it of weights that are fetched when they are needed."""

    class Hook:
        execution_device = "cuda:1"

    with torch.device("meta"):
        model = torch.nn.Module()
        embedding = torch.nn.Embedding(2, 2)
    embedding._hf_hook = Hook()  # type: ignore[assignment]
    model.device = torch.device("meta")  # type: ignore[assignment]
    model.get_input_embeddings = lambda: embedding  # type: ignore[assignment]
    assert find_input_device(model) == torch.device("cuda:1")


@pytest.mark.parametrize("limit", ["10", "cpu", "cpu=", "cpu=10", "=1GB", "", "cpu=1GB;0=1GB"])
def test_a_limit_that_is_none_is_told(limit: str) -> None:
    with pytest.raises(UserError, match="is no limit on a device's memory: write it as 0=10GiB"):
        load_model("demo-lm", LoadOptions(device="auto", max_memory=limit))


@pytest.mark.parametrize("device", [None, "cpu"])
def test_a_limit_for_one_device_is_refused(device: str | None) -> None:
    with pytest.raises(UserError, match="add --device auto, or leave the limit out"):
        load_model("demo-lm", LoadOptions(device=device, max_memory="cpu=1GB"))


def test_without_accelerate_one_device_is_suggested(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "accelerate" else find(name)
    )
    backend = load_model(str(opened("llama").folder), LoadOptions(device="auto"))
    with pytest.raises(UserError, match="needs accelerate: run"):
        backend.answer(backend.encode(REQUESTS[:1]))


def get_scores(answer: Any) -> tuple[float, ...]:
    return answer.log_probs if hasattr(answer, "log_probs") else (answer.log_likelihood,)
