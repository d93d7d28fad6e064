"""A tokenizer that makes something else of Danish text is refused, or the results say so."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import taggers
import tiny
import transformers
from families import CAUSAL, MASKED, opened
from small_data import small_data
from taggers import TAGGERS, opened_tagger
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from tokenizers import models as cutters

import gendalens
from gendalens.errors import UserError
from gendalens.models.detect import load_model
from gendalens.models.huggingface.encoding import tokenise
from gendalens.results.run_folder import result_folder
from gendalens.words import write

PLAIN = [sentence.translate(str.maketrans("æøåÅ", "    ")) for sentence in tiny.SENTENCES]


def stripped() -> Any:
    """BERT's normalizer as it is set if nothing is said about it."""
    tokenizer = tiny.wordpiece(lowercase=True)
    tokenizer.backend_tokenizer.normalizer = normalizers.BertNormalizer()
    return tokenizer


def without_unknown(sentences: list[str]) -> Any:
    """A BPE that knows the letters of these sentences, and leaves out every other one."""
    tokenizer = Tokenizer(cutters.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=200, special_tokens=["<eos>"], show_progress=False)
    # The alphabet's capitals and the last letters of the Latin one are in no sentence.
    tokenizer.train_from_iterator([*sentences, "Ab Cd Ef Gh Ij Kl Mn Op Qr St Uv Wx Yz"], trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>")


def without_bytes() -> Any:
    """A byte-level BPE that knows the first byte of æ, ø and å (it is that of é), and not the second."""
    tokenizer = Tokenizer(cutters.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=200, special_tokens=["<eos>"], show_progress=False)
    tokenizer.train_from_iterator([*PLAIN, "idé"], trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>")


def with_byte_fallback() -> Any:
    """A Llama type tokenizer whose only way to write a Danish letter is by its bytes."""
    tokenizer = Tokenizer(cutters.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback()])
    trainer = trainers.BpeTrainer(
        vocab_size=200, special_tokens=["<unk>", "<s>"], show_progress=False
    )
    tokenizer.train_from_iterator(PLAIN, trainer)
    core = json.loads(tokenizer.to_str())
    vocabulary = core["model"]["vocab"]
    vocabulary |= {f"<0x{byte:02X}>": len(vocabulary) + byte for byte in range(256)}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(core)), unk_token="<unk>", bos_token="<s>"
    )


def doubled(make: Callable[[], Any], front: str, back: str) -> Any:
    """A tokenizer that puts the text twice between its special tokens."""
    tokenizer = make()
    core = tokenizer.backend_tokenizer
    core.post_processor = processors.TemplateProcessing(
        single=f"{front} $A $A {back}".strip(),
        special_tokens=[(name, core.token_to_id(name)) for name in (front, back) if name],
    )
    return tokenizer


def with_special(tokenizer: Any, word: str) -> Any:
    """The tokenizer with a word among its special tokens, as add_special_tokens leaves it."""
    tokenizer.add_special_tokens({"extra_special_tokens": [AddedToken(word, special=True)]})
    return tokenizer


def save_masked(folder: Path, tokenizer: Any) -> str:
    return tiny.save(folder, tiny.bert_model(tokenizer), tokenizer)


def save_causal(folder: Path, tokenizer: Any) -> str:
    return tiny.save(folder, tiny.gpt2_model(tokenizer), tokenizer)


def save_tagger(folder: Path, tokenizer: Any) -> str:
    return taggers.save(folder, tokenizer, "bert", taggers.IOB)


def warn(name: str) -> dict[str, list[tuple[str, str]]]:
    """The notices of a model by their code, with what went in and what came out."""
    notices: Any = load_model(name).notices
    return {
        notice.code: [
            (one.values["text"], one.values["pieces"]) for one in notice.values["examples"]
        ]
        for notice in notices
    }


@pytest.mark.parametrize("family", [*MASKED, *CAUSAL])
def test_a_sound_tokenizer_gets_no_notice(family: str) -> None:
    assert opened(family).backend.notices == ()


@pytest.mark.parametrize("family", TAGGERS)
def test_nor_does_that_of_a_tagger(family: str) -> None:
    assert opened_tagger(family).backend.notices == ()


def test_letters_in_bytes_or_in_parts_are_kept(tmp_path: Path) -> None:
    tokenizer = with_byte_fallback()
    assert "<0xC3>" in tokenizer.tokenize("på")
    assert load_model(save_causal(tmp_path / "bytes", tokenizer)).notices == ()
    tokenizer = tiny.wordpiece()
    tokenizer.backend_tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFD(), normalizers.Lowercase()]
    )
    tokenizer.add_tokens(["\u030a"])  # the ring of å
    assert load_model(save_masked(tmp_path / "parts", tokenizer)).notices == ()


