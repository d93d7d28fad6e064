"""Flair's and GLiNER's taggers, untrained, where these libraries are installed.

Flair needs transformers 4 and so an environment of its own; GLiNER does not.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import tiny
import torch
import transformers
from asking import answer_all

import gendalens
from gendalens.errors import UserError
from gendalens.models.objects.choice import as_backend
from gendalens.models.requests import Tag, TagAnswer

TEXTS = ["Åse Lund bor i Århus.", "", "  Bo  så   Bo", "Smeden gav hende sin hammer."]

# Both libraries use what newer versions of others warn about.
pytestmark = pytest.mark.filterwarnings("ignore")


def encoder(folder: Path) -> str:
    tokenizer = tiny.wordpiece()
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        initializer_range=0.3,
        max_position_embeddings=128,
    )
    torch.manual_seed(0)
    return tiny.save(folder, transformers.BertModel(config), tokenizer)


def flair_tagger(folder: Path, labels: tuple[str, ...] = ("PER", "LOC"), spans: bool = True) -> Any:
    """A tagger on a network that reads the sentences around the one asked about, if there are any."""
    pytest.importorskip("flair", reason="Flair is not installed")
    from flair.data import Dictionary
    from flair.embeddings import TransformerWordEmbeddings
    from flair.models import SequenceTagger

    tags = Dictionary(add_unk=False)
    tags.span_labels = spans
    for label in labels:
        tags.add_item(label)
    torch.manual_seed(1)
    network = TransformerWordEmbeddings(encoder(folder), layers="-1", use_context=True)
    tagger = SequenceTagger(network, tags, "ner", hidden_size=16, word_dropout=0.5)
    torch.nn.init.normal_(tagger.linear.weight, std=3.0)
    return tagger


def test_a_flair_tagger_tags_each_text_on_its_own(tmp_path: Path) -> None:
    tagger = flair_tagger(tmp_path)
    from flair.data import Sentence

    expected = {}
    tagger.eval()
    for text in TEXTS:
        sentence = Sentence(text)
        tagger.predict(sentence)
        expected[Tag(text)] = TagAnswer(
            tuple(
                (span.start_position, span.end_position, span.get_label("ner").value)
                for span in sentence.get_spans("ner")
            )
        )
    assert sum(len(answer.entities) for answer in expected.values()) > 2
    for request, answer in expected.items():
        for start, end, _ in answer.entities:
            assert request.text[start:end].strip() == request.text[start:end] != ""
    tagger.train()
    tagger.rnn.eval()
    backend = as_backend(tagger)
    assert backend.labels == ("PER", "LOC")
    assert str(backend.info.kind) == "named entity recogniser (a Flair tagger)"
    assert answer_all(backend, [Tag(text) for text in TEXTS]) == expected
    backend.close()
    assert tagger.training
    assert not tagger.rnn.training
    (result,) = gendalens.run({"flair": tagger}, data="builtin", sample=6, repeats=1)
    assert (result.task, result.model.name) == ("ner-dane", "flair")


def test_a_flair_tagger_of_single_words_is_refused(tmp_path: Path) -> None:
    tagger = flair_tagger(tmp_path, labels=("NOUN", "VERB"), spans=False)
    with pytest.raises(UserError, match=r"Flair tagger SequenceTagger finds no entities \(.*“ner”"):
        as_backend(tagger)


def gliner_model(folder: Path) -> Any:
    gliner = pytest.importorskip("gliner", reason="GLiNER is not installed")
    settings = {
        "model_name": encoder(folder),
        "hidden_size": 32,
        "max_width": 4,
        "max_len": 64,
        "span_mode": "markerV0",
        "name": "tiny",
    }
    torch.manual_seed(0)
    return gliner.GLiNER.from_config(settings, backbone_from_pretrained=False)


def test_a_gliner_model_is_asked_for_the_three_types(tmp_path: Path) -> None:
    model = gliner_model(tmp_path)
    labels = ["person", "location", "organization"]
    texts = [text for text in TEXTS if text]
    expected = {
        Tag(text): TagAnswer(
            tuple(
                (one["start"], one["end"], one["label"])
                for one in model.predict_entities(text, labels)
            )
        )
        for text in texts
    }
    assert any(answer.entities for answer in expected.values())
    model.train()
    backend = as_backend(model)
    assert backend.labels == tuple(labels)
    assert str(backend.info.kind) == "named entity recogniser (a GLiNER model)"
    found = answer_all(backend, [Tag(text) for text in TEXTS])
    assert found == {**expected, Tag(""): TagAnswer(())}
    backend.close()
    assert model.training
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (result,) = gendalens.run({"gliner": model}, data="builtin", sample=6, repeats=1)
    assert (result.task, result.model.name) == ("ner-dane", "gliner")
