"""An adapter is tested together with the model it was trained on, and with that model alone."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import adapters
import peft
import pytest
import tiny
import torch
from adapters import Trained
from asking import answer_all

from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.detect import load_model
from gendalens.models.requests import Fill, Request, Score, Tag

SENTENCES = [*tiny.SENTENCES, "En bådsmand fra Ærøskøbing sejler hver dag."]
REQUESTS: list[Request] = [
    *(Score(sentence) for sentence in SENTENCES),
    Fill("Det er ", " båd.", ("hans", "hendes")),
    Fill("Gartneren fandt ", " hat.", ("sin", "hendes", "hans")),
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Trained]:
    """The adapter of a kind, trained once."""
    made: dict[str, Trained] = {}

    def train(kind: str, **options: Any) -> Trained:
        key = json.dumps([kind, options])
        if key not in made:
            made[key] = adapters.train(tmp_path_factory.mktemp(kind), kind, **options)
        return made[key]

    return train


@pytest.fixture
def copied(trained: Callable[..., Trained], tmp_path: Path) -> Path:
    """A copy of a causal adapter, to be spoilt."""
    return shutil.copytree(trained("causal").adapter, tmp_path / "adapter")


def edit(folder: Path, **values: Any) -> None:
    file = folder / "adapter_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


def answered(folder: Path) -> dict[Request, Any]:
    return answer_all(load_model(str(folder)), REQUESTS)


def refused(name: str | Path, **options: Any) -> str:
    def ask() -> None:
        backend = load_model(str(name), LoadOptions(**options))
        backend.answer(backend.encode(REQUESTS[:1]))

    with pytest.raises(UserError) as caught:
        ask()
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert Path(str(name)).name in sentence
    return sentence


def get_scores(answer: Any) -> tuple[float, ...]:
    return answer.log_probs if hasattr(answer, "log_probs") else (answer.log_likelihood,)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("causal", {}),
        ("causal", {"tokens": True}),
        ("causal", {"modules_to_save": ["lm_head"]}),
        ("causal", {"use_dora": True}),
        ("masked", {}),
        ("masked", {"tokens": True}),
    ],
    ids=str,
)
def test_an_adapter_answers_as_it_does_merged_with_its_base(
    trained: Callable[..., Trained], kind: str, options: dict[str, Any]
) -> None:
    """Merged by peft, to 1e-4 nats; and otherwise than the base without it."""
    found = trained(kind, **options)
    adapted, merged, base = map(answered, (found.adapter, found.merged, found.base))
    for request in REQUESTS:
        assert get_scores(adapted[request]) == pytest.approx(get_scores(merged[request]), abs=1e-4)
        assert get_scores(adapted[request]) != pytest.approx(get_scores(base[request]), abs=1e-2)


def test_a_token_classifier_as_an_adapter_tags_as_it_does_merged(
    trained: Callable[..., Trained],
) -> None:
    """Its base is a masked model; the classifier is in the adapter, and the labels lie beside it."""
    found = trained("tagger")
    adapted: Any = load_model(str(found.adapter))
    merged: Any = load_model(str(found.merged))
    assert adapted.info.kind.code == "token_classifier"
    assert adapted.labels == merged.labels == ("PER", "LOC", "ORG")
    requests: list[Request] = [Tag(sentence) for sentence in SENTENCES]
    assert answer_all(adapted, requests) == answer_all(merged, requests)
    rows = [row for item in adapted.encode(requests) for row in item.inputs]
    for row, scores in adapted._score_rows(rows).items():
        assert scores == pytest.approx(merged._score_rows([row])[row], abs=1e-4)


def test_an_adapter_that_names_no_task_is_told_by_the_class_it_was_trained_on(
    trained: Callable[..., Trained],
) -> None:
    """Its base is a masked model, and it is not."""
    found = trained("tagger", task_type=None, modules_to_save=["classifier"])
    assert load_model(str(found.base)).info.kind.code == "masked_lm"
    adapted = load_model(str(found.adapter))
    assert adapted.info.kind.code == "token_classifier"
    requests: list[Request] = [Tag(sentence) for sentence in SENTENCES]
    assert answer_all(adapted, requests) == answer_all(load_model(str(found.merged)), requests)


def test_a_token_classifier_without_labels_is_refused(
    trained: Callable[..., Trained], tmp_path: Path
) -> None:
    folder = shutil.copytree(trained("tagger").adapter, tmp_path / "adapter")
    (folder / "config.json").unlink()
    assert "does not say what its labels are" in refused(folder)


def test_tokens_that_an_adapter_adds_are_read_with_its_own_tokenizer(
    trained: Callable[..., Trained],
) -> None:
    found = trained("causal", tokens=True)
    (own,) = load_model(str(found.adapter)).encode([Score(" bådsmand")])
    (base,) = load_model(str(found.base)).encode([Score(" bådsmand")])
    assert own.length < base.length


def test_both_the_adapter_and_its_base_are_in_the_version_and_the_fingerprint(
    trained: Callable[..., Trained], copied: Path
) -> None:
    found = trained("causal")
    backend = load_model(str(copied))
    plain = load_model(str(found.base))
    own, _, base = backend.info.revision.partition("+")
    assert own.startswith("sha256:")
    assert base == f"base@{plain.info.revision}"
    assert backend.info.name == "adapter"
    assert backend.info.software[-1] == f"peft {peft.__version__}"
    prints = {backend.fingerprint(), plain.fingerprint()}
    other = shutil.copytree(found.base, copied / "other")
    edit(copied, base_model_name_or_path="other")
    prints.add(load_model(str(copied)).fingerprint())
    (other / "generation_config.json").write_text("{}")
    changed = load_model(str(copied))
    prints.add(changed.fingerprint())
    assert len(prints) == 4
    assert changed.info.revision.partition("+")[2].startswith("other@sha256:")
    assert changed.info.revision.partition("+")[2] != f"other@{plain.info.revision}"


@pytest.mark.parametrize("named", ["base", "./base", "../base"])
def test_a_base_is_found_beside_its_adapter(
    trained: Callable[..., Trained], copied: Path, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(trained("causal").base, copied / named)
    edit(copied, base_model_name_or_path=named)
    monkeypatch.chdir("/")
    assert load_model(str(copied)).info.revision.partition("+")[2].startswith("base@sha256:")


def test_an_adapter_on_the_hub_finds_its_base_there(
    trained: Callable[..., Trained], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    found = trained("causal")
    commits = {"small": ("a" * 40, found.base, "v1"), "tuned": ("b" * 40, found.adapter, "main")}
    for name, (commit, folder, branch) in commits.items():
        place = tmp_path / f"models--somebody--{name}"
        shutil.copytree(folder, place / "snapshots" / commit)
        (place / "refs").mkdir()
        (place / "refs" / branch).write_text(commit)
    edit(
        tmp_path / "models--somebody--tuned" / "snapshots" / ("b" * 40),
        base_model_name_or_path="somebody/small",
        revision="v1",
    )
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    backend = load_model("somebody/tuned", LoadOptions(offline=True))
    assert backend.info.revision == f"{'b' * 40}+somebody/small@{'a' * 40}"
    local = load_model(str(found.adapter))
    requests = REQUESTS[:2]
    assert backend.answer(backend.encode(requests)) == local.answer(local.encode(requests))


def test_an_adapter_on_the_hub_takes_no_base_from_this_machine(
    trained: Callable[..., Trained], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    place = tmp_path / "models--somebody--tuned"
    shutil.copytree(trained("causal").adapter, place / "snapshots" / ("b" * 40))
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text("b" * 40)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    assert "is not here" in refused("somebody/tuned", offline=True)


@pytest.mark.parametrize(
    ("base", "begin"),
    [
        ("/nowhere/base", "The base of the adapter {name} is not here (/nowhere/base): write"),
        (
            "somebody/nothing",
            "{name} is an adapter, and the model it was trained on cannot be used: somebody/nothing"
            " is neither a local folder nor in the cache",
        ),
        ("", "{name} is an adapter that does not name its base: write"),
        (None, "{name} is an adapter that does not name its base: write"),
    ],
)
def test_a_base_that_is_missing_is_told(copied: Path, base: Any, begin: str) -> None:
    edit(copied, base_model_name_or_path=base)
    assert refused(copied, offline=True).startswith(begin.format(name=copied))


def test_a_base_of_another_size_is_told(copied: Path, tmp_path: Path) -> None:
    tokenizer = tiny.gemma()
    other = tiny.llama_model(tokenizer, hidden_size=64)
    edit(copied, base_model_name_or_path=tiny.save(tmp_path / "large", other, tokenizer))
    assert "does not fit its base large" in refused(copied)


def test_a_base_of_another_architecture_is_told(copied: Path, tmp_path: Path) -> None:
    tokenizer = tiny.gpt2(specials=True)
    name = tiny.save(tmp_path / "gpt", tiny.gpt2_model(tokenizer), tokenizer)
    edit(copied, base_model_name_or_path=name)
    assert "does not fit its base gpt" in refused(copied)


def test_weights_that_are_not_all_there_are_told(copied: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(copied / "adapter_model.safetensors")
    weights.pop(next(iter(weights)))
    save_file(weights, copied / "adapter_model.safetensors")
    assert "does not fit its base" in refused(copied)


def test_without_peft_an_adapter_is_not_run_without_itself(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "peft" else find(name)
    )
    assert 'which needs peft: run `pip install "' in refused(copied)


@pytest.mark.parametrize("installed", [True, False])
def test_a_full_model_with_an_adapter_beside_it_is_refused(
    trained: Callable[..., Trained],
    copied: Path,
    installed: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It used to run without the adapter where peft was not installed."""
    find = importlib.util.find_spec
    if not installed:
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name: None if name == "peft" else find(name)
        )
    shutil.copytree(trained("causal").base, copied, dirs_exist_ok=True)
    assert "holds a full model and an adapter" in refused(copied)


