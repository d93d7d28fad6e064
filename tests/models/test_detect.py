"""What a loaded model says about itself, and what it does not load."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tiny
from families import CAUSAL, MASKED, opened

from gendalens import models
from gendalens.models.base import Score
from gendalens.models.detect import load_model


@pytest.mark.parametrize("family", [*MASKED, *CAUSAL])
def test_the_architecture_decides_the_kind(family: str) -> None:
    expected = f"{'masked' if family in MASKED else 'causal'} language model"
    assert opened(family).backend.info.kind == expected


def test_a_model_tells_its_name_version_and_software() -> None:
    model = opened("wordpiece cased")
    info = model.backend.info
    assert info.name == model.folder.name
    assert info.revision.startswith("sha256:")
    assert len(info.revision) == len("sha256:") + 12
    assert info.dtype == "float32"
    assert "WordPiece" in info.tokenizer
    assert [item.split()[0] for item in info.software] == ["torch", "transformers", "tokenizers"]


def test_weights_are_loaded_with_the_first_answer_and_not_before(tmp_path: Path) -> None:
    folder = shutil.copytree(opened("gpt2").folder, tmp_path / "model")
    backend = load_model(str(folder))
    backend.encode([Score("Hun sejler.")])
    assert backend.info.kind == "causal language model"
    assert len(backend.fingerprint()) == 64
    assert "network" not in vars(backend)
    backend.answer(backend.encode([Score("Hun sejler.")]))
    assert "network" in vars(backend)


def test_the_fingerprint_follows_the_content_and_the_number_format(tmp_path: Path) -> None:
    first = opened("wordpiece cased").folder
    copy = shutil.copytree(first, tmp_path / "copy")
    same = load_model(str(first)).fingerprint()
    assert load_model(str(copy)).fingerprint() == same
    (copy / "README.md").write_text("about it")
    assert load_model(str(copy)).fingerprint() == same
    assert load_model(str(copy), dtype="bfloat16").fingerprint() != same
    weights = copy / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    changed = load_model(str(copy))
    assert changed.fingerprint() != same
    assert changed.info.revision != load_model(str(first)).info.revision


def test_numbers_are_float32_unless_asked_otherwise(tmp_path: Path) -> None:
    tokenizer = opened("wordpiece cased").tokenizer
    name = tiny.save(tmp_path / "half", tiny.bert_model(tokenizer).half(), tokenizer)
    requests = [Score("Hun sejler den hver dag.")]
    found = {}
    for dtype in ("float32", "float16", "auto"):
        backend = load_model(name, dtype=dtype)
        answer: Any = backend.answer(backend.encode(requests))[0]
        found[dtype] = answer.log_likelihood
    assert load_model(name).info.dtype == "float32"
    assert load_model(name, dtype="auto").info.dtype == "float16"
    assert found["auto"] == found["float16"] != found["float32"]
    assert found["float16"] == pytest.approx(found["float32"], rel=1e-2)


def test_a_new_backend_is_one_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scripted.py").write_text(
        "class Scripted:\n"
        "    label = 'scripted models'\n"
        "    def __init__(self, checkpoint): self.name = checkpoint.name\n"
        "    @staticmethod\n"
        "    def claims(checkpoint): return checkpoint.name == 'scripted'\n"
        "BACKEND = Scripted\n"
    )
    monkeypatch.setattr(models, "__path__", [*models.__path__, str(tmp_path)])
    # The others' complaint that this is no folder and not on the hub does not stand in its way.
    assert type(load_model("scripted", offline=True)).__name__ == "Scripted"
    sys.modules.pop("gendalens.models.scripted")


def test_finding_the_backends_imports_neither_torch_nor_transformers() -> None:
    code = (
        "import sys; from gendalens.models import detect; list(detect._backends());"
        "sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_bos_stands_in_front_exactly_once() -> None:
    """The same model answers the same whether its tokenizer adds BOS by itself or not."""
    for family in ("llama", "llama, tokenizer adds bos", "gemma 3, multimodal"):
        model = opened(family)
        bos = model.tokenizer.bos_token_id
        for text in ("Hun sejler.", "<bos>Hun sejler."):
            (encoded,) = model.backend.encode([Score(text)])
            assert encoded.inputs[0].count(bos) == 1
            assert encoded.inputs[0][0] == bos
            assert bos not in [token for _, _, token in encoded.asked]


def test_a_single_token_with_nothing_before_it_is_unscored() -> None:
    backend = opened("gpt2 without special tokens").backend
    (answer,) = backend.answer(backend.encode([Score("H")]))
    assert (answer.tokens, answer.unscored, answer.log_likelihood) == (0, 1, 0.0)
