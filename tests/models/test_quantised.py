"""Quantised models run where their packages are installed, and say what they are."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import quantised
import tiny
import torch
from asking import answer_all

from gendalens.engine.dtype_check import describe_dtype_effect
from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.detect import load_model
from gendalens.models.huggingface import quantisation
from gendalens.models.huggingface.quantisation import Quantisation
from gendalens.models.requests import Fill, Request, Score

REQUESTS: list[Request] = [
    *(Score(sentence) for sentence in tiny.SENTENCES),
    Fill("Det er ", " båd.", ("hans", "hendes")),
]


def needs(package: str) -> pytest.MarkDecorator:
    """A test that only runs where a package is installed."""
    absent = importlib.util.find_spec(package) is None
    return pytest.mark.skipif(absent, reason=f"{package} is not installed")


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of the model before quantising."""
    return quantised.save_full(tmp_path_factory.mktemp("full") / "full")


def refused(folder: Path, **options: Any) -> str:
    def ask() -> None:
        backend = load_model(str(folder), LoadOptions(**options))
        backend.answer(backend.encode(REQUESTS[:1]))

    with pytest.raises(UserError) as caught:
        ask()
    sentence = str(caught.value)
    assert "complete" not in sentence
    return sentence


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "`pip install bitsandbytes`"),
        ({"load_in_8bit": True}, "`pip install bitsandbytes`"),
        ({"quant_method": "gptq", "bits": 4}, "`pip install optimum gptqmodel`"),
        ({"quant_method": "awq", "bits": 4}, "`pip install gptqmodel`"),
        ({"quant_method": "compressed-tensors"}, "`pip install compressed-tensors`"),
        ({"quant_method": "torchao", "quant_type": "int8"}, "`pip install torchao`"),
    ],
)
def test_a_missing_package_is_named_and_nothing_said_about_incomplete_files(
    full: str,
    settings: dict[str, Any],
    advice: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = shutil.copytree(full, tmp_path / "model")
    quantised.describe(folder, **settings)
    monkeypatch.setattr(quantisation, "_is_installed", lambda _: False)
    assert refused(folder).endswith(f": run {advice}.")


def test_a_way_of_quantising_that_is_unknown_is_not_ignored(full: str, tmp_path: Path) -> None:
    folder = shutil.copytree(full, tmp_path / "model")
    quantised.describe(folder, quant_method="folding")
    assert "does not know (folding): test the model they were made from" in refused(folder)


def test_a_format_that_this_machine_cannot_run_is_told(full: str, tmp_path: Path) -> None:
    folder = shutil.copytree(full, tmp_path / "model")
    quantised.describe(folder, quant_method="higgs", bits=4)
    assert "are quantised (higgs-4bit) and cannot be run here (" in refused(folder)


@pytest.mark.parametrize(
    ("settings", "title"),
    [
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "bitsandbytes-4bit"),
        ({"load_in_8bit": True}, "bitsandbytes-8bit"),
        ({"quant_method": "gptq", "bits": 3}, "gptq-3bit"),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 4}}},
            },
            "compressed-tensors-4bit",
        ),
        ({"quant_method": "fp8"}, "fp8"),
    ],
)
def test_a_title_says_how_weights_are_stored(settings: dict[str, Any], title: str) -> None:
    assert Quantisation(settings).title == title


def test_quantised_weights_are_read_as_what_they_stand_for(full: str, tmp_path: Path) -> None:
    """8-bit floats, which transformers reads by itself: against the same weights written in float32."""
    from safetensors.torch import save_file

    meant = quantised.save_fp8(tmp_path / "small", full)
    plain = shutil.copytree(full, tmp_path / "plain")
    save_file(meant, plain / "model.safetensors", {"format": "pt"})
    backend = load_model(str(tmp_path / "small"))
    assert backend.info.dtype == "fp8/float32"
    found, expected = answer_all(backend, REQUESTS), answer_all(load_model(str(plain)), REQUESTS)
    before = answer_all(load_model(full), REQUESTS)
    for request in REQUESTS:
        assert get_scores(found[request]) == pytest.approx(get_scores(expected[request]), abs=1e-4)
        assert get_scores(found[request]) != pytest.approx(get_scores(before[request]), abs=1e-2)


