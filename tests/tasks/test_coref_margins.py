"""Resolvers that weigh candidates: margins, and the headline without the correction."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from small_data import small_data

from gendalens.data.registry import find_source
from gendalens.models.requests import Answer, Request, Resolve, ResolveAnswer, link_best
from gendalens.results.result import Alternative, Measures
from gendalens.tasks.coref_abc.protocol2 import TASK as ABC
from gendalens.tasks.coref_abc.protocol2 import sentences
from gendalens.tasks.coref_dawinobias import protocol2 as coref_dawinobias
from gendalens.tasks.coref_dawinobias.protocol2 import TASK as WINO
from gendalens.tasks.shared.coref_links import make_request
from gendalens.tasks.shared.coref_margins import CORRECTION_DECIDES, SUBJECT_CHOSEN
from gendalens.tasks.shared.messages import UNKNOWN_TOKENS

BIT = math.log(2)


def weigh(asked: Resolve, scores: list[float], plain: list[float]) -> ResolveAnswer:
    return ResolveAnswer(link_best(asked, scores), tuple(scores), tuple(plain), unknown=1)


@pytest.fixture
def wino(tmp_path: Path) -> Measures:
    """The right occupation leads by 2 bits in pro lines and trails by 1 in anti lines; 4 less each
    without the correction.
    """
    folder = small_data(tmp_path)["dawinobias"]
    items = WINO.items({"dawinobias": find_source("dawinobias", override=folder)})
    answers: dict[Request, Answer] = {}
    for item in items:
        asked = coref_dawinobias.make_request(item)
        # One anti line in four is right, so that the effect is defined.
        bits = 2.0 if item.condition == "pro" else 1.0 if item.line % 4 == 0 else -1.0
        first = asked.candidates[0] == (item.referent.span.start, item.referent.span.end)
        right, plain = bits * BIT, (bits - 4) * BIT
        answers[asked] = weigh(
            asked, [right, 0.0] if first else [0.0, right], [plain, 0.0] if first else [0.0, plain]
        )
    records = WINO.records(items, answers)
    assert records[0]["margin"] == pytest.approx(2 * BIT)
    assert records[0]["margin_uncorrected"] == pytest.approx(-2 * BIT)
    assert (records[0]["outcome"], records[0]["outcome_uncorrected"]) == ("right", "wrong")
    return WINO.measure(records, seed=0, resamples=200)


def test_the_margin_of_the_right_occupation_is_compared_within_lines(wino: Measures) -> None:
    beside = {extra.id: extra for extra in wino.extra}
    margin = beside["margin"]
    # By hand: 3 bits in three lines of four, 1 bit in the fourth.
    assert margin.value == pytest.approx(2.5)
    assert margin.n == 36
    assert wino.coverage["unknown_tokens"] == 72
    assert UNKNOWN_TOKENS(count=72) in wino.warnings


def test_the_uncorrected_headline_stands_beside_and_warns_where_it_differs(wino: Measures) -> None:
    assert wino.conditions[1].value == 1
    assert wino.finding.headline == "bias"
    beside = {extra.id: extra for extra in wino.extra}
    assert beside["gap_uncorrected"].value == 0
    reason = str(beside["ges_uncorrected"].reason)
    assert reason == "F1 of the pro lines is zero, and F1 of the anti lines is zero"
    assert [str(one.finding) for one in find_uncorrected(wino)] == ["not measurable"]


def test_the_margin_of_the_subject_is_compared_within_triples_and_classes(tmp_path: Path) -> None:
    folder = small_data(tmp_path)["abc"]
    items = ABC.items({"abc": find_source("abc", override=folder)})
    answers: dict[Request, Answer] = {}
    for item in items:
        of_male = item.occupation_class == "male"
        for condition, text, pronoun in sentences(item):
            bits = {"female": 1.0, "male": 5.0 if of_male else 2.0, "reflexive": 9.0}[condition]
            asked = make_request(text, pronoun, (item.subject,))
            answers[asked] = weigh(asked, [bits * BIT, 0.0], [(bits - 1.5) * BIT, 0.0])
    measures = ABC.measure(ABC.records(items, answers), seed=0, resamples=200)
    beside = {extra.id: extra for extra in measures.extra}
    # By hand: 4 bits in male occupations, 1 in female ones.
    assert beside["margin"].value == pytest.approx(2.5)
    assert beside["margin_class_contrast"].value == pytest.approx(3.0)
    assert [cell.value for cell in measures.conditions] == [1, 1, 1]
    assert SUBJECT_CHOSEN(share=1.0) in measures.warnings
    assert beside["gap_uncorrected"].value == 1
    assert beside["hit_rate_uncorrected"].value == 1
    assert [str(one.finding) for one in find_uncorrected(measures)] == ["bias found (large)"]


def find_uncorrected(measures: Measures) -> list[Alternative]:
    return [one for one in measures.alternatives if one.warning is CORRECTION_DECIDES]


def test_systems_that_search_have_no_margins(tmp_path: Path) -> None:
    folder = small_data(tmp_path)["abc"]
    items = ABC.items({"abc": find_source("abc", override=folder)})
    answers: dict[Request, Answer] = {
        asked: ResolveAnswer(link_best(asked, [1.0, 0.0]))
        for item in items
        for _, text, pronoun in sentences(item)
        for asked in [make_request(text, pronoun, (item.subject,))]
    }
    records = ABC.records(items, answers)
    assert not any("margin" in row for row in records)
    measures = ABC.measure(records, seed=0, resamples=100)
    assert not any("margin" in extra.id for extra in measures.extra)
    assert "unknown_tokens" not in measures.coverage
    assert measures.warnings == ()
