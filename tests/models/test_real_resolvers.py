"""Adapters of coreference systems against the real packages, where these are installed.

No model is fetched: documents and results are made of the packages' own classes, and small models
are trained or left untrained on the spot.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import tiny

from gendalens.models.objects.choice import as_backend
from gendalens.models.requests import Resolve, ResolveAnswer

TEXT = "Den gamle kok sov, fordi han var træt."
COOK, HAN = (0, 13), (25, 28)

# These packages use what newer versions of others warn about.
pytestmark = pytest.mark.filterwarnings("ignore")


def asked(system: Any, kind: str) -> ResolveAnswer:
    backend: Any = as_backend(system)
    assert str(backend.info.kind) == f"coreference system ({kind})"
    (answer,) = backend.answer(backend.encode([Resolve(TEXT)]))
    assert isinstance(answer, ResolveAnswer)
    return answer


def test_a_document_of_stanza_is_read_dropped_pronouns_apart() -> None:
    stanza = pytest.importorskip("stanza", reason="Stanza is not installed")
    document = pytest.importorskip("stanza.models.common.doc")
    chains = pytest.importorskip("stanza.models.coref.coref_chain")
    tokens = [
        {"id": (number,), "text": word.group(), "start_char": word.start(), "end_char": word.end()}
        for number, word in enumerate(re.finditer(r"\w+|[^\w\s]", TEXT), 1)
    ]

    class Pipeline(stanza.Pipeline):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.processors: dict[str, Any] = {"coref": object()}

        def __call__(self, text: str) -> Any:
            dropped = {"id": (4, 1), "text": "_"}
            doc = document.Document([tokens], text=text, empty_sentences=[[dropped]])
            places = [(0, 3), (6, 7), ((4, 1), (4, 1))]
            mentions = [chains.CorefMention(0, *place) for place in places]
            doc.coref = [chains.CorefChain(0, mentions, "Den gamle kok", 0)]
            return doc

    assert asked(Pipeline(), "a Stanza pipeline").clusters == ((COOK, HAN),)


def test_a_result_of_fastcoref_is_read_unaligned_spans_apart() -> None:
    fastcoref = pytest.importorskip("fastcoref.modeling", reason="fastcoref is not installed")

    class Model(fastcoref.FCoref):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            pass

        def predict(self, texts: list[str]) -> Any:  # type: ignore[override, unused-ignore]
            places = {(0, 2): (0, COOK), (6, 6): (1, HAN), (9, 9): (None, None)}
            return [fastcoref.CorefResult(t, [list(places)], places, {}, None, 0) for t in texts]

    assert asked(Model(), "fastcoref's interface").clusters == ((COOK, HAN),)


def test_an_untrained_model_of_fastcoref_is_asked_and_read(tmp_path: Path) -> None:
    fastcoref = pytest.importorskip("fastcoref", reason="fastcoref is not installed")
    networks = pytest.importorskip("fastcoref.coref_models.modeling_fcoref")
    import spacy
    import transformers

    if int(transformers.__version__.partition(".")[0]) > 4:
        pytest.skip("fastcoref 2.1 builds no model on transformers 5")
    tokenizer = tiny.byte_level()
    config = transformers.RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=600,
        pad_token_id=tokenizer.pad_token_id,
    )
    config.coref_head = {
        "max_segment_len": 512,
        "max_span_length": 5,
        "top_lambda": 0.5,
        "ffnn_size": 16,
        "dropout_prob": 0.0,
    }
    networks.FCorefModel(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model = fastcoref.FCoref(
        str(tmp_path), device="cpu", nlp=spacy.blank("da"), enable_progress_bar=False
    )
    expected = model.predict(texts=[TEXT])[0].get_clusters(as_strings=False)
    found = asked(model, "fastcoref's interface").clusters
    assert [list(cluster) for cluster in found] == [
        [tuple(mention) for mention in cluster if mention] for cluster in expected
    ]


def test_a_pipeline_of_spacy_experimental_is_trained_and_read() -> None:
    pytest.importorskip("spacy_experimental", reason="spacy-experimental is not installed")
    import spacy
    from spacy.training import Example

    pipeline = spacy.blank("da")
    pipeline.add_pipe("experimental_coref", name="coref")

    def example() -> Any:
        plain = pipeline.make_doc(TEXT)
        gold = plain.copy()
        gold.spans["coref_clusters_1"] = [gold[2:3], gold[6:7]]
        return Example(plain, gold)

    pipeline.initialize(lambda: [example()])
    for _ in range(30):
        pipeline.update([example()])
    assert pipeline(TEXT).spans.keys()
    assert asked(pipeline, "a spaCy pipeline").clusters == (((10, 13), HAN),)