def test_a_word_added_to_a_byte_level_vocabulary_is_read_as_it_is_written(tmp_path: Path) -> None:
    tokenizer = tiny.gpt2(specials=True)
    tokenizer.add_tokens(["Århus", "på"])
    assert load_model(save_causal(tmp_path / "model", tokenizer)).notices == ()


@pytest.mark.parametrize("save", [save_masked, save_causal, save_tagger])
def test_letters_without_their_accents_are_a_warning(
    save: Callable[[Path, Any], str], tmp_path: Path
) -> None:
    found = warn(save(tmp_path / "model", stripped()))
    assert [*found] == ["tokenizer.letters_changed"]
    assert [text for text, _ in found["tokenizer.letters_changed"]] == ["på", "Århus", "idé"]


def test_a_cased_model_with_its_vocabulary_alone_gets_the_warning(tmp_path: Path) -> None:
    tokenizer = tiny.wordpiece()
    folder = Path(save_masked(tmp_path / "model", tokenizer))
    for file in folder.glob("tokenizer*"):
        file.unlink()
    pieces = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    (folder / "vocab.txt").write_text("\n".join(piece for piece, _ in pieces), encoding="utf-8")
    found = warn(str(folder))
    assert found["tokenizer.letters_changed"][0] == ("på", "p a")


def test_a_vocabulary_that_drops_one_letter_is_a_warning(tmp_path: Path) -> None:
    sentences = [sentence.replace("ø", "").replace("Ø", "") for sentence in tiny.SENTENCES]
    found = warn(save_causal(tmp_path / "model", without_unknown([*sentences, "Æ idé"])))
    assert [*found] == ["tokenizer.letters_dropped"]
    assert {text for text, _ in found["tokenizer.letters_dropped"]} == {"køen", "Ærø", "Østerbro"}


@pytest.mark.parametrize("make", [lambda: without_unknown(PLAIN), without_bytes])
def test_a_language_model_without_the_danish_letters_is_refused(
    make: Callable[[], Any], tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=r"drops æ, ø and å \(.*“lægen” becomes “\S*l"):
        load_model(save_causal(tmp_path / "model", make()))


def test_a_tagger_without_them_gets_a_warning(tmp_path: Path) -> None:
    tokenizer = without_unknown(PLAIN)
    tokenizer.pad_token = "<eos>"
    found = warn(save_tagger(tmp_path / "model", tokenizer))
    assert [*found] == ["tokenizer.letters_dropped"]


def test_a_tagger_that_does_not_know_them_gets_a_warning_too(tmp_path: Path) -> None:
    tokenizer = tiny.wordpiece()
    core = json.loads(tokenizer.backend_tokenizer.to_str())
    core["model"]["vocab"] = {
        piece.replace("å", "¤"): id_ for piece, id_ in core["model"]["vocab"].items()
    }
    changed = Tokenizer.from_str(json.dumps(core))
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=changed, unk_token="[UNK]", pad_token="[PAD]", mask_token="[MASK]"
    )
    assert warn(save_tagger(tmp_path / "tagger", tokenizer)) == {
        "tokenizer.letters_unknown": [("å", "[UNK]")]
    }
    assert warn(save_masked(tmp_path / "masked", tokenizer)) == {}  # its tests count them


def test_a_vocabulary_without_a_plain_letter_is_refused(tmp_path: Path) -> None:
    tokenizer = without_unknown(tiny.SENTENCES)
    tokenizer.backend_tokenizer.normalizer = normalizers.Replace("u", "")
    with pytest.raises(UserError, match=r"does not keep the letters .*“hun” becomes “h ?n”"):
        load_model(save_tagger(tmp_path / "model", tokenizer))


@pytest.mark.parametrize(
    ("save", "make"),
    [
        (save_masked, lambda: doubled(tiny.wordpiece, "[CLS]", "[SEP]")),
        (save_causal, lambda: doubled(lambda: tiny.gpt2(specials=True), "<|start|>", "")),
        (save_tagger, lambda: doubled(tiny.wordpiece, "[CLS]", "[SEP]")),
    ],
)
def test_a_text_that_is_repeated_is_refused(
    save: Callable[[Path, Any], str], make: Callable[[], Any], tmp_path: Path
) -> None:
    with pytest.raises(
        UserError, match=r"repeats the text \(“Hun bor .*”.*H.*\..*H.*\.”.*post_processor"
    ):
        load_model(save(tmp_path / "model", make()))


@pytest.mark.parametrize("mask", ["hun", "sine", "."])
def test_a_mask_that_occurs_in_ordinary_text_is_refused(mask: str, tmp_path: Path) -> None:
    tokenizer = tiny.wordpiece()
    tokenizer.mask_token = mask
    with pytest.raises(
        UserError, match=rf"mask token of .* \(“{re.escape(mask)}”\) occurs in ordinary text"
    ):
        load_model(save_masked(tmp_path / "model", tokenizer))


