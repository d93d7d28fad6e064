from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from small_data import small_data

from gendalens.data.dawinobias import WinoLine
from gendalens.data.registry import find_source
from gendalens.models.control import Control
from gendalens.models.requests import Answer, FillAnswer, Request
from gendalens.results.model_info import ModelInfo
from gendalens.results.result import Extra, Measures, Record, Result
from gendalens.stats.estimate import SIDE_ZERO
from gendalens.tasks.lm_dawinobias.messages import (
    FORCED,
    INSENSITIVE,
    NO_FIRST_CHOICE,
    NO_RIGHT_PRONOUN,
    NO_WHOLE_SCHEMA,
    SAME_ANSWER,
)
from gendalens.tasks.lm_dawinobias.protocol2 import TASK, make_request
from gendalens.tasks.lm_dawinobias.schemas import compute_statistics
from gendalens.words import phrase


@pytest.fixture
def items(tmp_path: Path) -> list[WinoLine]:
    folder = small_data(tmp_path)["dawinobias"]
    return TASK.items({"dawinobias": find_source("dawinobias", override=folder)})


def record_choices(
    items: list[WinoLine], choose: Mapping[int, str], first: str | None = "same"
) -> list[Record]:
    """Records of a model that prefers the named gender in each line (1-based)."""
    answers: dict[Request, Answer] = {}
    for item in items:
        gender = choose.get(item.line, "male")
        odds = 1.0 + item.line / 1000  # never two alike, or the model would be called constant
        log_probs = (odds, 0.0) if gender == "female" else (0.0, odds)
        pair = {
            "female": make_request(item).candidates[0],
            "male": make_request(item).candidates[1],
        }
        word = pair[gender] if first == "same" else first
        answers[make_request(item)] = FillAnswer(log_probs, (1, 1), word)
    return TASK.records(items, answers)


def extras_by_id(measures: Measures) -> dict[str, Extra]:
    return {extra.id: extra for extra in measures.extra}


def test_pro_and_anti_ask_the_same(items: list[WinoLine]) -> None:
    assert len(items) == 72
    assert len(set(TASK.requests(items))) == 36


def test_a_request_holds_the_pair_of_the_same_case_and_the_others_as_rivals(
    items: list[WinoLine],
) -> None:
    objects = next(item for item in items if item.case == "object")
    asked = make_request(objects)
    assert asked.candidates == ("hende", "ham")
    assert set(asked.rivals) == {"han", "hun", "hans", "hendes"}
    assert asked.left + objects.pronoun + asked.right == objects.text


def test_f1_of_a_condition_is_the_mean_of_both_genders_worked_by_hand(
    items: list[WinoLine],
) -> None:
    # Of the first two schemas (lines 1 to 4), pro gold: male, female, male, female. The answers are
    # male, female, male, male: female F1 = 2/3 (tp 1, fn 1), male F1 = 4/5 (tp 2, fp 1).
    few = [item for item in items if item.line <= 4]
    records = record_choices(few, {1: "male", 2: "female", 3: "male", 4: "male"})
    measures = TASK.measure(records, seed=0)
    pro = (2 / 3 + 4 / 5) / 2
    # Anti gold is the other way round: female tp 0, fp 1, fn 2 = 0; male tp 1, fp 2, fn 1 = 2/5.
    anti = (0 + 2 / 5) / 2
    values = {cell.condition: cell.value for cell in measures.conditions}
    assert values == {"anti": pytest.approx(anti), "pro": pytest.approx(pro)}
    assert measures.gender_effect_size.value == pytest.approx(math.log2(pro / anti))
    assert measures.gap.value == pytest.approx(pro - anti)
    cells = {(c.condition, c.group): c.value for c in measures.nuance}
    assert cells["pro", "female pronouns"] == pytest.approx(2 / 3)
    assert cells["anti", "male pronouns"] == pytest.approx(2 / 5)
    # The contrast is between the pronouns, over both conditions.
    assert measures.contrast.value == pytest.approx((4 / 5 + 2 / 5) / 2 - (2 / 3 + 0) / 2)
    extra = extras_by_id(measures)
    assert extra["male_default"].value == pytest.approx(3 / 4)
    assert extra["sensitivity"].value == pytest.approx(1 / 2)
    assert extra["accuracy_pro"].value == pytest.approx(3 / 4)


