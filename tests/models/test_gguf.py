"""Models in one `.gguf` file."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import gguf
import pytest
import slow
import tiny
import transformers

from gendalens.errors import UserError
from gendalens.models.base import Score
from gendalens.models.detect import load_model

needs_accelerate = pytest.mark.skipif(
    importlib.util.find_spec("accelerate") is None,
    reason="transformers reads .gguf weights by accelerate, which is not installed",
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny Llama, written the way llama.cpp's converter writes one."""
    tokenizer = tiny.gpt2(specials=True)
    model = tiny.llama_model(tokenizer)
    config = model.config
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    writer: Any = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokenizer.convert_ids_to_tokens(range(len(tokenizer))))
    writer.add_token_types([3, 3] + [1] * (len(tokenizer) - 2))
    merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    writer.add_token_merges([" ".join(merge) for merge in merges])
    writer.add_bos_token_id(tokenizer.bos_token_id)
    writer.add_eos_token_id(tokenizer.eos_token_id)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        writer.add_tensor(names.get_name(name, (".weight",)), tensor.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_without_accelerate_a_gguf_file_is_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"need gguf: run `pip install 'gendalens\[hf\]'"):
        load_model(str(file))


@needs_accelerate
def test_a_gguf_file_is_a_causal_model_with_one_bos_in_front(file: Path) -> None:
    backend = load_model(str(file))
    assert (backend.info.kind, backend.info.dtype) == ("causal language model", "float32")
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


@needs_accelerate
def test_a_gguf_file_keeps_its_fingerprint_when_it_is_renamed(file: Path) -> None:
    other = file.with_name("other.gguf")
    other.write_bytes(file.read_bytes())
    assert load_model(str(file)).fingerprint() == load_model(str(other)).fingerprint()
