"""Token classifiers tag as slow, obvious loops do, whatever the tokenizer and the label scheme."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import slow_tags
import taggers
import tiny
import torch
from asking import answer_all
from families import Opened
from taggers import TAGGERS, WINDOW, opened_tagger

from gendalens.errors import UserError
from gendalens.models.detect import load_model
from gendalens.models.requests import Tag
from gendalens.models.word_spans import split_words

TEXTS = [
    *tiny.SENTENCES,
    "Åse Sørensen og Bo.",
    "Anne-Marie så Lars' båd (og B.T.s avis) kl. 8 i Århus!",
    "Ole",
    "»Hun bor i Skt. Pauls Gade,« sagde Per H. Lind, A/S.",
]


def tags(backend: Any, texts: list[str], size: int = 4) -> list[Any]:
    encoded = backend.encode([Tag(text) for text in texts])
    return [
        list(answer.entities)
        for begin in range(0, len(encoded), size)
        for answer in backend.answer(encoded[begin : begin + size])
    ]


@pytest.fixture(params=list(TAGGERS))
def tagger(request: pytest.FixtureRequest) -> Opened:
    return opened_tagger(request.param)


def test_each_word_has_the_label_of_its_first_piece(tagger: Opened) -> None:
    found = tags(tagger.backend, TEXTS)
    expected = [slow_tags.tag(tagger.tokenizer, tagger.model, text) for text in TEXTS]
    assert found == expected
    assert sum(map(len, found)) > 20


def test_tags_do_not_depend_on_the_batch(tagger: Opened) -> None:
    assert tags(tagger.backend, TEXTS, 1) == tags(tagger.backend, TEXTS, len(TEXTS))


def test_a_text_longer_than_the_window_is_read_in_windows_that_overlap() -> None:
    model = opened_tagger("wordpiece, IOB")
    text = " ".join(tiny.SENTENCES * 2)
    (encoded,) = model.backend.encode([Tag(text)])
    assert encoded.rows > 3
    assert encoded.length == WINDOW
    assert encoded.positions == sum(map(len, encoded.inputs))
    expected = slow_tags.tag_long(model.tokenizer, model.model, text, WINDOW, (WINDOW - 2) // 2)
    assert tags(model.backend, [text]) == [expected]


def test_a_long_text_has_entities_in_every_family(tagger: Opened) -> None:
    text = " ".join(tiny.SENTENCES * 3)
    (found,) = tags(tagger.backend, [text])
    assert found[-1][0] > len(text) * 0.8
    assert found == sorted(found)
    assert all(len(row) <= WINDOW for row in tagger.backend.encode([Tag(text)])[0].inputs)


def test_a_very_long_text_is_read_in_several_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = opened_tagger("byte-level, no prefix").backend
    text = " ".join(tiny.SENTENCES * 3)
    expected = tags(backend, [text])
    monkeypatch.setattr("gendalens.models.huggingface.token_classifier._MAX_TOKENS", 2 * WINDOW)
    assert tags(backend, [text]) == expected


def test_other_white_space_makes_no_difference_but_to_the_offsets(tagger: Opened) -> None:
    text = TEXTS[1]
    spread = "  " + text.replace(" ", "\n  ") + "\t"
    (plain,), (other,) = tags(tagger.backend, [text]), tags(tagger.backend, [spread])
    assert [label for *_, label in plain] == [label for *_, label in other]
    for (begin, end, _), (first, last, _) in zip(plain, other, strict=True):
        assert spread[first:last].split() == text[begin:end].split()
        assert spread[first:last] == spread[first:last].strip()


def test_an_empty_text_has_no_entities(tagger: Opened) -> None:
    assert tags(tagger.backend, ["", " \n", TEXTS[0]])[:2] == [[], []]
    (encoded,) = tagger.backend.encode([Tag("")])
    assert (encoded.rows, encoded.length, encoded.positions) == (0, 0, 0)


def test_it_answers_in_batches_like_any_other(tagger: Opened) -> None:
    requests = [Tag(text) for text in [*TEXTS, "", TEXTS[0]]]
    answers: Any = answer_all(tagger.backend, requests, batch_tokens=128)
    assert len(answers) == len(TEXTS) + 1
    found = [list(answers[request].entities) for request in requests]
    assert found == [*tags(tagger.backend, TEXTS), [], tags(tagger.backend, TEXTS)[0]]


def test_the_averaged_reading_takes_all_pieces_of_a_word() -> None:
    """By hand: labels by the mean, *inside* continues whatever is open, the last type wins."""
    model = opened_tagger("wordpiece, IOB")
    requests = [Tag(text, averaged=True) for text in TEXTS]
    answers = model.backend.answer(model.backend.encode(requests))
    differing = 0
    for text, answer in zip(TEXTS, answers, strict=True):
        encoded = model.tokenizer(text, return_offsets_mapping=True)
        with torch.no_grad():
            scores = model.model(torch.tensor([encoded["input_ids"]])).logits[0]
        expected: list[tuple[int, int, str]] = []
        before = "O"
        for begin, end in split_words(text):
            pieces = [
                at
                for at, (left, right) in enumerate(encoded["offset_mapping"])
                if begin <= left < right <= end
            ]
            label = model.model.config.id2label[int(scores[pieces].mean(0).argmax())]
            if label.startswith("B") or (label != "O" and before == "O"):
                expected.append((begin, end, label[2:]))
            elif label != "O":
                expected[-1] = (expected[-1][0], end, label[2:])
            before = label
        assert list(answer.entities) == expected
        differing += expected != slow_tags.tag(model.tokenizer, model.model, text)
    assert differing > 3


def test_it_says_what_it_is_without_loading_its_weights(tagger: Opened, tmp_path: Path) -> None:
    backend: Any = load_model(str(tagger.folder))
    assert backend.info.kind.code == "token_classifier"
    assert backend.answers == {"tag"}
    assert backend.max_positions > 10_000
    assert len(backend.fingerprint()) == 64
    backend.encode([Tag("Hun sejler.")])
    assert "model" not in vars(backend)
    assert (
        backend.labels
        == {
            "wordpiece, IOB": ("PER", "LOC", "ORG"),
            "wordpiece uncased, IOB1": ("PER", "LOC", "ORG"),
            "wordpiece letters, BILOU": ("PER", "LOC"),
            "unigram, BIOES": ("PER", "LOC"),
            "byte-level, no prefix": ("PERSON", "GPE", "ORG"),
            "gemma type, suffix": ("PER", "LOC"),
        }[next(family for family in TAGGERS if opened_tagger(family) is tagger)]
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of a good tagger, to be spoilt."""
    return shutil.copytree(opened_tagger("wordpiece, IOB").folder, tmp_path / "tagger")


