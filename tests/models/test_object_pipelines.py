"""Pipelines of transformers, spaCy and Stanza in memory."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
import taggers
import tiny
import transformers
from asking import answer_all

import gendalens
from gendalens.compat import Evaluator
from gendalens.errors import UserError
from gendalens.models.detect import load_model
from gendalens.models.objects.choice import as_backend
from gendalens.models.objects.given import Given
from gendalens.models.requests import Resolve, ResolveAnswer, Score, Tag, TagAnswer

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import spacy

TEXTS = ["Åse Lund bor i Århus.", "", "Bo  så Bo", "Ingen her."]
PATTERNS = [
    {"label": "PERSON", "pattern": [{"LOWER": "åse"}, {"IS_TITLE": True}]},
    {"label": "PERSON", "pattern": "Bo"},
    {"label": "GPE", "pattern": "Århus"},
]
TRAINING = [
    ("Åse Lund bor i Århus.", [(0, 8, "PER"), (15, 20, "LOC")]),
    ("Bo så Bo i Ribe.", [(0, 2, "PER"), (6, 8, "PER"), (11, 15, "LOC")]),
]


# Pipelines of transformers


def fill_mask() -> Any:
    tokenizer = tiny.wordpiece()
    return transformers.FillMaskPipeline(tiny.bert_model(tokenizer), tokenizer=tokenizer)


def generation() -> Any:
    tokenizer = tiny.gemma()
    return transformers.TextGenerationPipeline(tiny.llama_model(tokenizer), tokenizer=tokenizer)


@pytest.mark.parametrize(
    ("make", "task"), [(fill_mask, "fill-mask"), (generation, "text-generation")]
)
def test_a_pipeline_is_its_model_and_its_tokenizer(make: Any, task: str) -> None:
    pipeline = make()
    requests = [Score(text) for text in tiny.SENTENCES]
    by_pair = answer_all(as_backend(Given(pipeline.model, pipeline.tokenizer)), requests)
    backend = as_backend(pipeline)
    assert answer_all(backend, requests) == by_pair
    assert backend.info.name == type(pipeline.model).__name__
    assert backend.info.hub_task == task


@pytest.mark.parametrize("task", ["token-classification", "ner"])
def test_a_token_classification_pipeline_tags(task: str, tmp_path: Path) -> None:
    folder = taggers.save(tmp_path / "model", tiny.wordpiece(), "bert", taggers.IOB)
    pipeline = transformers.pipeline(task, model=folder)
    requests = [Tag(text) for text in tiny.SENTENCES]
    assert answer_all(as_backend(pipeline), requests) == answer_all(load_model(folder), requests)


def test_a_pipeline_of_another_kind_is_told_what_fits() -> None:
    tokenizer = tiny.wordpiece()
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1, num_attention_heads=2
    )
    model = transformers.BertForSequenceClassification(config)
    pipeline = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer)
    with pytest.raises(
        UserError, match=r"is a TextClassificationPipeline, .* give one for fill-mask, te"
    ):
        as_backend(pipeline)


def test_a_tokenizer_beside_what_has_its_own_is_refused() -> None:
    pipeline = fill_mask()
    with pytest.raises(UserError, match=r"is a transformers pipeline .* needs no tokenizer"):
        gendalens.run(pipeline, tokenizer=pipeline.tokenizer)


# spaCy


def rules() -> Any:
    nlp = spacy.blank("da", meta={"name": "regler", "version": "1.2.3"})
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
    return nlp


def trained() -> Any:
    from spacy.training import Example

    nlp = spacy.blank("da", meta={"name": "trained"})
    nlp.add_pipe("ner")
    examples = [
        Example.from_dict(nlp.make_doc(text), {"entities": spans}) for text, spans in TRAINING
    ]
    nlp.initialize(lambda: examples)
    for _ in range(20):
        nlp.update(examples)
    return nlp


@pytest.mark.parametrize("make", [rules, trained])
def test_a_spacy_pipeline_answers_like_its_folder(make: Any, tmp_path: Path) -> None:
    nlp = make()
    nlp.to_disk(tmp_path / "nlp")
    requests = [Tag(text) for text in (*TEXTS, *(text for text, _ in TRAINING))]
    by_folder, by_object = load_model(str(tmp_path / "nlp")), as_backend(nlp)
    found = answer_all(by_object, requests)
    assert found == answer_all(by_folder, requests)
    assert any(answer.entities for answer in found.values() if isinstance(answer, TagAnswer))
    assert set(by_object.labels or ()) == set(by_folder.labels or ())
    one, other = by_object.info, by_folder.info
    assert (one.kind, one.dtype, one.tokenizer) == (other.kind, other.dtype, other.tokenizer)
    assert (one.software, one.hub_task, one.for_danish) == (
        other.software,
        other.hub_task,
        other.for_danish,
    )


@pytest.mark.slow
def test_a_run_gives_the_same_figures_by_folder_and_by_object(tmp_path: Path) -> None:
    nlp = trained()
    nlp.to_disk(tmp_path / "nlp")
    options: dict[str, Any] = {"data": "builtin", "sample": 30, "repeats": 2}
    ((by_folder,), (by_object,)) = (
        gendalens.run(model, **options) for model in (tmp_path / "nlp", {"nlp": nlp})
    )
    assert by_folder.gap == by_object.gap
    assert by_folder.conditions == by_object.conditions
    assert by_object.model.name == "nlp"


def test_a_spacy_pipeline_is_cached_by_its_content() -> None:
    nlp = trained()
    first = as_backend(nlp)
    assert first.cacheable
    assert re.fullmatch(r"da_trained 0\.0\.0 sha256:[0-9a-f]{12}", first.info.revision)
    answer_all(first, [Tag("Helt nye ord udvider ordlisten: kvalmestillende.")])
    assert as_backend(nlp).fingerprint() == first.fingerprint()
    model = nlp.get_pipe("ner").model.get_ref("tok2vec")
    node = next(node for node in model.walk() if node.has_param("W"))
    node.set_param("W", node.get_param("W") + 1)
    assert as_backend(nlp).fingerprint() != first.fingerprint()


def test_a_spacy_pipeline_with_parts_that_cannot_be_written_down_is_not_cached() -> None:
    nlp = trained()
    spacy.Language.component("test_shout", func=lambda doc: doc)
    nlp.add_pipe("test_shout", first=True)
    backend = as_backend(nlp)
    assert not backend.cacheable
    assert backend.info.revision == "da_trained 0.0.0 object"


def test_components_that_do_not_matter_do_not_run_and_stay() -> None:
    nlp = trained()
    ran: list[str] = []

    def notice(doc: Any) -> Any:
        ran.append(doc.text)
        return doc

    spacy.Language.component("test_notice", func=notice)
    nlp.add_pipe("test_notice", last=True)
    answer_all(as_backend(nlp), [Tag(text) for text in TEXTS])
    assert not ran
    assert nlp.pipe_names == ["ner", "test_notice"]


def link_first_words(doc: Any) -> Any:
    doc.spans["coref_clusters_1"] = [doc[0:1], doc[1:2]]
    return doc


spacy.Language.component("test_object_coref", func=link_first_words)


def test_a_spacy_pipeline_may_find_entities_and_coreference() -> None:
    nlp = rules()
    nlp.add_pipe("test_object_coref")
    backend = as_backend(nlp)
    assert backend.answers == {"tag", "resolve"}
    tag, resolve = Tag("Bo sover."), Resolve("Bo sover.")
    found = answer_all(backend, [tag, resolve])
    assert found[tag] == TagAnswer(((0, 2, "PERSON"),))
    assert found[resolve] == ResolveAnswer((((0, 2), (3, 8)),))
    results = gendalens.run(nlp, data="builtin", sample=6)
    assert [one.task for one in results] == ["coref-abc", "coref-dawinobias", "ner-dane"]


def test_a_spacy_pipeline_for_another_language_says_so() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
    info = as_backend(nlp).info
    assert (info.kind.code, info.for_danish) == ("foreign_spacy_pipeline", False)


def test_a_text_beyond_spacys_limit_is_one_sentence() -> None:
    nlp = rules()
    nlp.max_length = 10
    with pytest.raises(
        UserError, match="21 characters is too long for the spaCy pipeline da_regler"
    ):
        as_backend(nlp).encode([Tag(TEXTS[0])])


# Stanza

SENTENCES = [
    [("Bo", "S-PER"), ("bor", "O"), ("i", "O"), ("Ribe", "S-LOC"), (".", "O")],
    [("Åse", "B-PER"), ("Lund", "E-PER"), ("sover", "O"), (".", "O")],
]


@pytest.fixture(scope="module")
def stanza_ner(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A real Stanza pipeline with a tagger trained on two sentences; words are split by spaCy."""
    stanza = pytest.importorskip("stanza", reason="Stanza is not installed")
    folder = tmp_path_factory.mktemp("stanza")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from stanza.models import ner_tagger
        from stanza.models.common.pretrain import Pretrain

        words = sorted({word for sentence in SENTENCES for word, _ in sentence})
        vectors = [
            f"{word} {' '.join(str((7 * n + i) % 5) for i in range(8))}"
            for n, word in enumerate(words)
        ]
        (folder / "vectors.txt").write_text("\n".join(vectors), encoding="utf-8")
        Pretrain(
            str(folder / "vectors.pt"), vec_filename=str(folder / "vectors.txt"), save_to_file=True
        ).load()
        data = [[{"text": word, "ner": tag} for word, tag in some] for some in SENTENCES]
        (folder / "train.json").write_text(json.dumps(data))
        sizes = (
            "--hidden_dim 16 --char_emb_dim 8 --char_hidden_dim 8 --max_steps 60 --eval_interval 30"
        )
        places = {
            "data_dir": folder,
            "save_dir": folder / "models",
            "wordvec_pretrain_file": folder / "vectors.pt",
            "train_file": folder / "train.json",
            "eval_file": folder / "train.json",
        }
        ner_tagger.main(
            [
                *(part for name, place in places.items() for part in (f"--{name}", str(place))),
                *(*sizes.split(), "--shorthand", "en_test", "--cpu", "--no_input_transform"),
            ]
        )
        (folder / "resources.json").write_text("{}")
        (model,) = (folder / "models").glob("*.pt")
        return stanza.Pipeline(
            "en",
            dir=str(folder),
            processors="tokenize,ner",
            tokenize_with_spacy=True,
            ner_model_path=str(model),
            ner_pretrain_path=str(folder / "vectors.pt"),
            ner_forward_charlm_path="",
            ner_backward_charlm_path="",
            download_method=None,
            allow_unknown_language=True,
            use_gpu=False,
            verbose=False,
        )


