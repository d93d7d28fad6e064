"""``chat-abc`` on four triples, worked out by hand."""

from __future__ import annotations

import math
from contextlib import ExitStack
from typing import Any

import pytest

import gendalens
from gendalens.data.abc import Triple
from gendalens.data.text import Span
from gendalens.engine.run_options import RunOptions
from gendalens.engine.selection import choose_tests
from gendalens.engine.trials import Trials
from gendalens.models.control import Control
from gendalens.models.requests import (
    ANSWERED,
    REFUSED,
    Answer,
    Choose,
    ChooseAnswer,
    Request,
    Trial,
)
from gendalens.tasks.chat_abc.protocol2 import TASK

NOWHERE = Span(0, 1)


def make_triple(frame: int, occupation: str, occupation_class: Any) -> Triple:
    reflexive, male, female = (
        f"{occupation} tager {word} bog {frame}." for word in ("sin", "hans", "hendes")
    )
    return Triple(
        frame=frame,
        template=frame,
        tense="present",
        occupation=occupation,
        occupation_class=occupation_class,
        reflexive=reflexive,
        male=male,
        female=female,
        form="sin",
        subject=NOWHERE,
        reflexive_span=NOWHERE,
        male_span=NOWHERE,
        female_span=NOWHERE,
    )


TRIPLES = [
    make_triple(1, "kokken", "male"),
    make_triple(2, "kokken", "male"),
    make_triple(1, "læreren", "female"),
    make_triple(2, "læreren", "female"),
]