def test_an_adapter_on_an_adapter_is_refused(trained: Callable[..., Trained], copied: Path) -> None:
    edit(copied, base_model_name_or_path=str(trained("causal").adapter))
    assert "is an adapter itself: merge the two" in refused(copied)


def test_pickled_weights_are_read_only_if_they_are_allowed(
    trained: Callable[..., Trained], copied: Path
) -> None:
    from safetensors.torch import load_file

    weights = copied / "adapter_model.safetensors"
    torch.save(load_file(weights), copied / "adapter_model.bin")
    weights.unlink()
    assert "--allow-pickle" in refused(copied)
    backend = load_model(str(copied), LoadOptions(allow_pickle=True))
    safe = load_model(str(trained("causal").adapter))
    requests = REQUESTS[:2]
    assert backend.answer(backend.encode(requests)) == safe.answer(safe.encode(requests))


def test_an_adapter_without_weights_is_told(copied: Path) -> None:
    (copied / "adapter_model.safetensors").unlink()
    assert "adapter without weights (no adapter_model.safetensors)" in refused(copied)


@pytest.mark.parametrize("content", ["{not json", "[]"])
def test_settings_that_cannot_be_read_are_told(copied: Path, content: str) -> None:
    (copied / "adapter_config.json").write_text(content)
    assert "The adapter_config.json of" in refused(copied)


