"""Models in one `.gguf` file."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import slow
import tiny
import transformers

from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.detect import load_model
from gendalens.models.requests import Score

needs_accelerate = pytest.mark.skipif(
    importlib.util.find_spec("accelerate") is None,
    reason="transformers reads .gguf weights by accelerate, which is not installed",
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny Llama, written the way llama.cpp's converter writes one."""
    tokenizer = tiny.gpt2(specials=True)
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    tiny.save_gguf(path, tiny.llama_model(tokenizer), tokenizer)
    return path


def test_without_accelerate_a_gguf_file_is_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match='need gguf: run `pip install "'):
        load_model(str(file))


@needs_accelerate
def test_a_gguf_file_is_a_causal_model_with_one_bos_in_front(file: Path) -> None:
    backend = load_model(str(file))
    assert (backend.info.kind.code, backend.info.dtype) == ("causal_lm", "float32")
    assert backend.info.revision.startswith("sha256:")
    text = "Hun købte et rødt æble på torvet."
    encoded: Any = backend.encode([Score(text)])
    assert encoded[0].inputs[0].count(0) == 1
    folder = {"pretrained_model_name_or_path": file.parent, "gguf_file": file.name}
    expected, tokens = slow.causal_score(
        transformers.AutoTokenizer.from_pretrained(**folder),
        transformers.AutoModelForCausalLM.from_pretrained(**folder).eval(),
        text,
    )
    answer: Any = backend.answer(encoded)[0]
    assert answer.log_likelihood == pytest.approx(expected, rel=1e-5)
    assert answer.tokens == tokens


def score(file: Path) -> Any:
    backend = load_model(str(file), LoadOptions(device="cpu"))
    return backend.answer(backend.encode([Score("Hun sejler.")]))


@needs_accelerate
def test_what_lies_beside_a_gguf_file_is_no_part_of_it(file: Path, tmp_path: Path) -> None:
    """transformers takes a tokenizer from the same folder, which no digest of the file would tell."""
    here = tmp_path / file.name
    here.write_bytes(file.read_bytes())
    tiny.gpt2(specials=True, size=262).save_pretrained(tmp_path)
    assert score(here) == score(file)


@needs_accelerate
def test_a_file_of_the_same_name_in_the_working_directory_is_another_model(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """transformers looks for weights there first."""
    tokenizer = tiny.gpt2(specials=True, size=270)
    tiny.save_gguf(tmp_path / file.name, tiny.llama_model(tokenizer), tokenizer)
    expected = score(file)
    monkeypatch.chdir(tmp_path)
    assert score(file) == expected
    assert score(Path(file.name)) != expected


@needs_accelerate
def test_a_gguf_file_keeps_its_fingerprint_when_it_is_renamed(file: Path) -> None:
    other = file.with_name("other.gguf")
    other.write_bytes(file.read_bytes())
    assert load_model(str(file)).fingerprint() == load_model(str(other)).fingerprint()