def test_the_mean_f1_of_a_model_that_always_says_han_is_a_third() -> None:
    # 10 + 10 lines a condition: female F1 0, male F1 2·10/(20+10) = 2/3. Without female lines none.
    han = [0, 0, 10, 10, 10, 0]
    no_women = [0, 0, 0, 10, 0, 0]
    found = compute_statistics(np.array([[*han, *no_women, *[1.0] * 8]]))
    assert found.anti[0] == pytest.approx(1 / 3)
    assert found.anti_male[0] == pytest.approx(2 / 3)
    assert np.isnan(found.pro[0])


def test_within_schema_contrast_is_the_difference_of_log_odds_in_bits(
    items: list[WinoLine],
) -> None:
    few = [item for item in items if item.line <= 4]
    records = record_choices(few, {1: "male", 2: "female", 3: "male", 4: "male"})
    odds = {1: 1.001, 2: -1.002, 3: 1.003, 4: 1.004}
    expected = ((odds[1] - odds[2]) + (odds[3] - odds[4])) / 2 / math.log(2)
    contrast = extras_by_id(TASK.measure(records, seed=0))["within_schema_contrast"]
    assert contrast.value == pytest.approx(expected)


def test_an_answer_that_is_no_pronoun_is_a_miss_and_no_false_alarm(items: list[WinoLine]) -> None:
    few = [item for item in items if item.line <= 4]
    records = record_choices(few, {2: "female", 4: "female"})
    for row in records:
        if row["line"] == 3:
            row.update(first="den", open="none", open_right=False)
    measures = TASK.measure(records, seed=0)
    cells = {(c.condition, c.group): c.value for c in measures.nuance}
    # Male: tp 1, fn 1, fp 0; female untouched.
    assert cells["pro", "male pronouns"] == pytest.approx(2 / 3)
    assert cells["pro", "female pronouns"] == 1
    assert measures.coverage["out_of_set_answers"] == 1
    assert measures.coverage["most_frequent_out_of_set"] == ["den"]


def test_capitals_do_not_make_a_pronoun_unknown(items: list[WinoLine]) -> None:
    records = record_choices(items, {}, first="Hun")
    assert {row["open"] for row in records} == {"female"}


def test_a_pronoun_in_the_wrong_case_counts_by_gender_and_is_reported(
    items: list[WinoLine],
) -> None:
    records = record_choices(items, {}, first="hendes")
    assert {row["open"] for row in records} == {"female"}
    assert TASK.measure(records, seed=0).coverage["wrong_case_answers"] == 36


def test_a_model_that_always_says_han_is_biased_in_groups_though_its_effect_is_zero(
    items: list[WinoLine],
) -> None:
    measures = TASK.measure(record_choices(items, {}), seed=0)
    assert measures.gender_effect_size.value == pytest.approx(0)
    assert measures.finding.main.verdict == "not_measurable"
    assert measures.finding.main.reason == INSENSITIVE(share=0.0)
    assert str(measures.finding) == "bias found in groups (large)"
    assert measures.finding.groups.direction == "male pronouns"
    assert str(measures.finding.main.reason) == (
        "the answer does not depend on who is meant (it differs in only 0% of the schemas)"
    )
    assert extras_by_id(measures)["male_default"].value == 1
    assert measures.problem is None


def test_a_causal_model_is_judged_by_the_forced_reading(items: list[WinoLine]) -> None:
    choose = {i.line: i.referent.stereotype for i in items}
    measures = TASK.measure(record_choices(items, choose, first=None), seed=0)
    assert measures.coverage["headline_reading"] == "forced"
    assert extras_by_id(measures)["ges_open"].reason == NO_FIRST_CHOICE()
    assert measures.finding.main.direction == "pro-stereotypical"


def make_result(measures: Measures) -> Result:
    return Result(
        task="lm-dawinobias",
        protocol=2,
        model=ModelInfo("scripted", phrase("scripted model"), "1", "float32"),
        data={},
        signature="",
        harms={},
        sources={},
        **{one.name: getattr(measures, one.name) for one in fields(Measures)},
    )


def test_models_are_compared_by_the_forced_reading_whichever_is_their_headline(
    items: list[WinoLine],
) -> None:
    half = {i.line: i.referent.stereotype if i.line % 3 else "male" for i in items}
    causal = TASK.measure(record_choices(items, half, first=None), seed=0)
    masked = TASK.measure(record_choices(items, half, first="Hun"), seed=0)
    assert masked.coverage["headline_reading"] == "open"
    one, other = (TASK.compared_figures(make_result(found)) for found in (causal, masked))
    assert one.note == other.note == FORCED.name
    assert one.effect == causal.gender_effect_size
    assert (other.effect.value, other.gap.value) == (one.effect.value, one.gap.value)
    assert one.finding == causal.finding
    for part in ("main", "groups"):
        mine, theirs = getattr(one.finding, part), getattr(other.finding, part)
        assert [e.value for e in mine.evidence] == [e.value for e in theirs.evidence]
        assert mine.verdict == theirs.verdict
    # Its own word never depends on who is meant.
    assert masked.finding.main.evidence[0].value == pytest.approx(0)
    assert masked.finding.main.doubt is not None


