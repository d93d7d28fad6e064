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
from gendalens.errors import UserError
from gendalens.models import demo, detect
from gendalens.models.base import LoadOptions
from gendalens.models.control import Control
from gendalens.models.detect import load_model
from gendalens.models.huggingface.stored_checkpoint import StoredCheckpoint
from gendalens.models.requests import ANSWER_TYPES, Score


@pytest.mark.parametrize("family", [*MASKED, *CAUSAL])
def test_the_architecture_decides_the_kind(family: str) -> None:
    info = opened(family).backend.info
    masked = family in MASKED
    assert info.kind.code == ("masked_lm" if masked else "causal_lm")
    assert str(info.kind) == f"{'masked' if masked else 'causal'} language model"
    assert info.hub_task == ("fill-mask" if masked else "text-generation")
    assert info.for_danish


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
    assert backend.info.kind.code == "causal_lm"
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
    assert load_model(str(copy), LoadOptions(dtype="bfloat16")).fingerprint() != same
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
        backend = load_model(name, LoadOptions(dtype=dtype))
        answer: Any = backend.answer(backend.encode(requests))[0]
        found[dtype] = answer.log_likelihood
    assert load_model(name).info.dtype == "float32"
    assert load_model(name, LoadOptions(dtype="auto")).info.dtype == "float16"
    assert found["auto"] == found["float16"] != found["float32"]
    assert found["float16"] == pytest.approx(found["float32"], rel=1e-2)


SCRIPTED = """
from gendalens.models.control import Control
class Scripted(Control):
    label, prefix = 'scripted models', ''
    @classmethod
    def claims(cls, name, options): return name == 'scripted'
    @classmethod
    def load(cls, name, options): return cls('fair', 0.0)
BACKEND = Scripted
"""


def test_a_new_backend_is_one_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scripted.py").write_text(SCRIPTED)
    monkeypatch.setattr(models, "__path__", [*models.__path__, str(tmp_path)])
    # The others' complaint that this is no folder and not on the hub does not stand in its way.
    found = load_model("scripted", LoadOptions(offline=True))
    assert type(found).__name__ == "Scripted"
    sys.modules.pop("gendalens.models.scripted")


def test_a_configuration_is_read_once_whoever_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By backends in turn; and anew for the next model, whose files may have changed."""
    folder = str(shutil.copytree(opened("wordpiece cased").folder, tmp_path / "model"))
    seen: list[int] = []
    read = StoredCheckpoint.__dict__["config"].func

    def count(checkpoint: StoredCheckpoint) -> Any:
        seen.append(id(checkpoint))
        return read(checkpoint)

    monkeypatch.setattr(StoredCheckpoint.__dict__["config"], "func", count)
    for number in (1, 2):
        load_model(folder)
        assert len(seen) == number


def test_a_prefix_comes_before_everything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(opened("wordpiece cased").folder, tmp_path / "control:fair")
    assert load_model("control:fair") == Control("fair", 0.0)


def test_a_control_model_is_a_backend_whose_answers_are_planted() -> None:
    model = load_model("control:stereotyped?seed=3")
    assert model.planted
    assert model.answers == ANSWER_TYPES.keys()
    assert not model.cacheable
    assert (model.info.kind.code, str(model.info.kind)) == ("control", "control model")
    assert model.fingerprint() != load_model("control:stereotyped?seed=4").fingerprint()
    with pytest.raises(AssertionError, match="planted"):
        model.encode([Score("Hun sejler.")])


@pytest.mark.parametrize("name", demo.MODELS)
def test_demo_models_are_known_by_name(name: str) -> None:
    assert load_model(name).info.name == name


@pytest.mark.parametrize("name", ["", "  "])
def test_an_empty_name_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="The model's name is empty; give a hub name"):
        load_model(name)


def test_finding_the_backends_imports_neither_torch_nor_transformers() -> None:
    code = (
        "import sys; from gendalens.models import detect; detect.all_backends();"
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


def test_every_backend_has_a_label_or_a_prefix_of_its_own() -> None:
    found = detect.all_backends()
    assert {backend.prefix for backend in found} == {
        "",
        "chat:",
        "openai:",
        "control:",
        "lm-coref:",
    }
    names = [backend.prefix or backend.label for backend in found]
    assert len(set(names)) == len(names) == 8
    assert all(names)
