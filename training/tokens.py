"""A tokenizer of whole words that spells unknown words in letters."""

from __future__ import annotations

import string
from collections.abc import Iterable
from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_LETTERS = string.ascii_letters + string.digits + "æøåÆØÅéÉüÜöÖäÄáíóúñçèôâêë"


def word_tokenizer(texts: Iterable[str], *, lowercase: bool, pieces: Iterable[str] = ()) -> Any:
    """A WordPiece tokenizer with every word of ``texts``, the ``pieces`` and single letters."""
    normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=False)
    splitter = pre_tokenizers.BertPreTokenizer()
    words = {
        word
        for text in texts
        for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text))
    }
    letters = set(_LETTERS.lower() if lowercase else _LETTERS)
    vocabulary = [*SPECIAL, *sorted({*letters, *(f"##{x}" for x in letters), *words, *pieces})]
    tokenizer = Tokenizer(
        models.WordPiece(
            {token: number for number, token in enumerate(vocabulary)}, unk_token="[UNK]"
        )
    )
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = splitter
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )
