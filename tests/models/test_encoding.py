"""Words are found by character offsets, whatever the tokenizer does with spaces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import slow
import tiny
import transformers
from families import CAUSAL, MASKED, opened

from gendalens.models.base import LoadOptions
from gendalens.models.huggingface.encoding import SPECIAL, tokenise
from gendalens.models.huggingface.stored_checkpoint import StoredCheckpoint

TEXT = "Han så, at hendes nøgler lå i åen."


@pytest.mark.parametrize("family", [*MASKED, *CAUSAL])
def test_each_token_belongs_to_the_word_of_its_first_letter(family: str) -> None:
    tokenizer = opened(family).tokenizer
    (tokens,) = tokenise(tokenizer, [TEXT], specials=True)
    expected = slow.words_of_tokens(tokenizer, TEXT)
    assert [None if word == SPECIAL else word for word in tokens.words] == expected


def test_a_gemma_type_sentence_is_more_than_one_word() -> None:
    tokenizer = opened("llama").tokenizer
    assert set(tokenizer(TEXT).word_ids()) == {0}
    (tokens,) = tokenise(tokenizer, [TEXT], specials=False)
    assert len(set(tokens.words)) >= 8


def test_a_space_only_piece_belongs_to_the_next_word() -> None:
    tokenizer = opened("unigram").tokenizer
    text = "Hun så xylofoner."
    (tokens,) = tokenise(tokenizer, [text], specials=False)
    pieces = tokenizer.convert_ids_to_tokens(tokens.ids)
    at = pieces.index("▁")
    assert tokens.starts[at] == text.index("xylofoner")
    assert tokens.words[at] == tokens.words[at + 1]
    assert at in tokens.within(text.index("xylofoner"), text.index("."))


def test_both_bytes_of_a_letter_belong_to_its_word() -> None:
    tokenizer = opened("gpt2").tokenizer
    (tokens,) = tokenise(tokenizer, ["en þ her"], specials=False)
    pieces = tokenise(tokenizer, ["en þ her"], specials=False)[0].within(3, 4)
    assert len(pieces) >= 2
    assert {tokens.words[at] for at in pieces} == {1}


def test_special_tokens_belong_to_no_word() -> None:
    (tokens,) = tokenise(opened("wordpiece cased").tokenizer, [TEXT], specials=True)
    assert (tokens.words[0], tokens.words[-1]) == (SPECIAL, SPECIAL)
    assert SPECIAL not in tokens.words[1:-1]


def test_trailing_space_and_an_empty_text_are_no_trouble() -> None:
    tokenizer = opened("gpt2").tokenizer
    empty, trailing = tokenise(tokenizer, ["", "Hun så  "], specials=False)
    assert empty.ids == ()
    assert trailing.words[-1] == 2


def test_a_tokenizer_is_in_memory_once(tmp_path: Path) -> None:
    letters = json.loads(tiny.gemma().backend_tokenizer.to_str())["model"]
    merges = [tuple(merge) for merge in letters["merges"]]
    tokenizer = transformers.GemmaTokenizer(vocab=letters["vocab"], merges=merges)
    assert len(vars(tokenizer)["_merges"]) == len(merges)  # what transformers keeps
    folder = tiny.save(tmp_path, tiny.gemma_model(tokenizer), tokenizer)
    loaded = StoredCheckpoint(folder, LoadOptions()).tokenizer
    assert not {"_vocab", "_merges"} & vars(loaded).keys()
    assert type(loaded) is type(tokenizer)
    assert loaded(TEXT)["input_ids"] == tokenizer(TEXT)["input_ids"]