def test_a_pronoun_that_is_a_special_token_is_refused(tmp_path: Path) -> None:
    name = save_masked(tmp_path / "model", with_special(tiny.wordpiece(), "han"))
    with pytest.raises(UserError, match="treats the pronoun “han” as a special token"):
        load_model(name)


def test_another_word_that_is_one_is_a_warning_for_language_models_alone(tmp_path: Path) -> None:
    tokenizer = with_special(tiny.wordpiece(), "smeden")
    (notice,) = load_model(save_masked(tmp_path / "masked", tokenizer)).notices
    assert (notice.code, notice.values) == ("tokenizer.special_words", {"words": ("smeden",)})
    assert load_model(save_tagger(tmp_path / "tagger", tokenizer)).notices == ()


def test_an_unknown_pronoun_is_refused_whatever_the_test(tmp_path: Path) -> None:
    tokenizer = tiny.wordpiece()
    tokenizer.backend_tokenizer.normalizer = normalizers.Replace("hendes", "Ж")
    name = save_masked(tmp_path / "masked", tokenizer)
    with pytest.raises(UserError, match="cannot represent “hendes”"):
        gendalens.run(name, tasks="lm-abc", data=small_data(tmp_path / "data"))


def test_pronouns_that_cannot_be_told_apart_in_a_sentence_are_refused(tmp_path: Path) -> None:
    tokenizer = tiny.wordpiece()
    # Without it, WordPiece takes a whole sentence for one word, which it does not know.
    tokenizer.backend_tokenizer.pre_tokenizer = None
    with pytest.raises(UserError, match=r"same tokens of “hun” and “han” \(“Lægen .*“\[UNK\]”"):
        load_model(save_masked(tmp_path / "masked", tokenizer))
    assert warn(save_tagger(tmp_path / "tagger", tokenizer)) == {}  # it is not asked about them


def test_truncation_and_padding_in_the_tokenizer_file_change_nothing(tmp_path: Path) -> None:
    tokenizer = tiny.wordpiece()
    whole = tokenise(tokenizer, tiny.SENTENCES, specials=True)
    tokenizer.backend_tokenizer.enable_truncation(4)
    tokenizer.backend_tokenizer.enable_padding(length=50)
    cut: Any = load_model(save_masked(tmp_path / "model", tokenizer))
    saved = json.loads((tmp_path / "model" / "tokenizer.json").read_text())
    assert saved["truncation"]
    assert saved["padding"]
    assert cut.notices == ()
    assert tokenise(cut.tokenizer, tiny.SENTENCES, specials=True) == whole


def test_a_tokenizer_that_fails_on_danish_text_is_named(tmp_path: Path) -> None:
    tokenizer = tiny.wordpiece()
    core = json.loads(tokenizer.backend_tokenizer.to_str())
    core["model"]["unk_token"] = "[NONE]"
    core["normalizer"] = None
    name = save_masked(tmp_path / "model", tokenizer)
    (tmp_path / "model" / "tokenizer.json").write_text(json.dumps(core))
    with pytest.raises(UserError, match=r"The tokenizer of .* cannot be read .*UNK"):
        load_model(name)


def test_the_warning_is_in_results_on_the_page_and_in_both_languages(tmp_path: Path) -> None:
    tokenizer = tiny.byte_level()  # the resolver refuses unknown tokens, and it has none
    tokenizer.backend_tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFD(), normalizers.StripAccents()]
    )
    name = tiny.save(tmp_path / "model", tiny.roberta_model(tokenizer, window=300), tokenizer)
    out = tmp_path / "run"
    results = gendalens.run(
        [name, f"lm-coref:{name}"], data=small_data(tmp_path / "data"), sample=4, out=out
    )
    assert len(results) == 4
    for result in results:
        (warning,) = (one for one in result.warnings if one.code == "tokenizer.letters_changed")
        for language in ("en", "da"):
            assert "“på” " in write(warning, language).replace("»", "“").replace("«", "”")
        saved = json.loads((result_folder(out, result) / "result.json").read_text())
        assert warning.to_dict() in saved["warnings"]
    assert "“på” becomes “p" in (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_refusal_is_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    name = save_masked(tmp_path / "model", doubled(tiny.wordpiece, "[CLS]", "[SEP]"))
    done = subprocess.run(
        [sys.executable, "-m", "gendalens", "run", name, "--data", "builtin", "--sample", "4"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=tmp_path,
        timeout=240,
    )
    assert done.returncode == 2
    (sentence,) = (line for line in done.stderr.splitlines() if line.startswith("gendalens: "))
    assert "repeats the text (“Hun bor på Ærø.” becomes “Hun " in sentence
    assert "Traceback" not in done.stderr
