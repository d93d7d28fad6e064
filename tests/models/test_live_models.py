"""Models of transformers in memory: the numbers of a folder, and nothing left behind."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import architectures
import pytest
import taggers
import tiny
import torch
import transformers
from asking import answer_all
from small_data import small_data

import gendalens
from gendalens.errors import UserError
from gendalens.models.detect import load_model
from gendalens.models.huggingface.live_checkpoint import LiveCheckpoint
from gendalens.models.objects.choice import as_backend
from gendalens.models.objects.given import Given, list_models
from gendalens.models.requests import Answer, Fill, FillAnswer, Score, ScoreAnswer, Tag

FILLS = [Fill("Så så ", " solen stå op.", ("han", "hun")), Fill("Det er ", " båd.", ("hans",))]
SCORES = [Score(sentence) for sentence in tiny.SENTENCES]
TAGS = [Tag(sentence) for sentence in tiny.SENTENCES]


def masked() -> tuple[Any, Any]:
    tokenizer = tiny.wordpiece()
    return tiny.bert_model(tokenizer), tokenizer


def causal() -> tuple[Any, Any]:
    tokenizer = tiny.gemma()
    return tiny.llama_model(tokenizer), tokenizer


def tagger(folder: Path) -> tuple[Any, Any]:
    taggers.save(folder, tiny.wordpiece(), "bert", taggers.IOB)
    model = transformers.AutoModelForTokenClassification.from_pretrained(folder)
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def with_adapter(model: Any, **options: Any) -> Any:
    """A LoRA whose weights are random, so that it changes the answers."""
    peft = pytest.importorskip("peft", reason="peft is not installed")
    config = peft.LoraConfig(init_lora_weights=False, **options)
    torch.manual_seed(3)
    return peft.get_peft_model(model, config)


def ask(model: Any, *, tags: bool = False) -> dict[Any, Answer]:
    backend = load_model(model) if isinstance(model, str) else as_backend(model)
    found = answer_all(backend, TAGS if tags else [*FILLS, *SCORES])
    backend.close()
    return found


def assert_same(
    ones: dict[Any, Answer], others: dict[Any, Answer], tolerance: float = 1e-6
) -> None:
    for request, one in ones.items():
        other = others[request]
        if isinstance(one, FillAnswer) and isinstance(other, FillAnswer):
            assert one.log_probs == pytest.approx(other.log_probs, abs=tolerance)
            assert (one.pieces, one.first) == (other.pieces, other.first)
        elif isinstance(one, ScoreAnswer) and isinstance(other, ScoreAnswer):
            assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=tolerance)
            assert one.tokens == other.tokens
        else:
            assert one == other


@pytest.mark.parametrize("make", [masked, causal])
def test_an_object_answers_like_its_folder(make: Callable[[], Any], tmp_path: Path) -> None:
    model, tokenizer = make()
    folder = tiny.save(tmp_path / "model", model, tokenizer)
    assert_same(ask(folder), ask(Given(model, tokenizer)))


def test_a_token_classifier_answers_like_its_folder(tmp_path: Path) -> None:
    model, tokenizer = tagger(tmp_path / "model")
    by_folder, by_object = (
        ask(str(tmp_path / "model"), tags=True),
        ask(Given(model, tokenizer), tags=True),
    )
    assert by_folder == by_object
    assert any(answer.entities for answer in by_object.values())  # type: ignore[union-attr]


def test_a_run_gives_the_same_figures_by_path_and_by_object(tmp_path: Path) -> None:
    model, tokenizer = masked()
    folder = tiny.save(tmp_path / "model", model, tokenizer)
    options: dict[str, Any] = {"data": small_data(tmp_path), "tasks": ["lm-abc", "lm-dawinobias"]}
    by_path = gendalens.run(folder, **options)
    for given in ((model, tokenizer), [(model, tokenizer)], {"mine": (model, tokenizer)}):
        for one, other in zip(by_path, gendalens.run(given, **options), strict=True):
            assert one.gap.value == pytest.approx(other.gap.value, abs=1e-6)
            assert one.gender_effect_size.value == pytest.approx(
                other.gender_effect_size.value, abs=1e-6
            )


def test_a_model_in_training_is_asked_without_dropout() -> None:
    model, tokenizer = masked()
    still = ask(Given(model, tokenizer))
    assert_same(still, ask(Given(model.train(), tokenizer)))


@pytest.mark.parametrize("kind", ["compiled", "parallel"])
def test_a_wrapped_model_is_the_model_inside(kind: str) -> None:
    model, tokenizer = causal()
    wrapped = (
        torch.compile(model, backend="eager")
        if kind == "compiled"
        else torch.nn.DataParallel(model)
    )
    checkpoint = LiveCheckpoint(wrapped, tokenizer)
    assert checkpoint.model is model
    assert checkpoint.content == LiveCheckpoint(model, tokenizer).content
    assert list_models((wrapped, tokenizer))[0].model is wrapped  # type: ignore[union-attr]


def test_a_distributed_model_is_the_model_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = causal()
    parallel = object.__new__(torch.nn.parallel.DistributedDataParallel)
    torch.nn.Module.__init__(parallel)
    parallel.module = model
    assert LiveCheckpoint(parallel, tokenizer).model is model


def test_compiled_code_is_not_used_and_kept() -> None:
    model, tokenizer = masked()
    plain = ask(Given(model, tokenizer))
    model.compile(backend=lambda graph, inputs: pytest.fail("compiled"))
    compiled = model._compiled_call_impl
    assert_same(plain, ask(Given(model, tokenizer)))
    assert model._compiled_call_impl is compiled


def test_mixed_precision_of_a_trainer_is_left_out_and_kept() -> None:
    accelerate = pytest.importorskip("accelerate")
    accelerate.state.AcceleratorState._reset_state()  # other tests may have started one
    model, tokenizer = masked()
    plain = ask(Given(model, tokenizer))
    prepared = accelerate.Accelerator(mixed_precision="bf16", cpu=True).prepare_model(model)
    forward = vars(prepared)["forward"]
    assert_same(plain, ask(Given(prepared, tokenizer)))
    assert vars(prepared)["forward"] is forward
    accelerate.state.AcceleratorState._reset_state()


@pytest.mark.parametrize("kind", ["masked", "causal", "tagger"])
def test_adapters_in_memory_answer_as_they_would_merged(kind: str, tmp_path: Path) -> None:
    if kind == "tagger":
        model, tokenizer = tagger(tmp_path / "model")
        adapted = with_adapter(model, task_type="TOKEN_CLS", target_modules=["query"])
    elif kind == "masked":
        model, tokenizer = masked()
        adapted = with_adapter(model, target_modules=["query"])
    else:
        model, tokenizer = causal()
        adapted = with_adapter(model, task_type="CAUSAL_LM", target_modules=["q_proj", "lm_head"])
    tags = kind == "tagger"
    found = ask(Given(adapted, tokenizer), tags=tags)
    merged = ask(Given(adapted.merge_and_unload(), tokenizer), tags=tags)
    assert_same(found, merged, tolerance=1e-4)


def test_an_adapter_is_part_of_the_version() -> None:
    model, tokenizer = causal()
    plain = LiveCheckpoint(model, tokenizer).content
    adapted = with_adapter(model, task_type="CAUSAL_LM", target_modules=["q_proj"])
    on = LiveCheckpoint(adapted, tokenizer)
    assert on.architecture == "LlamaForCausalLM"
    assert on.content != plain
    with adapted.disable_adapter():
        off = LiveCheckpoint(adapted, tokenizer).content
    assert off != on.content
    adapted.base_model.model.model.layers[0].self_attn.q_proj.set_scale("default", 0.5)
    assert LiveCheckpoint(adapted, tokenizer).content not in (on.content, off)


class State:
    """Everything of a model and its surroundings that a run could change."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        parts = list(model.modules())
        self.flags = [part.training for part in parts]
        self.hooks = [
            (dict(part._forward_hooks), dict(part._forward_pre_hooks), dict(part._backward_hooks))
            for part in parts
        ]
        self.parts = parts
        self.attributes = [
            {name: value for name, value in vars(part).items() if not name.startswith("_")}
            for part in parts
        ]
        self.weights = {name: value.clone() for name, value in model.state_dict().items()}
        self.buffers = {name: value.clone() for name, value in model.named_buffers()}
        self.inference = [value.is_inference() for value in model.buffers()]
        self.trained = [one.requires_grad for one in model.parameters()]
        self.grads = [None if one.grad is None else one.grad.clone() for one in model.parameters()]
        self.config = model.config.to_dict()
        self.random = torch.get_rng_state()
        self.tokenizer = tokenizer.backend_tokenizer.to_str()
        self.threads = torch.get_num_threads()

    def assert_same(self, other: State) -> None:
        assert self.flags == other.flags
        assert self.hooks == other.hooks
        assert all(one is two for one, two in zip(self.parts, other.parts, strict=True))
        for one, two in zip(self.attributes, other.attributes, strict=True):
            assert one.keys() == two.keys()
            assert all(one[name] is two[name] for name in one)
        for name in self.weights:
            assert torch.equal(self.weights[name], other.weights[name])
        assert self.buffers.keys() == other.buffers.keys()
        for name in self.buffers:
            assert torch.equal(self.buffers[name], other.buffers[name])
        assert self.inference == other.inference
        assert self.trained == other.trained
        for mine, its in zip(self.grads, other.grads, strict=True):
            assert (mine is None) == (its is None)
            assert mine is None or its is None or torch.equal(mine, its)
        assert self.config == other.config
        assert torch.equal(self.random, other.random)
        assert self.tokenizer == other.tokenizer
        assert self.threads == other.threads


