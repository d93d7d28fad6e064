"""Functions wrapped as taggers, scorers and resolvers, and what they may answer."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from asking import answer_all
from small_data import small_data

import gendalens
from gendalens.errors import UserError
from gendalens.models.huggingface.causal import CausalLM
from gendalens.models.objects.choice import as_backend
from gendalens.models.objects.given import Given, list_models
from gendalens.models.requests import Fill, FillAnswer, Score, ScoreAnswer, Tag, TagAnswer

TEXT = "Bo så Åse i Århus."


def find_names(texts: Sequence[str]) -> list[Any]:
    return [[(*m.span(), "PER") for m in re.finditer(r"[A-ZÆØÅ]\w+", text)] for text in texts]


def score_by_length(texts: Sequence[str]) -> list[Any]:
    return [(-0.5 * len(text), len(text.split())) for text in texts]


def test_a_tagger_gives_entities_under_its_own_labels() -> None:
    backend = as_backend(gendalens.Tagger(find_names, labels=["PER", "GPE"]))
    assert backend.labels == ("PER", "GPE")
    assert backend.answers == {"tag"}
    assert str(backend.info.kind) == "named entity recogniser (a function)"
    assert answer_all(backend, [Tag(TEXT), Tag("")]) == {
        Tag(TEXT): TagAnswer(((0, 2, "PER"), (6, 9, "PER"), (12, 17, "PER"))),
        Tag(""): TagAnswer(()),
    }


def test_a_tagger_takes_the_test_of_entities() -> None:
    model = gendalens.Tagger(find_names, labels=["PER"], name="capitals")
    (result,) = gendalens.run(model, data="builtin", sample=30, repeats=2)
    assert (result.task, result.model.name, result.model.revision) == (
        "ner-dane",
        "capitals",
        "object",
    )


def test_a_scorer_answers_as_the_causal_model_that_it_asks(tmp_path: Path) -> None:
    tokenizer = tiny.gemma()
    model = tiny.llama_model(tokenizer)
    causal = as_backend(Given(model, tokenizer))
    assert isinstance(causal, CausalLM)

    def score(texts: list[str]) -> list[Any]:
        answers = causal.answer(causal.encode([Score(text) for text in texts]))
        return [(one.log_likelihood, one.tokens) for one in answers if isinstance(one, ScoreAnswer)]

    scorer = as_backend(gendalens.Scorer(score))
    fills = [Fill("Så ", " båden.", ("så hun", "så han")), Fill("Det er ", " hus.", ("hans",))]
    scores = [Score(text) for text in tiny.SENTENCES]
    expected, found = answer_all(causal, [*fills, *scores]), answer_all(scorer, [*fills, *scores])
    for request in scores:
        one, other = expected[request], found[request]
        assert isinstance(one, ScoreAnswer)
        assert isinstance(other, ScoreAnswer)
        assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-4)
        assert one.tokens == other.tokens
    for fill in fills:
        one, other = expected[fill], found[fill]
        assert isinstance(one, FillAnswer)
        assert isinstance(other, FillAnswer)
        assert one.log_probs == pytest.approx(other.log_probs, abs=1e-4)
        assert other.first is None
        assert np.ptp(one.pieces) == np.ptp(other.pieces)
    options: dict[str, Any] = {"data": small_data(tmp_path), "cache": False}
    by_model = gendalens.run((model, tokenizer), **options)
    by_function = gendalens.run(gendalens.Scorer(score), **options)
    assert [one.task for one in by_function] == ["lm-abc", "lm-dawinobias"]
    for result, again in zip(by_model, by_function, strict=True):
        assert result.gap.value == pytest.approx(again.gap.value, abs=1e-4)


def test_a_continuation_is_what_it_adds_to_its_beginning() -> None:
    backend = as_backend(gendalens.Scorer(score_by_length))
    request = Score(" sov længe.", given="Katten")
    answer = answer_all(backend, [request])[request]
    assert answer == ScoreAnswer(-0.5 * len(request.text), 2)


def test_each_distinct_sentence_is_asked_once() -> None:
    asked: list[str] = []

    def score(texts: list[str]) -> list[Any]:
        asked.extend(texts)
        return score_by_length(texts)

    backend = as_backend(gendalens.Scorer(score))
    answer_all(
        backend, [Fill("Her er ", ".", ("han", "hun")), Fill("Her er ", ".", ("hun", "ham"))]
    )
    assert sorted(asked) == ["Her er ham.", "Her er han.", "Her er hun."]


@pytest.mark.parametrize("number", [np.float32(-2.5), torch.tensor(-2.5), -2.5])
def test_numbers_of_other_libraries_are_numbers(number: Any) -> None:
    backend = as_backend(gendalens.Scorer(lambda texts: [(number, np.int64(3)) for _ in texts]))
    assert answer_all(backend, [Score("Bo.")]) == {Score("Bo."): ScoreAnswer(-2.5, 3)}


@pytest.mark.parametrize(
    "answer",
    [
        (2.5, 3),  # a loss
        (-2.5, 0),
        (-2.5, 3.0),
        ("-2.5", 3),
        (math.nan, 3),
        (-math.inf, 3),
        (torch.tensor([-1.0, -2.0]), 3),
        -2.5,
        (-2.5,),
        None,
    ],
)
def test_a_score_that_is_no_log_likelihood_is_one_sentence(answer: Any) -> None:
    def mine(texts: list[str]) -> list[Any]:
        return [answer for _ in texts]

    backend = as_backend(gendalens.Scorer(mine))
    with pytest.raises(UserError, match=r"^mine answers “Bo\.” with .* at most 0, .* at least 1"):
        answer_all(backend, [Score("Bo.")])


@pytest.mark.parametrize(
    "entity",
    [
        (0, 99, "PER"),
        (-1, 2, "PER"),
        (2, 2, "PER"),
        (0.0, 2.0, "PER"),
        (0, 2),
        (0, 2, None),
        "PER",
        None,
    ],
)
def test_an_entity_outside_the_text_or_of_another_shape_is_one_sentence(entity: Any) -> None:
    def mine(texts: list[str]) -> list[Any]:
        return [[entity] for _ in texts]

    backend = as_backend(gendalens.Tagger(mine, labels=["PER"]))
    with pytest.raises(UserError, match=r"^mine answers “Bo så .* with the entity .*in characters"):
        answer_all(backend, [Tag(TEXT)])


def test_a_label_that_was_not_declared_is_named() -> None:
    backend = as_backend(
        gendalens.Tagger(lambda texts: [[(0, 2, "X")] for _ in texts], labels=["PER"])
    )
    with pytest.raises(UserError, match=r"finds “X”, which is none of the labels .* \(PER\)"):
        answer_all(backend, [Tag(TEXT)])


def raise_error(texts: Sequence[str]) -> Any:
    raise KeyError("no such head")


@pytest.mark.parametrize("wrap", [gendalens.Scorer, gendalens.Resolver, "tagger"])
def test_a_function_that_raises_or_gives_too_few_answers_is_named(wrap: Any) -> None:
    if wrap == "tagger":

        def wrap(function: Any) -> Any:
            return gendalens.Tagger(function, labels=["PER"])

    for function, reason in (
        (
            raise_error,
            r"raise_error .* fails on a text such as .*KeyError: 'no such head'.* must take",
        ),
        (lambda texts: [], r"<lambda> gives 0 answers to \d+ texts"),
    ):
        with pytest.raises(UserError, match=reason):
            gendalens.run(wrap(function), data="builtin", sample=4)


def test_what_was_answered_before_a_failure_is_kept(tmp_path: Path) -> None:
    """With a version, the answers of a function are cached, batch by batch."""
    asked: list[str] = []

    def score(texts: list[str]) -> list[Any]:
        if broken and asked:
            raise RuntimeError("the server is gone")
        asked.extend(texts)
        return score_by_length(texts)

    options: dict[str, Any] = {"data": small_data(tmp_path), "tasks": "lm-abc", "batch_tokens": 64}
    broken = True
    model = gendalens.Scorer(score, name="remote", version="1")
    with pytest.raises(UserError, match="the server is gone"):
        gendalens.run(model, **options)
    first = list(asked)
    assert first
    broken = False
    asked.clear()
    (result,) = gendalens.run(model, **options)
    assert asked
    assert not set(first) & set(asked)
    assert result.model.revision == "1"
    asked.clear()
    gendalens.run(gendalens.Scorer(score, name="remote", version="1"), **options)
    assert not asked
    gendalens.run(gendalens.Scorer(score, name="remote", version="2"), **options)
    assert asked


def test_without_a_version_a_function_is_asked_anew() -> None:
    calls: list[int] = []

    def tag(texts: list[str]) -> list[Any]:
        calls.append(len(texts))
        return find_names(texts)

    for _ in range(2):
        gendalens.run(gendalens.Tagger(tag, labels=["PER"]), data="builtin", sample=4, repeats=1)
    assert sum(calls) == 2 * sum(calls[: len(calls) // 2])


def test_other_labels_make_another_version() -> None:
    one, other = (
        as_backend(gendalens.Tagger(find_names, labels=labels, name="x", version="1")).fingerprint()
        for labels in (["PER"], ["PER", "LOC"])
    )
    assert one != other


@pytest.mark.parametrize(
    ("wrapper", "function", "options", "reason"),
    [
        (
            gendalens.Tagger,
            "my-model",
            {"labels": ["PER"]},
            "Tagger takes a function, not 'my-model'",
        ),
        (gendalens.Scorer, score_by_length, {"version": "1"}, "has a version and no name"),
        (gendalens.Tagger, find_names, {"labels": "PER"}, "labels of find_names are 'PER'"),
        (gendalens.Tagger, find_names, {"labels": [1]}, r"labels of find_names are \[1\]"),
    ],
)
def test_a_mistake_in_wrapping_is_told_at_once(
    wrapper: Any, function: Any, options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(UserError, match=reason):
        wrapper(function, **options)


@pytest.mark.parametrize("function", [find_names, lambda texts: texts, str.split, print])
def test_a_bare_function_is_told_the_three_wrappers(function: Any) -> None:
    with pytest.raises(UserError, match=r"Tagger \(.*Scorer \(.*Resolver \("):
        gendalens.run(function)


def test_a_mapping_names_functions_too() -> None:
    tagger = gendalens.Tagger(find_names, labels=["PER"])
    (given,) = list_models({"mine": tagger})
    assert as_backend(given).info.name == "mine"
