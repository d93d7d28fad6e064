"""Converted weights of `.gguf` files: kept, believed only if they are what was written, and bounded."""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gguf
import pytest
import tiny
import torch

from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.detect import load_model
from gendalens.models.huggingface import kept_weights
from gendalens.models.huggingface.kept_weights import GIGABYTE
from gendalens.models.requests import Score
from gendalens.system import seals
from gendalens.system.steps import listen
from gendalens.words import Message

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("accelerate") is None,
    reason="transformers reads .gguf weights by accelerate, which is not installed",
)

TEXT = "Hun købte et rødt æble på torvet."


class Heard:
    """The steps and notes of a run, by their codes."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.told: list[str] = []

    def prepares(self, step: Message) -> None:
        self.steps.append(step.code)

    def notes(self, message: Message) -> None:
        self.told.append(message.code)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny Llama, whose matrices have to be converted."""
    tokenizer = tiny.gpt2(specials=True)
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    tiny.save_gguf(path, tiny.llama_model(tokenizer), tokenizer, kind=gguf.GGMLQuantizationType.F16)
    return path


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another model of the same shape."""
    tokenizer = tiny.gpt2(specials=True)
    model = tiny.llama_model(tokenizer)
    with torch.no_grad():
        model.model.embed_tokens.weight.mul_(-1)
    path = tmp_path_factory.mktemp("other") / "other.gguf"
    tiny.save_gguf(path, model, tokenizer)
    return path


@pytest.fixture
def weights(own_home: Path) -> Path:
    return own_home / kept_weights.FOLDER


@pytest.fixture
def heard() -> Iterator[Heard]:
    listener = Heard()
    with listen(listener):
        yield listener


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The files that the `gguf` package has parsed."""
    found: list[Any] = []
    parse = gguf.GGUFReader

    def count(path: Any, *rest: Any) -> Any:
        found.append(path)
        return parse(path, *rest)

    monkeypatch.setattr(gguf, "GGUFReader", count)
    return found


def start(file: Path, dtype: str = "float32") -> dict[str, Any]:
    """What a start with a model gives: who it is, what it answers, and the bytes of its weights."""
    backend: Any = load_model(str(file), LoadOptions(device="cpu", dtype=dtype))
    answers = backend.answer(backend.encode([Score(TEXT)]))
    found = backend.checkpoint.load_model("AutoModelForCausalLM").state_dict()
    return {
        "fingerprint": backend.fingerprint(),
        "info": backend.info,
        "answers": answers,
        "config": {**backend.checkpoint.config.to_dict(), "_name_or_path": ""},
        "weights": {
            name: tensor.view(torch.uint8).numpy().tobytes() for name, tensor in found.items()
        },
    }


def test_a_file_is_parsed_once_for_config_tokenizer_and_weights(
    file: Path, parses: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(kept_weights.LIMIT, "0")
    backend: Any = load_model(str(file), LoadOptions(device="cpu"))
    backend.answer(backend.encode([Score(TEXT)]))
    assert len(parses) == 1


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_second_start_reads_the_kept_weights_and_everything_is_the_same(
    file: Path, dtype: str, parses: list[Any], heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(kept_weights.LIMIT, "0")
    without = start(file, dtype)
    monkeypatch.delenv(kept_weights.LIMIT)
    first = start(file, dtype)
    parses.clear()
    second = start(file, dtype)
    assert parses == []
    assert without == first == second
    assert heard.told == []


def test_a_number_format_and_a_version_of_the_libraries_have_a_copy_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = kept_weights.name_conversion("a", "float32")
    assert name == kept_weights.name_conversion("a", "float32")
    others = {kept_weights.name_conversion(*one) for one in (("b", "float32"), ("a", "bfloat16"))}
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0")
    others.add(kept_weights.name_conversion("a", "float32"))
    assert len(others | {name}) == 4


def flip_a_bit(copy: Path) -> None:
    path = copy / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)


def cut_off(copy: Path) -> None:
    path = copy / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-64])


def change_config(copy: Path) -> None:
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | {"rms_norm_eps": 0.5}))


def add_file(copy: Path) -> None:
    (copy / "model.bin.index.json").write_text("{}")


def make_pipe(copy: Path) -> None:
    (copy / "config.json").unlink()
    os.mkfifo(copy / "config.json")


@pytest.mark.slow
@pytest.mark.parametrize("damage", [flip_a_bit, cut_off, change_config, add_file, make_pipe])
def test_a_damaged_copy_is_removed_and_converted_again(
    file: Path, weights: Path, heard: Heard, damage: Callable[[Path], None]
) -> None:
    expected = start(file)
    (copy,) = kept_weights.list_copies()
    damage(copy.folder)
    assert start(file) == expected
    assert heard.told == ["kept_weights_damaged"]
    assert [one.folder for one in kept_weights.list_copies()] == [copy.folder]
    assert start(file) == expected
    assert len(heard.told) == 1


def test_a_copy_that_is_exchanged_after_it_was_checked_is_not_used(file: Path) -> None:
    expected = start(file)
    backend: Any = load_model(str(file), LoadOptions(device="cpu"))
    flip_a_bit(kept_weights.list_copies()[0].folder)
    assert backend.answer(backend.encode([Score(TEXT)])) == expected["answers"]