def refused(folder: Path) -> str:
    def ask_it() -> None:
        backend = load_model(str(folder))
        backend.answer(backend.encode([Tag("Hun sejler.")]))

    with pytest.raises(UserError) as caught:
        ask_it()
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence


def relabel(folder: Path, labels: list[str]) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config["id2label"] = {str(index): label for index, label in enumerate(labels)}
    config["label2id"] = {label: index for index, label in enumerate(labels)}
    path.write_text(json.dumps(config))


def test_labels_without_names_are_refused(folder: Path) -> None:
    relabel(folder, [f"LABEL_{index}" for index in range(7)])
    assert "has no label names" in refused(folder)


def test_a_label_that_no_file_could_hold_is_refused(folder: Path) -> None:
    relabel(folder, ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-\ud800", "I-\ud800"])
    assert r"has a label that is no text (B-\ud800)" in refused(folder)


def test_a_classifier_without_entity_labels_is_refused(folder: Path) -> None:
    relabel(folder, ["O"])
    assert "has no entity labels (only O)" in refused(folder)


def test_an_untrained_head_is_refused(folder: Path) -> None:
    import transformers

    transformers.BertModel.from_pretrained(folder).save_pretrained(folder)
    relabel(folder, taggers.IOB)
    path = folder / "config.json"
    config = json.loads(path.read_text()) | {"architectures": ["BertForTokenClassification"]}
    path.write_text(json.dumps(config))
    assert "no trained weights for classifier" in refused(folder)


def test_weights_that_are_no_numbers_are_refused(folder: Path) -> None:
    import transformers

    model = transformers.AutoModelForTokenClassification.from_pretrained(folder)
    torch.nn.init.constant_(model.classifier.bias, float("nan"))
    model.save_pretrained(folder)
    assert "not numbers" in refused(folder)


def test_a_tokenizer_of_another_model_is_refused(folder: Path) -> None:
    tiny.byte_level().save_pretrained(folder)
    assert "does not belong to its weights" in refused(folder)


def test_a_model_for_pages_is_refused(folder: Path) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config |= {"model_type": "layoutlm", "architectures": ["LayoutLMForTokenClassification"]}
    path.write_text(json.dumps(config))
    assert "token classifiers (NER)" in refused(folder)
