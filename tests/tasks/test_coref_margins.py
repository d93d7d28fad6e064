"""Resolvers that weigh candidates: margins, and the headline without the correction."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from small_data import small_data

from gendalens.data.registry import source
from gendalens.models.base import Answer, Request, Resolve, ResolveAnswer, link_best
from gendalens.results.result import Measures
from gendalens.tasks.coref_abc.protocol2 import TASK as ABC
from gendalens.tasks.coref_abc.protocol2 import sentences
from gendalens.tasks.coref_dawinobias import protocol2 as coref_dawinobias
from gendalens.tasks.coref_dawinobias.protocol2 import TASK as WINO
from gendalens.tasks.shared.coref_links import request

BIT = math.log(2)


def weighed(asked: Resolve, scores: list[float], plain: list[float]) -> ResolveAnswer:
    return ResolveAnswer(link_best(asked, scores), tuple(scores), tuple(plain), unknown=1)


@pytest.fixture
def wino(tmp_path: Path) -> Measures:
    """The right occupation leads by 2 bits in pro lines and trails by 1 in anti lines; 4 less each
    without the correction.
    """
    folder = small_data(tmp_path)["dawinobias"]
    items = WINO.items({"dawinobias": source("dawinobias", override=folder)})
    answers: dict[Request, Answer] = {}
    for item in items:
        asked = coref_dawinobias.request(item)
        # One anti line in four is right, so that the effect is defined.
        bits = 2.0 if item.condition == "pro" else 1.0 if item.line % 4 == 0 else -1.0
        first = asked.candidates[0] == (item.referent.span.start, item.referent.span.end)
        right, plain = bits * BIT, (bits - 4) * BIT
        answers[asked] = weighed(
            asked, [right, 0.0] if first else [0.0, right], [plain, 0.0] if first else [0.0, plain]
        )
    records = WINO.records(items, answers)
    assert records[0]["margin"] == pytest.approx(2 * BIT)
    assert records[0]["margin_uncorrected"] == pytest.approx(-2 * BIT)
    assert (records[0]["outcome"], records[0]["outcome_uncorrected"]) == ("right", "wrong")
    return WINO.measure(records, seed=0, resamples=200)


def test_the_margin_of_the_right_occupation_is_compared_within_lines(wino: Measures) -> None:
    beside = {extra.name: extra for extra in wino.extra}
    margin = beside["margin of the right occupation, pro - anti"]
    # By hand: 3 bits in three lines of four, 1 bit in the fourth.
    assert margin.value == pytest.approx(2.5)
    assert margin.n == 36
    assert wino.coverage["unknown_tokens"] == 72
    assert any("72 tokens are unknown" in warning for warning in wino.warnings)


def test_the_uncorrected_headline_stands_beside_and_warns_where_it_differs(wino: Measures) -> None:
    assert wino.conditions[1].value == 1
    assert wino.verdict == "bias found"
    beside = {extra.name: extra for extra in wino.extra}
    assert beside["gap, uncorrected"].value == 0
    assert "F1 of the pro lines" in str(beside["GES, uncorrected"].reason)
    assert any("Without the correction" in warning for warning in wino.warnings)


def test_the_margin_of_the_subject_is_compared_within_triples_and_classes(tmp_path: Path) -> None:
    folder = small_data(tmp_path)["abc"]
    items = ABC.items({"abc": source("abc", override=folder)})
    answers: dict[Request, Answer] = {}
    for item in items:
        of_male = item.occupation_class == "male"
        for condition, text, pronoun in sentences(item):
            bits = {"female": 1.0, "male": 5.0 if of_male else 2.0, "reflexive": 9.0}[condition]
            asked = request(text, pronoun, (item.subject,))
            answers[asked] = weighed(asked, [bits * BIT, 0.0], [(bits - 1.5) * BIT, 0.0])
    measures = ABC.measure(ABC.records(items, answers), seed=0, resamples=200)
    beside = {extra.name: extra for extra in measures.extra}
    # By hand: 4 bits in male occupations, 1 in female ones.
    assert beside["margin of the subject, hans - hendes"].value == pytest.approx(2.5)
    assert beside["class contrast of that margin"].value == pytest.approx(3.0)
    assert [cell.value for cell in measures.conditions] == [1, 1, 1]
    assert any("chosen in 100%" in warning for warning in measures.warnings)
    assert beside["gap, uncorrected"].value == 1
    assert beside["hit rate, uncorrected"].value == 1
    assert any("'bias found'" in warning for warning in measures.warnings)


def test_systems_that_search_have_no_margins(tmp_path: Path) -> None:
    folder = small_data(tmp_path)["abc"]
    items = ABC.items({"abc": source("abc", override=folder)})
    answers: dict[Request, Answer] = {
        asked: ResolveAnswer(link_best(asked, [1.0, 0.0]))
        for item in items
        for _, text, pronoun in sentences(item)
        for asked in [request(text, pronoun, (item.subject,))]
    }
    records = ABC.records(items, answers)
    assert not any("margin" in row for row in records)
    measures = ABC.measure(records, seed=0, resamples=100)
    assert not any("margin" in extra.name for extra in measures.extra)
    assert "unknown_tokens" not in measures.coverage
    assert measures.warnings == ()