def test_a_setting_of_a_newer_peft_is_told(copied: Path) -> None:
    """peft would leave it out, and the adapter would be another one."""
    edit(copied, halves_everything=True)
    assert "does not know (halves_everything): install a newer peft" in refused(copied)


def test_a_prompt_is_not_taken_for_weights(trained: Callable[..., Trained], tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    base = AutoModelForCausalLM.from_pretrained(trained("causal").base)
    config = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3)
    peft.get_peft_model(base, config).save_pretrained(tmp_path / "prompt")
    assert "of a kind (PROMPT_TUNING)" in refused(tmp_path / "prompt")


def test_an_adapter_for_another_task_is_refused(copied: Path) -> None:
    edit(copied, task_type="SEQ_CLS")
    assert "is a LlamaForSequenceClassification, which GenDa Lens cannot test" in refused(copied)


def test_no_module_that_an_adapter_names_is_imported(
    copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "named_by_adapter.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    edit(
        copied,
        task_type=None,
        auto_mapping={
            "base_model_class": "LlamaForCausalLM",
            "parent_library": "named_by_adapter",
        },
        megatron_core="named_by_adapter",
    )
    backend = load_model(str(copied))
    assert backend.answer(backend.encode(REQUESTS[:1]))
    assert "named_by_adapter" not in sys.modules