def architecture(name: str, folder: Path) -> tuple[Any, Any]:
    architectures.save(folder, name, "MaskedLM")
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder)
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def stretching() -> tuple[Any, Any]:
    """A model that changes its positions when it reads a text of more than eight tokens."""
    model, tokenizer = causal()
    model.config.rope_parameters = {
        "rope_type": "longrope",
        "rope_theta": 10000.0,
        "short_factor": [1.0] * 8,
        "long_factor": [4.0] * 8,
        "factor": 8.0,
        "original_max_position_embeddings": 8,
    }
    return transformers.LlamaForCausalLM(model.config), tokenizer


def big_bird() -> tuple[Any, Any]:
    """A model that replaces its own attention when it reads a short text."""
    tokenizer = tiny.wordpiece()
    config = transformers.BigBirdConfig(
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        attention_type="block_sparse",
        block_size=4,
        num_random_blocks=1,
        **architectures.SIZES,
    )
    return transformers.BigBirdForMaskedLM(config), tokenizer


MODELS: dict[str, Callable[[Path], tuple[Any, Any]]] = {
    "bert": lambda _: masked(),
    "llama": lambda _: causal(),
    "tagger": tagger,
    "reformer": lambda folder: architecture("reformer", folder),
    "funnel": lambda folder: architecture("funnel", folder),
    "stretched positions": lambda _: stretching(),
    "big bird": lambda _: big_bird(),
}


