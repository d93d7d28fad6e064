"""Weights that only unpickling can read: refused, or read as numbers where that was allowed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from families import opened

from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.detect import load_model
from gendalens.models.requests import Score
from gendalens.models.spacy.pipeline import forbid_pickles


class Evil:
    """What runs a command when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.marker}",)


@pytest.fixture
def pickled(tmp_path: Path) -> Path:
    """A model with its weights in pytorch_model.bin alone."""
    one = opened("wordpiece cased")
    folder = shutil.copytree(one.folder, tmp_path / "model")
    (folder / "model.safetensors").unlink()
    torch.save(one.model.state_dict(), folder / "pytorch_model.bin")
    return folder


def answer(folder: Path, **options: Any) -> Any:
    backend = load_model(str(folder), LoadOptions(**options))
    return backend.answer(backend.encode([Score("Hun sejler.")]))


def test_they_are_refused_with_two_ways_out(pickled: Path) -> None:
    with pytest.raises(UserError, match=r"convert them to safetensors.*--allow-pickle"):
        answer(pickled)


@pytest.mark.parametrize("name", ["model.pt", "model.pth", "model.ckpt", "weights.pkl"])
def test_so_are_pickles_of_other_names_in_a_folder_or_alone(pickled: Path, name: str) -> None:
    file = (pickled / "pytorch_model.bin").rename(pickled / name)
    for model in (pickled, file):
        with pytest.raises(UserError, match="only pickled weights"):
            answer(model)
    with pytest.raises(UserError, match="convert them to safetensors"):
        answer(pickled, allow_pickle=True)


def test_where_allowed_they_answer_as_the_safetensors_do(pickled: Path) -> None:
    backend = opened("wordpiece cased").backend
    assert answer(pickled, allow_pickle=True) == backend.answer(
        backend.encode([Score("Hun sejler.")])
    )


def test_other_pickled_weights_are_another_model(pickled: Path) -> None:
    before = load_model(str(pickled), LoadOptions(allow_pickle=True)).fingerprint()
    file = pickled / "pytorch_model.bin"
    weights = torch.load(file, weights_only=True)
    weights["cls.predictions.bias"] += 1
    torch.save(weights, file)
    assert load_model(str(pickled), LoadOptions(allow_pickle=True)).fingerprint() != before


@pytest.mark.parametrize("allowed", [False, True])
def test_a_pickle_that_would_run_a_command_runs_nothing(
    pickled: Path, allowed: bool, tmp_path: Path
) -> None:
    marker = tmp_path / "has-run"
    file = pickled / "pytorch_model.bin"
    weights = torch.load(file, weights_only=True)
    torch.save({**weights, "extra": Evil(marker)}, file)
    with pytest.raises(
        UserError, match="so they were not loaded" if allowed else "run nothing|only"
    ):
        answer(pickled, allow_pickle=allowed)
    assert not marker.exists()
    torch.load(file, weights_only=False)
    assert marker.exists()


def test_safetensors_are_taken_where_there_are_both(pickled: Path, tmp_path: Path) -> None:
    marker = tmp_path / "has-run"
    torch.save(Evil(marker), pickled / "pytorch_model.bin")
    shutil.copy(opened("wordpiece cased").folder / "model.safetensors", pickled)
    assert answer(pickled)
    assert answer(pickled, allow_pickle=True)
    assert not marker.exists()


def listed(folder: Path, name: str) -> None:
    """Have the list of shards say that all weights are in one file."""
    weights = dict.fromkeys(opened("wordpiece cased").model.state_dict(), name)
    index = {"metadata": {"total_size": 1}, "weight_map": weights}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def configured(folder: Path, name: str) -> None:
    """Have the configuration say so."""
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"transformers_weights": name}))


@pytest.mark.parametrize("say", [listed, configured])
def test_a_pickle_that_goes_by_as_safetensors_is_refused(pickled: Path, say: Any) -> None:
    """transformers would read it, if only as numbers."""
    (pickled / "pytorch_model.bin").rename(pickled / "adapter_model.bin")
    (pickled / "other.safetensors").touch()
    say(pickled, "adapter_model.bin")
    with pytest.raises(UserError, match="only pickled weights"):
        answer(pickled)
    assert answer(pickled, allow_pickle=True)


@pytest.mark.parametrize("say", [listed, configured])
@pytest.mark.parametrize("name", ["../out.safetensors", "sub/out.safetensors", "/out.safetensors"])
def test_weights_in_another_folder_are_refused(pickled: Path, say: Any, name: str) -> None:
    """No digest of the model's folder would tell when they change."""
    shutil.copy(
        opened("wordpiece cased").folder / "model.safetensors", pickled / "other.safetensors"
    )
    say(pickled, name)
    with pytest.raises(UserError, match="in another folder"):
        answer(pickled)


def test_shards_beside_the_configuration_are_read(pickled: Path) -> None:
    shutil.copy(opened("wordpiece cased").folder / "model.safetensors", pickled / "one.safetensors")
    listed(pickled, "one.safetensors")
    assert answer(pickled)


def test_weights_inside_a_spacy_pipeline_are_read_without_unpickling(tmp_path: Path) -> None:
    marker, file = tmp_path / "has-run", tmp_path / "model.pt"
    torch.save(Evil(marker), file)
    with forbid_pickles(), pytest.raises(Exception, match=r"[Ww]eights.only"):
        torch.load(file)
    assert not marker.exists()
