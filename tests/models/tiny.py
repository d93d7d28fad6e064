"""Tiny models with random weights and tokenizers of every family, made on the spot.

The training sentences were written for these tests and come from no data set.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from tokenizers import models as cutters

# Models this small only lose by threads, a great deal on a busy machine.
torch.set_num_threads(1)

SENTENCES = [
    "Hun købte et rødt æble på torvet, og han spiste det straks.",
    "Gartneren vandede sine roser, før hun gik hjem til sin søn.",
    "Han læste en bog om øer og åer, mens hendes kat sov.",
    "Smeden gav hende sin hammer, fordi ham selv var for træt.",
    "Bageren sagde til fiskeren, at hans brød var færdigt!",
    "Kan hun se, om hendes nøgler ligger i huset?",
    "Læreren mødte ham ved åen, og de talte om vejret.",
    "Det er hans båd, men hun sejler den hver dag.",
    "Hende har jeg ikke set, siden hun flyttede til Århus.",
    "Hans søster og hendes bror bor i et lille hus.",
]
PRONOUNS = ("han", "hun", "hans", "hendes", "ham", "hende")


def wordpiece(
    *, lowercase: bool = False, size: int = 300, specials: str = "bert", mask: bool = True
) -> Any:
    """A BERT tokenizer; a small ``size`` leaves little but letters."""
    tokenizer = Tokenizer(cutters.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[unused1]"] + ["[MASK]"] * mask
    _train(tokenizer, trainers.WordPieceTrainer(vocab_size=size, special_tokens=names))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        **({"mask_token": "[MASK]"} if mask else {}),
    )


def unigram(*, lstrip: bool, size: int = 160) -> Any:
    """An XLM-R type tokenizer; ``lstrip`` says whether its mask swallows the space before it."""
    tokenizer = Tokenizer(cutters.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    names = ["<s>", "<pad>", "</s>", "<unk>"]
    _train(
        tokenizer,
        trainers.UnigramTrainer(
            vocab_size=size, special_tokens=names, unk_token="<unk>", show_progress=False
        ),
    )
    return _roberta(tokenizer, lstrip)


def byte_level(*, lstrip: bool = True, size: int = 400) -> Any:
    """A RoBERTa tokenizer."""
    tokenizer = Tokenizer(cutters.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    _train(
        tokenizer,
        trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return _roberta(tokenizer, lstrip)


def gpt2(*, specials: bool, size: int = 400) -> Any:
    """A GPT-2 tokenizer, with BOS and EOS or with no special token at all."""
    tokenizer = Tokenizer(cutters.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    _train(
        tokenizer,
        trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=["<|start|>", "<|end|>"] if specials else [],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    named = {"bos_token": "<|start|>", "eos_token": "<|end|>"} if specials else {}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named)


def gemma(*, adds_bos: bool = True, size: int = 250) -> Any:
    """A Gemma type tokenizer: ▁ for spaces and nothing that splits at them, so word_ids() is all 0."""
    tokenizer = Tokenizer(cutters.BPE(unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("▁"), "merged_with_next")
    tokenizer.decoder = decoders.Replace("▁", " ")
    names = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
    _train(
        tokenizer,
        trainers.BpeTrainer(vocab_size=size, special_tokens=names, show_progress=False),
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    if adds_bos:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<bos> $A", special_tokens=[("<bos>", tokenizer.token_to_id("<bos>"))]
        )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<bos>",
        eos_token="<eos>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        padding_side="left",
    )


def bert_model(tokenizer: Any, *, window: int = 64, **options: Any) -> Any:
    return _random(
        transformers.BertForMaskedLM,
        transformers.BertConfig(
            vocab_size=len(tokenizer), max_position_embeddings=window, **_SIZES, **options
        ),
    )


def roberta_model(tokenizer: Any, *, window: int = 64) -> Any:
    return _random(
        transformers.RobertaForMaskedLM,
        transformers.RobertaConfig(
            vocab_size=len(tokenizer),
            max_position_embeddings=window + 2,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            **_SIZES,
        ),
    )


def mobilebert_model(tokenizer: Any) -> Any:
    return _random(
        transformers.MobileBertForMaskedLM,
        transformers.MobileBertConfig(
            vocab_size=len(tokenizer),
            embedding_size=16,
            intra_bottleneck_size=16,
            num_feedforward_networks=1,
            max_position_embeddings=64,
            **_SIZES,
        ),
    )


def gpt2_model(tokenizer: Any, *, window: int = 64) -> Any:
    return _random(
        transformers.GPT2LMHeadModel,
        transformers.GPT2Config(
            vocab_size=len(tokenizer),
            n_positions=window,
            n_embd=32,
            n_layer=2,
            n_head=2,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            initializer_range=0.3,
        ),
    )


def gpt_neo_model(tokenizer: Any) -> Any:
    """Every other layer sees sixteen tokens back."""
    return _random(
        transformers.GPTNeoForCausalLM,
        transformers.GPTNeoConfig(
            vocab_size=len(tokenizer),
            max_position_embeddings=64,
            hidden_size=32,
            num_layers=2,
            attention_types=[[["global", "local"], 1]],
            num_heads=2,
            window_size=16,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            initializer_range=0.3,
        ),
    )


def llama_model(tokenizer: Any, **sizes: int) -> Any:
    return _random(
        transformers.LlamaForCausalLM,
        transformers.LlamaConfig(
            vocab_size=len(tokenizer),
            max_position_embeddings=64,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            **_SIZES | sizes,
        ),
    )


def gemma_model(tokenizer: Any) -> Any:
    """A multimodal Gemma 3: architecture …ForConditionalGeneration, and yet a causal language model."""
    text = {
        "vocab_size": len(tokenizer),
        "head_dim": 16,
        "num_key_value_heads": 1,
        "max_position_embeddings": 64,
        "sliding_window": 16,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        **_SIZES,
    }
    vision = {**_SIZES, "image_size": 28, "patch_size": 14}
    config = transformers.Gemma3Config(
        text_config=text, vision_config=vision, mm_tokens_per_image=4, image_token_id=3
    )
    return _random(transformers.Gemma3ForConditionalGeneration, config)


def save(folder: Path, model: Any, tokenizer: Any) -> str:
    """The folder with model and tokenizer in it, as a name for load_model."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def save_gguf(path: Path, model: Any, tokenizer: Any, *, kind: Any = None) -> str:
    """A Llama in one file, as llama.cpp's converter writes it; matrices in a number format ``kind``."""
    import gguf

    config = model.config
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
        values, raw = tensor.numpy(), None
        if kind is not None and values.ndim == 2:
            values, raw = gguf.quantize(values, kind), kind
        writer.add_tensor(names.get_name(name, (".weight",)), values, raw_dtype=raw)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return str(path)


_SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "initializer_range": 0.3,
}


def _train(tokenizer: Any, trainer: Any) -> None:
    tokenizer.train_from_iterator(SENTENCES, trainer)


def _roberta(tokenizer: Any, lstrip: bool) -> Any:
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=lstrip, special=True)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("<s>", "</s>")],
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token=AddedToken("<mask>", lstrip=lstrip, special=True),
    )


def _random(model: Any, config: Any) -> Any:
    torch.manual_seed(0)
    return model(config).eval()