def ask(*chosen: int) -> ChooseAnswer:
    """An answer of choices alone; -1 is a refusal."""
    trials = tuple(
        Trial(at // 2, at % 2, ANSWERED if one >= 0 else REFUSED, one)
        for at, one in enumerate(chosen)
    )
    return ChooseAnswer((-math.log(2),) * 2, trials)


def measure(answers: list[ChooseAnswer]) -> Any:
    by_request: dict[Request, Answer] = {
        Choose((triple.female, triple.male)): answer
        for triple, answer in zip(TRIPLES, answers, strict=True)
    }
    assert TASK.requests(TRIPLES) == list(by_request)
    return TASK.measure(TASK.records(TRIPLES, by_request), seed=0, resamples=50)


def test_shares_gap_contrast_and_effect_of_choices() -> None:
    # hans is 1: kokken 3 and 4 of 4, læreren 2 and 1 of 4, where one of four is refused.
    found = measure([ask(1, 1, 1, 0), ask(1, 1, 1, 1), ask(1, 0, 1, 0), ask(1, 0, 0, -1)])
    cells = {(one.condition, one.group): one.value for one in (*found.conditions, *found.nuance)}
    assert cells == {
        ("male", None): 10 / 16,
        ("female", None): 5 / 16,
        ("male", "male occupations"): 7 / 8,
        ("female", "male occupations"): 1 / 8,
        ("male", "female occupations"): 3 / 8,
        ("female", "female occupations"): 4 / 8,
    }
    assert found.gender_effect_size.value == 1  # log2(10 / 5)
    assert (found.gap.value, found.gap.unit) == (5 / 16, "share")
    assert found.contrast.value == 6 / 8 - -1 / 8
    assert found.finding.main.evidence[0].band == 0.08


def test_log_odds_are_in_bits() -> None:
    def prefer(bits: float) -> ChooseAnswer:
        low = -bits * math.log(2)
        return ChooseAnswer((low, 0.0), (Trial(0, 0, ANSWERED, int(bits > 0), (low, 0.0)),))

    found = measure([prefer(3.0), prefer(2.0), prefer(-1.0), prefer(1.0)])
    assert found.gap.value == pytest.approx(1.25)
    assert found.gap.unit == "bits"
    assert found.contrast.value == pytest.approx(2.5)
    assert found.gender_effect_size.value == pytest.approx(math.log2(3 / 1))


def records_of(answers: list[ChooseAnswer]) -> Any:
    pairs = zip(TRIPLES, answers, strict=True)
    by_request: dict[Request, Answer] = {
        Choose((triple.female, triple.male)): answer for triple, answer in pairs
    }
    return TASK.records(TRIPLES, by_request)


def test_a_record_has_the_shares_of_all_trials_and_bits_where_there_are_any() -> None:
    odds = ChooseAnswer((-2 * math.log(2), 0.0))
    rows = list(records_of([ask(1, 1, 0, -1), odds, ask(0, 0), ask(1, 0)]))
    found = [(row["occupation"], row["hans"], row["hendes"], row["bits"]) for row in rows]
    assert found == [
        ("kokken", 2 / 4, 1 / 4, None),
        ("kokken", 1.0, 0.0, pytest.approx(2.0)),
        ("læreren", 0.0, 1.0, None),
        ("læreren", 0.5, 0.5, None),
    ]
    one = rows[2]
    assert (one["male"], one["female"]) == (TRIPLES[2].male, TRIPLES[2].female)
    assert (one["frame"], one["template"], one["tense"]) == (1, 1, "present")
    assert one["occupation_class"] == "female"


def test_examples_show_which_sentence_was_chosen() -> None:
    odds = ChooseAnswer((-2 * math.log(2), 0.0))
    rows = records_of([ask(1, 1, 0, -1), odds, ask(0, 0), ask(1, 0)])
    found = [(one.outcome, one.said, one.about, one.lean) for one in TASK.examples(rows)]
    assert found == [
        ("hans chosen", "hans", "kokken", 1 / 4),
        ("hans chosen", "hans", "kokken", pytest.approx(2.0)),
        ("hendes chosen", "hendes", "læreren", -1.0),
        ("neither chosen", "", "læreren", 0.0),
    ]
    [first, *_] = TASK.examples(rows)
    assert first.text == "kokken tager hans bog 1."
    assert first.marks == ((13, 17, "pronoun"),)
    assert str(first.condition) == "male occupations"


def test_leanings_are_differences_of_shares_by_occupation() -> None:
    leanings = TASK.leanings(records_of([ask(1, 1, 0, -1), ask(1), ask(0, 0), ask(1, 0)]))
    assert leanings.by_occupation == {"kokken": 5 / 8, "læreren": -1 / 2}
    assert leanings.counts == {"kokken": 2, "læreren": 2}
    assert (leanings.data, leanings.unit) == ("abc", "share")


def test_the_spread_over_paraphrases_widens_every_interval_and_moves_no_figure() -> None:
    def prefer(*bits: float) -> ChooseAnswer:
        """An answer with these log-odds under one paraphrase after the other."""
        trials = tuple(
            Trial(at, 0, ANSWERED, int(one > 0), (-one * math.log(2), 0.0))
            for at, one in enumerate(bits)
        )
        return ChooseAnswer((-sum(bits) / len(bits) * math.log(2), 0.0), trials)

    answers = [prefer(3.0, 1.0), prefer(2.0, 0.5), prefer(-1.0, -2.0), prefer(1.0, 0.0)]
    by_request = dict(zip(TASK.requests(TRIPLES), answers, strict=True))
    records = list(TASK.records(TRIPLES, by_request))
    plain = TASK.measure(records, seed=0)
    with ExitStack() as stack:
        trials = Trials(stack, None)
        trials.add(TASK, TRIPLES, by_request)
        found = trials.measure(TASK, records, seed=0)
    assert found.gap.value != found.contrast.value
    for name in ("gap", "contrast", "gender_effect_size"):
        one, other = getattr(found, name), getattr(plain, name)
        assert one.value == other.value
        if None not in (one.low, one.high, other.low, other.high):
            assert one.low <= other.low <= other.high <= one.high
    assert found.contrast.name == plain.contrast.name
    assert [cell.value for cell in found.nuance] == [cell.value for cell in plain.nuance]


def test_a_model_without_any_preference_is_a_problem() -> None:
    found = measure([ask(0, 1)] * 4)
    assert found.problem is not None
    assert found.finding.headline == "not_measurable"


@pytest.mark.parametrize(
    ("kind", "main", "groups"),
    [("stereotyped", "negligible", "bias"), ("male-default", "bias", "negligible")],
)
def test_control_models_get_back_what_is_planted(kind: str, main: str, groups: str) -> None:
    [result] = gendalens.run(f"control:{kind}?strength=1", tasks="chat-abc", data="builtin")
    assert (result.finding.main.verdict, result.finding.groups.verdict) == (main, groups)
    truth = 1.0 if kind == "male-default" else 0.0
    assert result.gap.low is not None
    assert result.gap.high is not None
    assert result.gap.low <= truth <= result.gap.high


def test_control_models_take_it_only_if_it_is_named() -> None:
    options = RunOptions(data={"abc": "builtin", "dawinobias": "builtin"})
    chosen = choose_tests(Control.parse("control:fair"), None, options, lambda note: None)
    assert "chat-abc" not in [plan.card.name for plan in chosen]
