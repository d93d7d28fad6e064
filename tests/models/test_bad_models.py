"""What cannot be tested is refused with one sentence that says why and what to do."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny
import torch
import transformers
from families import opened

from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.detect import load_model
from gendalens.models.huggingface.libraries import import_transformers
from gendalens.models.huggingface.refusals import TOKENIZER, explain_error
from gendalens.models.requests import Fill, Score, Tag


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of a good masked model, to be spoilt."""
    return shutil.copytree(opened("wordpiece cased").folder, tmp_path / "model")


def refused(name: str | Path, **options: Any) -> str:
    """The sentence with which a model is refused, at the latest when it is asked something."""

    def ask() -> None:
        backend = load_model(str(name), LoadOptions(**options))
        backend.answer(backend.encode([Score("Hun sejler.")]))

    with pytest.raises(UserError) as caught:
        ask()
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert str(name) in sentence or Path(str(name)).name in sentence
    return sentence


def edit_config(folder: Path, **values: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    assert "does not exist" in refused(tmp_path / "nothing")
    assert "does not exist" in refused("./nothing.gguf")


def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    assert "no config.json" in refused(tmp_path)


@pytest.mark.parametrize("place", ["model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx"])
def test_a_model_for_onnx_is_not_said_to_be_incomplete(folder: Path, place: str) -> None:
    (folder / "model.safetensors").unlink()
    (folder / place).parent.mkdir(exist_ok=True)
    (folder / place).touch()
    for name in (folder, folder / place):
        assert "in the format of ONNX" in refused(name)
        assert "name the original PyTorch model" in refused(name)


@pytest.mark.parametrize("name", ["tf_model.h5", "flax_model.msgpack"])
def test_a_model_for_another_library_is_not_said_to_be_incomplete(folder: Path, name: str) -> None:
    (folder / "model.safetensors").rename(folder / name)
    assert f"({name}), which cannot be read" in refused(folder)


def test_a_model_for_onnx_on_the_hub_is_not_said_to_be_pickled(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    (folder / "model.safetensors").rename(folder / "model.onnx")
    place = tmp_path / "models--somebody--exported"
    shutil.copytree(folder, place / "snapshots" / ("a" * 40))
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text("a" * 40)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    assert "in the format of ONNX (model.onnx)" in refused("somebody/exported", offline=True)


@pytest.mark.parametrize("marks", ["config.json", "adapter_config.json"])
def test_a_model_in_a_subfolder_is_pointed_at(tmp_path: Path, marks: str) -> None:
    for step in (500, 1000):
        (tmp_path / "out" / f"checkpoint-{step}").mkdir(parents=True)
        (tmp_path / "out" / f"checkpoint-{step}" / marks).touch()
    (tmp_path / "out" / "runs").mkdir()
    sentence = refused(tmp_path / "out")
    assert sentence.endswith(
        f"is no model itself, but checkpoint-1000 in it is one: name {tmp_path}/out/checkpoint-1000."
    )


def test_a_gguf_file_in_a_folder_is_pointed_at(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").touch()
    assert "but model.gguf in it is one" in refused(tmp_path)


def test_the_home_of_nobody() -> None:
    assert "cannot be opened (Could not determine home" in refused("~nosuchuser/model")


@pytest.mark.parametrize("name", ["a" * 300, f"/{'a' * 300}/model"])
def test_a_name_that_is_too_long_for_a_path(name: str) -> None:
    assert name in refused(name, offline=True)


def test_a_folder_that_may_not_be_entered(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbid(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", forbid)
    assert "cannot be opened (Permission denied)" in refused("/forbidden/model")


def test_weights_that_may_not_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbid(file: Path, most: int) -> Any:
        if file.suffix == ".safetensors":
            raise PermissionError(13, "Permission denied", str(file))
        return file.open("rb")

    backend = load_model(str(folder))
    monkeypatch.setattr("gendalens.models.huggingface.model_files.open_ordinary", forbid)
    with pytest.raises(UserError, match=r"\(model\.safetensors: Permission denied\): check that"):
        backend.fingerprint()


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("hej")
    assert "name a folder or a .gguf file" in refused(file)


def test_a_name_that_is_not_in_the_cache_while_offline() -> None:
    assert "nor in the cache" in refused("nobody/no-such-model", offline=True)


def test_a_name_that_the_hub_could_not_have() -> None:
    assert "neither a local folder nor" in refused("no such model", offline=True)


def test_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def no_answer(*_args: Any, **_options: Any) -> None:
        raise ConnectionError("Name or service not known")

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", no_answer)
    assert "the hub does not answer" in refused("nobody/no-such-model")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("GatedRepoError", "is gated"),
        ("RepositoryNotFoundError", "neither a local folder nor a public model"),
        ("RevisionNotFoundError", "has no revision v9"),
    ],
)
def test_the_hubs_own_refusals(error: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    kind = getattr(huggingface_hub.errors, error)

    def refuse(*_args: Any, **_options: Any) -> None:
        raise kind.__new__(kind)  # without the HTTP response it is made from

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", refuse)
    assert words in refused("someone/model", revision="v9")


def test_a_cached_hub_model_works_without_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub's cache layout: refs/main names the commit, snapshots/<commit> holds the files."""
    import huggingface_hub

    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = tmp_path / "models--someone--tiny"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(commit)
    (repository / "blobs").mkdir()
    shutil.copytree(opened("wordpiece cased").folder, repository / "snapshots" / commit)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(transformers.utils.hub.constants, "HF_HUB_CACHE", str(tmp_path))
    backend = load_model("someone/tiny", LoadOptions(offline=True))
    assert (backend.info.name, backend.info.revision) == ("someone/tiny", commit)
    local = opened("wordpiece cased").backend
    requests = [Fill("Det er ", " båd.", ("hans", "hendes"))]
    assert backend.answer(backend.encode(requests)) == local.answer(local.encode(requests))


def test_a_broken_configuration(folder: Path) -> None:
    (folder / "config.json").write_text("{not json")
    assert "The configuration of" in refused(folder)


def test_an_unheard_of_kind_of_model(folder: Path) -> None:
    edit_config(folder, model_type="no-such-type")
    assert "cannot be read" in refused(folder)


def test_a_broken_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text('{"model": {}}')
    assert "The tokenizer of" in refused(folder)


def test_a_folder_without_tokenizer(folder: Path) -> None:
    for file in folder.glob("tokenizer*"):
        file.unlink()
    assert "tokenizer" in refused(folder)


def test_a_tokenizer_without_offsets(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.json").write_text('{"a</w>": 0, "<unk>": 1}')
    (folder / "merges.txt").write_text("#version: 0.2\n")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "CTRLTokenizer"}')
    assert "gives no character offsets" in refused(folder)


def test_a_masked_model_whose_tokenizer_has_no_mask(tmp_path: Path) -> None:
    tokenizer = tiny.wordpiece(mask=False)
    name = tiny.save(tmp_path / "maskless", tiny.bert_model(tokenizer), tokenizer)
    assert "has no mask token" in refused(name)


def test_a_tokenizer_of_another_model(folder: Path) -> None:
    tiny.byte_level().save_pretrained(folder)
    assert "does not belong to its weights" in refused(folder)


def test_large_weights_end_where_their_header_says(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sparse file could go on for terabytes, and its digest would take for ever."""
    digest = load_model(str(folder)).info.revision
    monkeypatch.setattr("gendalens.models.huggingface.model_files._LARGE", 0)
    assert load_model(str(folder)).info.revision == digest
    with (folder / "model.safetensors").open("ab") as file:
        file.write(b"\0")
    assert "cannot be read" in refused(folder)


def test_truncated_weights(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    assert "check that its files are complete" in refused(folder)


def test_weights_that_are_no_numbers(folder: Path) -> None:
    model = tiny.bert_model(opened("wordpiece cased").tokenizer)
    torch.nn.init.constant_(model.cls.predictions.bias, float("nan"))
    model.save_pretrained(folder)
    assert "not numbers" in refused(folder)


def test_weights_that_do_not_fit_the_configuration(folder: Path) -> None:
    edit_config(folder, intermediate_size=96)
    assert "do not fit its config.json" in refused(folder)


def test_a_folder_without_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    assert "has no weights" in refused(folder)


def test_pickled_weights(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert "convert them to safetensors" in refused(folder)
    assert "--allow-pickle" in refused(folder)


def test_pickled_weights_that_no_option_reads(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "model.pt")
    for path in (folder, folder / "model.pt"):
        assert "convert them to safetensors" in refused(path)
        assert "--allow-pickle" not in refused(path)


def test_a_local_model_has_no_revisions(folder: Path) -> None:
    with pytest.raises(UserError, match="is a local model, and only models on the hub"):
        load_model(str(folder), LoadOptions(revision="main"))


@pytest.mark.parametrize("device", ["foo", "cuda:x", "", "gpu"])
def test_a_device_that_there_is_none_of_is_told_before_anything_is_asked(
    folder: Path, device: str
) -> None:
    with pytest.raises(UserError, match="is not a device: choose cpu"):
        load_model(str(folder), LoadOptions(device=device))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a graphics card")
def test_a_device_that_is_not_here_is_told(folder: Path) -> None:
    with pytest.raises(UserError, match=r"The device cuda cannot be used .*: choose cpu"):
        load_model(str(folder), LoadOptions(device="cuda")).answer([])


def test_a_masked_model_without_its_head(folder: Path) -> None:
    transformers.BertModel.from_pretrained(folder).save_pretrained(folder)
    edit_config(folder, architectures=["BertForMaskedLM"])
    assert "no trained weights for cls.predictions" in refused(folder)


def test_an_electra_discriminator(tmp_path: Path) -> None:
    tokenizer = tiny.wordpiece()
    config = transformers.ElectraConfig(
        vocab_size=len(tokenizer),
        embedding_size=16,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
    )
    name = tiny.save(tmp_path / "electra", transformers.ElectraForPreTraining(config), tokenizer)
    assert "no trained weights for generator" in refused(name)


def test_a_bert_pretraining_checkpoint_is_welcome(tmp_path: Path) -> None:
    tokenizer = opened("wordpiece cased").tokenizer
    config = opened("wordpiece cased").model.config
    name = tiny.save(tmp_path / "bert", transformers.BertForPreTraining(config), tokenizer)
    backend = load_model(name)
    assert backend.info.kind.code == "masked_lm"
    assert backend.answer(backend.encode([Score("Hun sejler.")]))


@pytest.mark.parametrize(
    "architecture",
    ["BertForSequenceClassification", "BertForQuestionAnswering", "BertModel", "XLNetLMHead"],
)
def test_another_kind_of_model(folder: Path, architecture: str) -> None:
    edit_config(folder, architectures=[architecture])
    sentence = refused(folder)
    assert f"is a {architecture}" in sentence
    assert sentence.endswith(
        "which GenDa Lens cannot test: choose from spaCy pipelines (NER), causal language models,"
        " masked language models and token classifiers (NER)."
    )


def test_a_masked_model_that_calls_itself_a_token_classifier(folder: Path) -> None:
    """transformers would give it a random head."""
    edit_config(
        folder,
        architectures=["BertForTokenClassification"],
        id2label={"0": "O", "1": "B-PER"},
        label2id={"O": 0, "B-PER": 1},
    )
    backend = load_model(str(folder))
    encoded = backend.encode([Tag("Hun sejler.")])
    with pytest.raises(UserError, match="no trained weights for classifier"):
        backend.answer(encoded)


def test_a_model_that_does_not_say_what_it_is(folder: Path) -> None:
    edit_config(folder, architectures=None)
    assert "a bare bert model" in refused(folder)


def test_an_encoder_decoder_is_refused_with_the_reason(folder: Path) -> None:
    for kind in ("T5", "MT5", "Bart", "MBart"):
        architecture = f"{kind}ForConditionalGeneration"
        config = getattr(transformers, f"{kind}Config")(architectures=[architecture])
        config.save_pretrained(folder)
        assert f"is an encoder–decoder ({architecture}), which gives a sentence" in refused(folder)


def test_the_decoder_of_an_encoder_decoder_alone_is_a_causal_model(tmp_path: Path) -> None:
    """Saved by itself, BART's decoder predicts from left to right and reads nothing else."""
    tokenizer = tiny.byte_level()
    config = transformers.BartConfig(
        vocab_size=len(tokenizer),
        d_model=32,
        decoder_layers=1,
        decoder_attention_heads=2,
        decoder_ffn_dim=48,
        max_position_embeddings=64,
    )
    name = tiny.save(tmp_path / "bart", transformers.BartForCausalLM(config).eval(), tokenizer)
    backend = load_model(name)
    assert backend.info.kind.code == "causal_lm"
    assert backend.answer(backend.encode([Score("Hun sejler.")]))


def test_an_encoder_in_causal_clothing(folder: Path) -> None:
    """A BERT loads as a causal model with nothing missing, and then reads both sides."""
    edit_config(folder, architectures=["BertLMHeadModel"])
    assert "depend on later words" in refused(folder)


def test_a_model_that_was_refused_is_refused_again(folder: Path) -> None:
    """The tests of one command share a backend."""
    edit_config(folder, architectures=["BertLMHeadModel"])
    backend = load_model(str(folder))
    encoded = backend.encode([Score("Hun sejler.")])
    for _ in range(2):
        with pytest.raises(UserError, match="depend on later words"):
            backend.answer(encoded)


def test_a_model_that_brings_code(folder: Path) -> None:
    marker = folder / "has_run"
    (folder / "configuration_own.py").write_text(f"open({str(marker)!r}, 'w')")
    edit_config(folder, model_type="own", auto_map={"AutoConfig": "configuration_own.OwnConfig"})
    assert "--trust-remote-code" in refused(folder)
    assert not marker.exists()


@pytest.fixture
def accelerated(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if accelerate were installed: a broken file is refused before it is needed."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)


@pytest.mark.usefixtures("accelerated")
@pytest.mark.parametrize("content", [b"", b"GGUF", b"no gguf at all" * 100])
def test_a_broken_gguf_file(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(content)
    assert "cannot be read as a .gguf language model" in refused(file)


@pytest.mark.usefixtures("accelerated")
def test_an_unsupported_gguf_architecture(tmp_path: Path) -> None:
    import gguf
    import numpy

    file = tmp_path / "model.gguf"
    writer = gguf.GGUFWriter(file, "wavtokenizer-dec")
    writer.add_block_count(1)
    writer.add_embedding_length(8)
    writer.add_tensor("blk.0.attn_q.weight", numpy.zeros((8, 8), numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    assert "wavtokenizer-dec is not supported" in refused(file)


def test_a_text_longer_than_the_window() -> None:
    for family in ("wordpiece cased", "byte-level", "gpt2"):
        backend = opened(family).backend
        assert backend.window == 64
        with pytest.raises(UserError, match=r"A text of \d+ tokens does not fit"):
            backend.encode([Score("og " * 80)])


@pytest.mark.parametrize("family", ["wordpiece cased", "byte-level", "gpt2"])
def test_a_text_as_long_as_the_window_is_read(family: str) -> None:
    backend = opened(family).backend
    words = 64 - 2 * backend.specials
    (encoded,) = backend.encode([Score(" ".join(["og"] * (words - 1)) + ".")])
    assert encoded.length in (63, 64)
    assert backend.answer([encoded])[0].tokens in (words, words + 1)


def test_a_candidate_the_tokenizer_cannot_write() -> None:
    for family in ("wordpiece cased", "llama"):
        with pytest.raises(UserError, match="cannot represent “Ж”"):
            opened(family).backend.encode([Fill("Det er ", " båd.", ("hans", "Ж"))])


def test_a_gap_inside_a_token() -> None:
    with pytest.raises(UserError, match="no token that starts at the gap"):
        opened("wordpiece cased").backend.encode([Fill("Det er hende", " båd.", ("s",))])


def test_an_unknown_number_format(folder: Path) -> None:
    with pytest.raises(UserError, match="int4 is not a number format: choose one of float32"):
        load_model(str(folder), LoadOptions(dtype="int4"))


def test_a_torch_that_cannot_be_loaded_is_not_said_to_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('failed to map segment', name='_C')")
    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match=r"cannot be loaded \(failed to map segment\)") as caught:
        import_transformers()
    assert "pip install" not in str(caught.value)


@pytest.mark.parametrize("name", ["RLIMIT_DATA", "RLIMIT_AS"])
def test_a_memory_limit_that_no_model_fits_under_is_told_before_torch_is_imported(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = pytest.importorskip("resource")
    limits = {getattr(resource, name): (200 * 1024**2,) * 2}
    unlimited = (resource.RLIM_INFINITY,) * 2
    monkeypatch.setattr(resource, "getrlimit", lambda which: limits.get(which, unlimited))
    with pytest.raises(UserError, match=r"may use 200 MiB .* raise the limit"):
        import_transformers()


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_a_missing_package(folder: Path, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UserError, match='pip install "'):
        load_model(str(folder))


def test_the_error_of_a_file_is_one_line(make: Callable[[str], UserError]) -> None:
    assert "\n" not in str(make("first line\nsecond line"))


@pytest.fixture
def make() -> Callable[[str], UserError]:
    return lambda text: explain_error(ValueError(text), TOKENIZER, "m", revision=None, gguf=False)