def test_a_condition_with_nothing_right_is_undefined_with_a_reason(items: list[WinoLine]) -> None:
    choose = {i.line: i.referent.stereotype for i in items}
    measures = TASK.measure(record_choices(items, choose), seed=0)
    effect = measures.gender_effect_size
    assert effect.value is None
    assert effect.reason == SIDE_ZERO(side="F1 of the anti lines")
    assert measures.gap.value == 1
    assert measures.problem is None
    assert str(measures.finding) == "bias found (large)"


def test_a_model_without_one_right_pronoun_is_a_problem(items: list[WinoLine]) -> None:
    records = record_choices(items, {i.line: i.referent.stereotype for i in items}, first="den")
    measures = TASK.measure(records, seed=0)
    assert measures.problem == NO_RIGHT_PRONOUN()
    assert measures.finding.headline == "not_measurable"


def test_the_same_answer_everywhere_is_a_problem(items: list[WinoLine]) -> None:
    answers: dict[Request, Answer] = {
        make_request(i): FillAnswer((-1.0, -1.0), (1, 1), None) for i in items
    }
    measures = TASK.measure(TASK.records(items, answers), seed=0)
    assert measures.problem == SAME_ANSWER()
    assert measures.finding.headline == "not_measurable"


def test_pronouns_of_unequal_length_are_counted(items: list[WinoLine]) -> None:
    answers: dict[Request, Answer] = {
        make_request(i): FillAnswer((-1.0, -i.line / 9), (2, 1), "den", 3) for i in items
    }
    coverage = TASK.measure(TASK.records(items, answers), seed=0).coverage
    assert coverage["pairs_of_unequal_pieces"] == 36
    assert coverage["pieces_per_pronoun"] == {"female": 2, "male": 1}
    assert coverage["unknown_tokens"] == 3 * 36


def test_a_sample_holds_whole_schemas_and_keeps_the_shares(items: list[WinoLine]) -> None:
    part = TASK.sample(items, 6, seed=1)
    assert len(part) == 24
    assert sum(item.case == "object" for item in part) == 12
    assert part == TASK.sample(items, 6, seed=1)
    assert part != TASK.sample(items, 6, seed=2)


def test_without_a_line_for_both_occupations_the_contrast_within_schemas_says_why(
    items: list[WinoLine],
) -> None:
    first: dict[int, str] = {}
    kept = [
        item
        for item in items
        if first.setdefault(item.schema, item.referent.stereotype) == item.referent.stereotype
    ]
    assert 0 < len(kept) < len(items)
    measures = TASK.measure(record_choices(kept, {}), seed=0, resamples=50)
    contrast = extras_by_id(measures)["within_schema_contrast"]
    assert (contrast.value, contrast.n) == (None, 0)
    assert contrast.reason == NO_WHOLE_SCHEMA()


def test_planted_stereotypes_are_measured_and_grow(items: list[WinoLine]) -> None:
    # A larger set: the same lines as if they were forty different sets of schemas.
    gaps = []
    for strength in (0.0, 0.25, 0.5, 0.75):
        records: list[Record] = []
        for copy in range(40):
            control = Control("stereotyped", strength, seed=copy)
            rows = TASK.records(items, TASK.plant(items, control))
            records += [{**row, "schema": (copy, row["schema"])} for row in rows]
        for row in records:
            row["line"] = (row["schema"], row["line"])
        gap = TASK.measure(records, seed=0, resamples=400).gap
        assert gap.low is not None
        assert gap.high is not None
        assert gap.low < strength < gap.high
        gaps.append(gap.value or 0.0)
    assert gaps == sorted(gaps)


def test_a_control_model_splits_its_log_odds_evenly_between_the_pronouns(
    items: list[WinoLine],
) -> None:
    answers = TASK.plant(items, Control("stereotyped", 0.8, seed=3))
    for answer in answers.values():
        assert isinstance(answer, FillAnswer)
        female, male = answer.log_probs
        assert female == -male
        assert (answer.first in ("han", "ham", "hans")) == (male > 0)
