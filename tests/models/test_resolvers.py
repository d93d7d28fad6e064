"""One small system for each interface that coreference systems offer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import spacy
from small_data import small_data

import gendalens
from gendalens.errors import UserError
from gendalens.models.control import Control
from gendalens.models.objects.choice import as_backend
from gendalens.models.objects.resolver import Resolver
from gendalens.models.requests import Resolve, ResolveAnswer

TEXT = "Den gamle kok sov, fordi han var træt."
TOKENS = ((0, 3), (4, 9), (10, 13), (14, 17), (17, 18), (19, 24), (25, 28), (29, 32), (33, 37))
COOK, HAN = (0, 13), (25, 28)
REQUEST = Resolve(TEXT, (*TOKENS, (37, 38)))


class DaNLP:
    """Words in, places of words out."""

    def __init__(self) -> None:
        self.documents: list[Any] = []

    def predict(self, document: list[list[str]]) -> dict[str, Any]:
        raise AssertionError("predict_clusters says what is needed")

    def predict_clusters(self, document: list[list[str]]) -> list[list[tuple[list[str], int, int]]]:
        self.documents.append(document)
        (words,) = document
        return [[(words[0:3], 0, 3), (words[6:7], 6, 7)]]


class FastCoref:
    """Texts in, predictions with character spans out; a span may be missing."""

    def predict(self, texts: list[str]) -> list[Any]:
        def get_clusters(as_strings: bool = True) -> Any:
            return [["Den gamle kok", "han"]] if as_strings else [[COOK, None, HAN]]

        return [SimpleNamespace(get_clusters=get_clusters) for _ in texts]


class Stanza:
    """One text in, a document with chains of places of words out."""

    processors = {"tokenize": object(), "coref": object()}

    def __call__(self, text: str) -> Any:
        words = [
            SimpleNamespace(parent=SimpleNamespace(start_char=start, end_char=end))
            for start, end in REQUEST.tokens
        ]
        mentions = [
            SimpleNamespace(sentence=0, start_word=0, end_word=3),
            SimpleNamespace(sentence=0, start_word=6, end_word=7),
        ]
        return SimpleNamespace(
            sentences=[SimpleNamespace(words=words)], coref=[SimpleNamespace(mentions=mentions)]
        )


def leave_spans(doc: Any) -> Any:
    doc.spans["coref_clusters_1"] = [doc[0:3], doc[6:7]]
    doc.spans["coref_head_clusters_1"] = [doc[2:3], doc[6:7]]
    return doc


def leave_chains(doc: Any) -> Any:
    mentions = [SimpleNamespace(token_indexes=[0, 2]), SimpleNamespace(token_indexes=[6])]
    doc._.coref_chains = [mentions]
    return doc


spacy.Language.component("test_coref_spans", func=leave_spans)
spacy.Language.component("test_coref_chains", func=leave_chains)


def spacy_pipeline(component: str) -> Any:
    pipeline = spacy.blank("da")
    pipeline.add_pipe(component)
    return pipeline


def with_chains() -> Any:
    from spacy.tokens import Doc

    Doc.set_extension("coref_chains", default=None, force=True)
    return spacy_pipeline("test_coref_chains")


def function(texts: Sequence[str]) -> list[Any]:
    return [[[COOK, HAN]] for _ in texts]


SYSTEMS: dict[str, Callable[[], Any]] = {
    "danlp's interface": DaNLP,
    "fastcoref's interface": FastCoref,
    "a Stanza pipeline": Stanza,
    "a function": lambda: Resolver(function),
}


def asked(system: Any) -> ResolveAnswer:
    backend: Any = as_backend(system)
    (answer,) = backend.answer(backend.encode([REQUEST]))
    assert isinstance(answer, ResolveAnswer)
    return answer


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_is_known_by_what_it_offers_and_read(name: str) -> None:
    system = SYSTEMS[name]()
    info = as_backend(system).info
    assert info.kind.code == "coreference_system"
    assert str(info.kind) == f"coreference system ({name})"
    assert info.hub_task == "coreference-resolution"
    assert asked(system).clusters == ((COOK, HAN),)


@pytest.mark.parametrize("make", [lambda: spacy_pipeline("test_coref_spans"), with_chains])
def test_a_spacy_pipeline_is_read_wherever_it_leaves_its_clusters(make: Any) -> None:
    pipeline = make()
    assert str(as_backend(pipeline).info.kind) == "coreference system (a spaCy pipeline)"
    assert asked(pipeline).clusters == ((COOK, HAN),)


def test_a_spacy_pipeline_without_coreference_or_entities_is_told() -> None:
    pipeline = spacy.blank("da")
    pipeline.add_pipe("sentencizer")
    reason = (
        r"da_pipeline-0.0.0 finds neither entities nor coreference \(its components: sentencizer"
    )
    with pytest.raises(UserError, match=reason):
        as_backend(pipeline)


def test_danlp_gets_the_words_of_the_request() -> None:
    system = DaNLP()
    asked(system)
    ((words,),) = system.documents
    assert words[:3] == ["Den", "gamle", "kok"]
    assert words[-1] == "."


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([[[(0, 99)]]], "with the cluster"),
        ([[[(5, 5)]]], "with the cluster"),
        ([[["kok", "han"]]], "with the cluster"),
        ([[(0, 13)]], "with the cluster"),
        ([], "gives 0 answers to 1 texts"),
        (None, "fails on a text .* must take a list of texts"),
        (7, "fails on a text .* must take a list of texts"),
    ],
)
def test_an_answer_of_another_shape_is_one_sentence(answers: Any, reason: str) -> None:
    def system(texts: Sequence[str]) -> Any:
        return answers

    with pytest.raises(UserError, match=rf"^system .*{reason}"):
        asked(Resolver(system))


def test_an_object_that_is_nothing_we_know_is_told_what_is_expected() -> None:
    with pytest.raises(
        UserError,
        match=r"^object is not a model .*Flair.* spaCy.* gendalens\.Tagger.* transformers.*fastcoref",
    ):
        as_backend(object())


def test_a_system_that_predicts_something_else_is_not_taken_for_fastcoref() -> None:
    class Classifier:
        def predict(self, X: Any) -> Any:
            pytest.fail("asked")

    with pytest.raises(UserError, match=r"^Classifier is not a model"):
        as_backend(Classifier())


def test_whatever_goes_wrong_inside_a_system_names_it() -> None:
    class Broken(FastCoref):
        name = "my resolver"

        def predict(self, texts: list[str]) -> list[Any]:
            raise KeyError("no such head")

    with pytest.raises(UserError, match=r"my resolver .*KeyError: 'no such head'"):
        asked(Broken())


def test_out_of_memory_is_left_to_the_engine() -> None:
    def system(texts: Sequence[str]) -> Any:
        raise RuntimeError("CUDA out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        asked(Resolver(system))


def test_backends_and_control_models_stay_what_they_are() -> None:
    control, resolver = Control("fair", 0.0), as_backend(Resolver(function))
    assert as_backend(control) is control
    assert as_backend(resolver) is resolver


def test_an_object_is_asked_anew_in_every_run(tmp_path: Path) -> None:
    calls: list[int] = []

    def first_letters(texts: Sequence[str]) -> list[Any]:
        calls.append(len(texts))
        return [[[(0, 1), (1, 2)]] for _ in texts]

    data = small_data(tmp_path)
    for _ in range(2):
        results = gendalens.run(gendalens.Resolver(first_letters), data=data)
        assert [result.task for result in results] == ["coref-abc", "coref-dawinobias"]
        assert {result.finding.headline for result in results} == {"not_measurable"}
        assert results[0].model.name == "first_letters"
    assert sum(calls) == 2 * (192 + 72)


def test_two_systems_of_one_name_are_not_written_to_one_folder(tmp_path: Path) -> None:
    class Named(FastCoref):
        def __init__(self, name: str = "") -> None:
            self.name = name

    data, out = small_data(tmp_path), tmp_path / "runs"
    with pytest.raises(UserError, match=r"Two of the systems are called Named .* pass a mapping"):
        gendalens.run([Named(), Named()], data=data, out=out)
    assert not out.exists()
    # The same object twice is the same result; without a folder nothing is overwritten.
    same = Named()
    tests: dict[str, Any] = {"data": data, "tasks": "coref-abc", "sample": 8}
    assert len(gendalens.run([same, same], out=out, **tests)) == 2
    assert len(gendalens.run([Named(), Named()], **tests)) == 2
    assert len(gendalens.run([Named("one"), Named("two")], out=out, **tests)) == 2
    named = {"three": Named(), "four": Named()}
    assert len(gendalens.run(named, out=out, **tests)) == 2
    folders = {folder.name for folder in out.iterdir() if folder.is_dir()}
    assert folders == {"Named", "one", "two", "three", "four"}