def test_a_copy_of_another_model_cannot_stand_in_for_this_one(
    file: Path, other: Path, weights: Path
) -> None:
    expected = start(file)
    (mine,) = kept_weights.list_copies()
    assert start(other)["answers"] != expected["answers"]
    (its,) = (copy for copy in kept_weights.list_copies() if copy != mine)
    shutil.rmtree(mine.folder)
    shutil.copytree(its.folder, mine.folder)
    seal = weights / f"{mine.folder.name}.seal"
    seal.write_bytes((weights / f"{its.folder.name}.seal").read_bytes())
    assert start(file) == expected
    # With the name and the digest changed to fit, only the key tells.
    shutil.rmtree(mine.folder)
    shutil.copytree(its.folder, mine.folder)
    written = json.loads((weights / f"{its.folder.name}.seal").read_text())
    seal.write_text(json.dumps(written | {"copy": mine.folder.name}))
    assert start(file) == expected


def test_a_copy_sealed_with_another_key_is_not_believed(
    file: Path, parses: list[Any], weights: Path
) -> None:
    expected = start(file)
    seals.find_key().write_bytes(bytes(32))
    parses.clear()
    assert start(file) == expected
    assert parses
    parses.clear()
    assert start(file) == expected
    assert parses == []  # it has been sealed with the new key


def test_only_the_user_can_enter_the_folder_and_read_the_key(file: Path, weights: Path) -> None:
    old = os.umask(0)
    try:
        start(file)
    finally:
        os.umask(old)
    assert weights.parent not in seals.find_key().parents
    for path, mode in ((weights, 0o700), (seals.find_key(), 0o600)):
        assert stat.S_IMODE(path.stat().st_mode) == mode
    (copy,) = kept_weights.list_copies()
    assert stat.S_IMODE(copy.folder.stat().st_mode) == 0o700


def test_a_full_disk_costs_a_note_and_nothing_else(
    file: Path, weights: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, content: Any, **more: Any) -> None:
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    with monkeypatch.context() as patch:
        patch.setattr(kept_weights, "replace_file", refuse)
        first = start(file)
    # Loaded twice there: for the answers, and for the bytes.
    assert heard.told == ["weights_not_kept"] * 2
    assert list(weights.iterdir()) == []
    assert start(file) == first


def test_a_disk_without_room_is_not_filled(
    file: Path, weights: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_weights, "RESERVE", 10**18)
    start(file)
    assert set(heard.told) == {"no_room_for_weights"}
    assert not weights.exists()


def test_weights_beyond_the_limit_are_not_kept(
    file: Path, weights: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(kept_weights.LIMIT, "0.00001")
    start(file)
    assert set(heard.told) == {"weights_too_large"}
    assert not weights.exists()


def test_a_limit_of_nothing_neither_keeps_nor_reads_a_copy(
    file: Path, weights: Path, parses: list[Any], heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv(kept_weights.LIMIT, "0")
        expected = start(file)
        assert not weights.exists()
    start(file)
    monkeypatch.setenv(kept_weights.LIMIT, "0")
    parses.clear()
    assert start(file) == expected
    assert parses
    assert heard.told == []


@pytest.mark.parametrize("limit", ["much", "-1", "nan", "inf"])
def test_a_limit_that_is_no_size_is_reported(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kept_weights.LIMIT, limit)
    with pytest.raises(UserError, match=f"GENDALENS_KEEP_GB={limit} is not a size"):
        kept_weights.read_limit()


def test_the_longest_unused_copy_goes_first(
    file: Path, other: Path, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(file)
    (first,) = kept_weights.list_copies()
    size = kept_weights.measure_folder(weights)
    start(file, "bfloat16")
    _, second = kept_weights.list_copies()
    for age, copy in ((200, first), (100, second)):
        path = weights / f"{copy.folder.name}.seal"
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    start(file)  # uses the first, so the second is now the longest unused
    monkeypatch.setenv(kept_weights.LIMIT, str(2.2 * size / GIGABYTE))
    start(other)
    left = kept_weights.list_copies()
    assert [copy.model for copy in left] == [file.name, other.name]
    assert left[0] == first
    assert not second.folder.exists()


def test_what_a_killed_process_left_is_removed_after_a_day(file: Path, weights: Path) -> None:
    weights.mkdir(parents=True)
    old, new = weights / ".unfinished-old", weights / ".unfinished-new"
    for folder in (old, new):
        folder.mkdir()
    os.utime(old, (1, 1))
    start(file)
    assert not old.exists()
    assert new.exists()


def test_a_copy_that_does_not_load_leaves_the_last_word_to_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose_a_tensor(model: Any) -> dict[str, Any]:
        tensors = listed(model)
        del tensors["model.norm.weight"]
        return tensors

    listed = kept_weights._list_tensors
    monkeypatch.setattr(kept_weights, "_list_tensors", lose_a_tensor)
    expected = start(file)
    assert kept_weights.list_copies()
    assert start(file) == expected