@pytest.fixture(params=MODELS)
def in_training(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Any, Any]]:
    """A model as it is in the middle of its training."""
    model, tokenizer = MODELS[request.param](tmp_path / "model")
    model.train()
    parts = list(model.children())[-1]
    parts.eval()  # one part frozen
    for weight in parts.parameters():
        weight.requires_grad_(False)
    for weight in model.parameters():
        if weight.requires_grad:
            weight.grad = torch.ones_like(weight)
    handle = model.register_forward_hook(lambda *_: None)
    tokenizer(["kort", "lidt længere tekst"], padding=True, truncation=True, max_length=8)
    torch.manual_seed(11)
    yield model, tokenizer
    handle.remove()


def test_a_run_leaves_the_model_as_it_was(in_training: tuple[Any, Any], tmp_path: Path) -> None:
    model, tokenizer = in_training
    before = State(model, tokenizer)
    options: dict[str, Any] = {"tasks": "lm-abc"}
    if "TokenClassification" in type(model).__name__:
        options = {"tasks": "ner-dane", "repeats": 1}
    gendalens.run(in_training, data="builtin", sample=6, **options)
    before.assert_same(State(model, tokenizer))


@pytest.mark.parametrize("error", [UserError("broken"), KeyboardInterrupt(), RuntimeError("no")])
def test_a_run_that_fails_or_is_stopped_leaves_the_model_as_it_was(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokenizer = masked()
    model.train()
    before = State(model, tokenizer)
    calls = []

    def fail(self: Any, item: Any, reading: Any) -> Any:
        calls.append(any(part._forward_pre_hooks for part in model.modules()))
        raise error

    monkeypatch.setattr("gendalens.models.huggingface.masked.MaskedLM._answer", fail)
    with pytest.raises((UserError, KeyboardInterrupt)):
        gendalens.run((model, tokenizer), data="builtin", tasks="lm-abc", sample=6)
    assert calls[0]  # it was in the middle of the run
    before.assert_same(State(model, tokenizer))


def test_the_cache_is_used_while_the_weights_stay_and_not_after_a_change(tmp_path: Path) -> None:
    model, tokenizer = masked()
    passes: list[int] = []
    model.register_forward_hook(lambda *_: passes.append(1))
    options: dict[str, Any] = {"data": small_data(tmp_path), "tasks": "lm-abc"}
    (first,) = gendalens.run((model, tokenizer), **options)
    assert passes
    passes.clear()
    (again,) = gendalens.run((model.train(), tokenizer), **options)
    assert not passes
    assert again.signature == first.signature
    with torch.no_grad():
        model.bert.encoder.layer[0].output.dense.bias[0] += 1e-3
    (changed,) = gendalens.run((model, tokenizer), **options)
    assert passes
    assert changed.model.revision != first.model.revision
    # Another tokenizer or another configuration makes another model.
    versions = {first.model.revision, changed.model.revision}
    model.config.layer_norm_eps *= 2
    versions.add(LiveCheckpoint(model, tokenizer).version)
    tokenizer.add_tokens(["nyt"])
    versions.add(LiveCheckpoint(model, tokenizer).version)
    assert len(versions) == 4


def test_the_version_does_not_depend_on_where_a_model_comes_from(tmp_path: Path) -> None:
    model, tokenizer = masked()
    built = LiveCheckpoint(model, tokenizer).content
    versions = set()
    for name in ("one", "two"):
        folder = tiny.save(tmp_path / name, model, tokenizer)
        loaded = transformers.AutoModelForMaskedLM.from_pretrained(folder)
        its_tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        if name == "two":  # every call leaves its settings in the tokenizer
            its_tokenizer("tekst", padding="max_length", truncation=True, max_length=12)
        checkpoint = LiveCheckpoint(loaded, its_tokenizer)
        assert checkpoint.name == name
        versions.add(checkpoint.content)
    assert len(versions) == 1
    # Saving a model writes into its configuration.
    assert built == LiveCheckpoint(model, tokenizer).content


def test_a_model_is_named_by_the_user_by_its_origin_or_by_its_class(tmp_path: Path) -> None:
    model, tokenizer = masked()
    assert LiveCheckpoint(model, tokenizer).name == "BertForMaskedLM"
    assert LiveCheckpoint(model, tokenizer, "mine").title == "mine"
    for origin, name in (
        ("owner/danish-bert", "owner/danish-bert"),
        ("/home/me/out/checkpoint-500", "checkpoint-500"),
        ("./out", "out"),
        (str(tmp_path), tmp_path.name),
    ):
        model.config._name_or_path = origin
        assert LiveCheckpoint(model, tokenizer).name == name


def test_smaller_formats_are_compared_with_a_copy_in_float32(tmp_path: Path) -> None:
    model, tokenizer = masked()
    before = State(model.bfloat16(), tokenizer)
    options: dict[str, Any] = {"data": small_data(tmp_path), "tasks": "lm-abc", "sample": 8}
    (result,) = gendalens.run((model, tokenizer), **options)
    assert result.model.dtype == "bfloat16"
    (effect,) = [one for one in result.warnings if one.code == "dtype_effect"]
    assert effect.values["changes"]
    before.assert_same(State(model, tokenizer))
    # The reference is the model that a folder would give in float32.
    backend: Any = as_backend(Given(model, tokenizer))
    backend.batching  # noqa: B018 - with the hooks of a run in place
    reference = answer_all(backend.exact, SCORES)
    backend.close()
    folder = tiny.save(tmp_path / "model", model, tokenizer)
    assert_same(reference, answer_all(load_model(folder), SCORES))


def other_model(head: str) -> Any:
    tokenizer = tiny.wordpiece()
    config = transformers.BertConfig(vocab_size=len(tokenizer), **architectures.SIZES)
    if head == "T5ForConditionalGeneration":
        config = transformers.T5Config(
            vocab_size=len(tokenizer), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2
        )
    return Given(getattr(transformers, head)(config), tokenizer)


@pytest.mark.parametrize(
    "head",
    [
        "BertForSequenceClassification",
        "BertModel",
        "BertForPreTraining",
        "T5ForConditionalGeneration",
    ],
)
def test_a_model_with_another_head_is_told_what_fits(head: str) -> None:
    with pytest.raises(UserError, match=rf"is a {head}, .* AutoModelForMaskedLM, .*Token"):
        as_backend(other_model(head))


def test_a_model_without_a_tokenizer_is_told_how_to_pass_one() -> None:
    model, tokenizer = masked()
    with pytest.raises(UserError, match=r"run\(\(model, tokenizer\)\) or run\(model, tokenizer="):
        gendalens.run(model)
    with pytest.raises(UserError, match="is a str, not a transformers tokenizer"):
        gendalens.run(model, tokenizer="bert-base")
    with pytest.raises(UserError, match="goes with one model that you have loaded"):
        gendalens.run([(model, tokenizer), model], tokenizer=tokenizer)
    with pytest.raises(UserError, match="goes with one model that you have loaded"):
        gendalens.run("control:fair", tokenizer=tokenizer)


def test_a_pair_is_one_model_and_a_list_of_pairs_several() -> None:
    pair = masked()
    assert [type(one) for one in list_models(pair)] == [Given]
    assert [type(one) for one in list_models(list(pair))] == [Given]
    several = list_models([pair, "control:fair", pair])
    assert [getattr(one, "tokenizer", None) for one in several] == [pair[1], None, pair[1]]
    named = list_models({"a": pair, "b": pair})
    assert [one.name for one in named if isinstance(one, Given)] == ["a", "b"]
    with pytest.raises(UserError, match="control:fair already has a name"):
        list_models({"mine": "control:fair"})


@pytest.mark.parametrize(
    "option",
    [{"device": "cpu"}, {"dtype": "bfloat16"}, {"revision": "main"}, {"allow_pickle": True}],
)
def test_options_for_loading_come_too_late_for_an_object(option: dict[str, Any]) -> None:
    (name,) = option
    with pytest.raises(
        UserError, match=rf"BertForMaskedLM is already loaded, so {name} has no eff"
    ):
        gendalens.run(masked(), **option)


def test_a_model_without_weights_in_memory_is_refused() -> None:
    model, tokenizer = masked()
    with pytest.raises(UserError, match=r"weights of BertForMaskedLM are not in memory \(bert\."):
        as_backend(Given(model.to("meta"), tokenizer))


def test_the_tokenizer_of_a_larger_model_is_refused_before_the_run() -> None:
    model, _ = masked()
    other = tiny.byte_level()
    with pytest.raises(
        UserError, match=r"belongs to another model \(it has [34]\d\d tokens, and Bert"
    ):
        as_backend(Given(model, other))


def test_tokens_that_the_user_added_are_no_tokens_of_another_model() -> None:
    model, tokenizer = masked()
    tokenizer.add_special_tokens({"pad_token": "[ANOTHER]"})
    assert len(tokenizer) > model.config.vocab_size
    ask(Given(model, tokenizer))


def test_a_slow_tokenizer_is_refused_as_in_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = masked()
    monkeypatch.setattr(type(tokenizer), "is_fast", False)
    with pytest.raises(UserError, match="gives no character offsets"):
        as_backend(Given(model, tokenizer))


def test_a_model_that_fails_is_named() -> None:
    model, tokenizer = masked()
    model.bert.embeddings.position_embeddings = torch.nn.Embedding(2, 32)
    with pytest.raises(UserError, match=r"^BertForMaskedLM cannot answer .*belong together"):
        ask(Given(model, tokenizer))


def test_telling_objects_apart_imports_neither_torch_nor_transformers() -> None:
    code = (
        "import sys, gendalens\n"
        "try: gendalens.run([object(), lambda texts: []])\n"
        "except gendalens.UserError: pass\n"
        "print(sorted({'torch', 'transformers', 'spacy', 'peft'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"