@pytest.mark.filterwarnings("ignore")
def test_a_stanza_pipeline_tags(stanza_ner: Any) -> None:
    backend = as_backend(stanza_ner)
    assert backend.answers == {"tag"}
    assert backend.labels == ("LOC", "PER")
    assert str(backend.info.kind) == "named entity recogniser (a Stanza pipeline)"
    assert backend.info.software[0].startswith("stanza ")
    text = "Bo bor i Ribe. Åse Lund sover."
    found = answer_all(backend, [Tag(text), Tag("")])
    expected = [(e.start_char, e.end_char, e.type) for e in stanza_ner(text).ents]
    assert expected
    assert found == {Tag(text): TagAnswer(tuple(expected)), Tag(""): TagAnswer(())}
    (result,) = gendalens.run(stanza_ner, data="builtin", sample=4, repeats=1)
    assert result.task == "ner-dane"


@pytest.mark.filterwarnings("ignore")
def test_a_stanza_pipeline_may_also_resolve(
    stanza_ner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(stanza_ner.processors, "coref", object())
    backend = as_backend(stanza_ner)
    assert backend.answers == {"tag", "resolve"}
    assert backend.info.kind.code == "entities_and_coreference"


@pytest.mark.filterwarnings("ignore")
def test_a_stanza_pipeline_with_neither_is_refused_with_the_cause(
    stanza_ner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(stanza_ner.processors, "ner")
    with pytest.raises(UserError, match=r"neither the processor ner nor coref .*: tokenize\)"):
        as_backend(stanza_ner)


@pytest.mark.filterwarnings("ignore")
def test_a_stanza_pipeline_without_coreference_is_refused_with_the_cause(stanza_ner: Any) -> None:
    told = r"cannot take coref-abc@\d: this pipeline has no processor coref \(.*: tokenize, ner\)"
    with pytest.raises(UserError, match=told):
        gendalens.run(stanza_ner, tasks=["coref-abc"], data="builtin")
    with pytest.raises(UserError, match=told):
        Evaluator("stanza").evaluate_coref(test="abc", model=stanza_ner)
    with pytest.raises(UserError, match="cannot take lm-abc@2; under this protocol it can take"):
        gendalens.run(stanza_ner, tasks=["lm-abc"], data="builtin")