def get_scores(answer: Any) -> tuple[float, ...]:
    return answer.log_probs if hasattr(answer, "log_probs") else (answer.log_likelihood,)


MAKERS: dict[str, Callable[[Path, str], str]] = {
    "bitsandbytes-4bit": lambda folder, full: quantised.save_bitsandbytes(folder, full, 4),
    "bitsandbytes-8bit": lambda folder, full: quantised.save_bitsandbytes(folder, full, 8),
    "compressed-tensors-8bit": lambda folder, full: quantised.save_compressed(
        folder, full, inputs=True
    ),
    "torchao": quantised.save_torchao,
}


@pytest.mark.filterwarnings("default")  # their packages warn about themselves
@pytest.mark.parametrize(
    "title",
    [
        pytest.param(title, marks=needs(title.rpartition("-")[0].replace("-", "_") or title))
        for title in MAKERS
    ],
)
def test_a_quantised_model_runs_and_its_effect_is_printed(
    title: str, full: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = MAKERS[title](tmp_path / "small", full)
    backend = load_model(folder)
    assert backend.info.dtype == f"{title}/float32"
    package = title.removesuffix("-4bit").removesuffix("-8bit")
    assert backend.info.software[-1].startswith(f"{package} ")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    assert (backend.workers, load_model(full).workers) == (1, 4)
    answers = answer_all(backend, REQUESTS)
    before = answer_all(load_model(full), REQUESTS)
    alone = [backend.answer(backend.encode([request]))[0] for request in REQUESTS]
    for request, answer in zip(REQUESTS, alone, strict=True):
        assert get_scores(answers[request]) == pytest.approx(get_scores(answer), abs=0.05)
        assert get_scores(answer) != pytest.approx(get_scores(before[request]), abs=1e-3)
        assert get_scores(answer) == pytest.approx(get_scores(before[request]), rel=0.5)
    said = str(describe_dtype_effect(backend, answers))
    if title == "torchao":
        assert said.endswith("the weights of small cannot be turned from torchao into float32.")
    else:
        assert f"quantised ({title}/float32): of {len(REQUESTS)} requests repeated with the" in said
        assert "scores moved by 0 bits" not in said
    maps = Path("/proc/self/maps")
    assert not maps.exists() or f"{folder}/" not in maps.read_text()


@needs("bitsandbytes")
@pytest.mark.filterwarnings("default")
def test_an_adapter_on_a_quantised_base_runs(full: str, tmp_path: Path) -> None:
    """As it was trained (QLoRA): the base stays in 4 bits, and the adapter does not."""
    import peft
    import transformers

    base = quantised.save_bitsandbytes(tmp_path / "small", full, 4)
    model = transformers.AutoModelForCausalLM.from_pretrained(base, device_map="cpu")
    torch.manual_seed(1)
    config = peft.LoraConfig(task_type="CAUSAL_LM", init_lora_weights=False)
    adapted = peft.get_peft_model(model, config).eval()
    adapted.save_pretrained(tmp_path / "adapter")
    backend: Any = load_model(str(tmp_path / "adapter"))
    assert backend.info.dtype == "bitsandbytes-4bit/float32"
    answers = answer_all(backend, REQUESTS)
    plain = answer_all(load_model(base), REQUESTS)
    assert get_scores(answers[REQUESTS[0]]) != pytest.approx(
        get_scores(plain[REQUESTS[0]]), abs=0.1
    )
    item: Any = backend.encode(REQUESTS[:1])[0]
    with torch.inference_mode():
        logits = adapted(torch.tensor([item.inputs[0]])).logits[0].log_softmax(-1)
    expected = sum(float(logits[at, token]) for _, at, token in item.asked)
    assert get_scores(answers[REQUESTS[0]])[0] == pytest.approx(expected, abs=0.5)
    assert "repeated with the same weights in float32" in str(
        describe_dtype_effect(backend, answers)
    )
