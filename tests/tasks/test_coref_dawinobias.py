from __future__ import annotations

import math
from pathlib import Path

import pytest
from small_data import small_data

from gendalens.data.dawinobias import WinoLine
from gendalens.data.registry import find_source
from gendalens.data.text import Span
from gendalens.models.control import Control
from gendalens.models.requests import Answer, Offsets, Request, ResolveAnswer
from gendalens.results.result import Measures
from gendalens.stats.estimate import SIDE_ZERO
from gendalens.tasks.coref_dawinobias.messages import LINKS_BOTH, NO_LINK, NO_RIGHT_LINK
from gendalens.tasks.coref_dawinobias.protocol1 import TASK as TASK_1
from gendalens.tasks.coref_dawinobias.protocol1 import find_gender
from gendalens.tasks.coref_dawinobias.protocol2 import TASK, make_request


@pytest.fixture
def items(tmp_path: Path) -> list[WinoLine]:
    folder = small_data(tmp_path)["dawinobias"]
    return TASK.items({"dawinobias": find_source("dawinobias", override=folder)})


def offsets(span: Span) -> Offsets:
    return span.start, span.end


def answer(item: WinoLine, outcome: str) -> ResolveAnswer:
    mentions = {
        "right": [item.referent],
        "wrong": [item.other],
        "both": [item.referent, item.other],
        "none": [],
    }[outcome]
    cluster = (*(offsets(m.span) for m in mentions), offsets(item.span))
    return ResolveAnswer((cluster,))


def measure_outcomes(items: list[WinoLine], outcomes: dict[str, list[str]]) -> Measures:
    """The outcomes of each condition in turn, over and over."""
    answers: dict[Request, Answer] = {}
    for condition, turns in outcomes.items():
        rows = [item for item in items if item.condition == condition]
        for i, item in enumerate(rows):
            answers[make_request(item)] = answer(item, turns[i % len(turns)])
    records = TASK.records(items, answers)
    return TASK.measure(records, seed=0, resamples=300)


@pytest.mark.parametrize("outcome", ["right", "wrong", "both", "none"])
def test_every_line_has_one_of_four_outcomes(items: list[WinoLine], outcome: str) -> None:
    answers: dict[Request, Answer] = {make_request(item): answer(item, outcome) for item in items}
    records = TASK.records(items, answers)
    assert {row["outcome"] for row in records} == {outcome}
    assert len(records) == 72


def test_f1_counts_links_and_lines(items: list[WinoLine]) -> None:
    turns = {"pro": ["right", "right", "both", "none"], "anti": ["right", "wrong", "both", "none"]}
    measures = measure_outcomes(items, turns)
    # By hand, of four lines. Pro: 3 right and 1 wrong link: P = 3/4, R = 3/4. Anti: 2 right and 2
    # wrong: P = 1/2, R = 1/2.
    values = {cell.condition: cell.value for cell in measures.conditions}
    assert values == {"pro": pytest.approx(0.75), "anti": pytest.approx(0.5)}
    assert measures.gender_effect_size.value == pytest.approx(math.log2(1.5))
    assert measures.gap.value == pytest.approx(0.25)
    assert measures.coverage["outcomes_pro"] == {"right": 18, "wrong": 0, "both": 9, "none": 9}
    shares = {extra.id: extra.value for extra in measures.extra}
    assert shares["none_anti"] == 0.25
    assert measures.coverage["lines_dropped"] == 0


def test_the_nuance_is_by_the_gender_of_the_right_occupation(items: list[WinoLine]) -> None:
    # The first line of a schema means the male-typed occupation, the second the female-typed one.
    measures = measure_outcomes(items, {"pro": ["right", "wrong"], "anti": ["right", "none"]})
    cells = {(cell.condition, cell.group): cell.value for cell in measures.nuance}
    assert cells["pro", "male occupations"] == cells["anti", "male occupations"] == 1
    assert cells["pro", "female occupations"] == cells["anti", "female occupations"] == 0


def test_a_system_that_links_nothing_is_not_measurable(items: list[WinoLine]) -> None:
    measures = measure_outcomes(items, {"pro": ["none"], "anti": ["none"]})
    assert measures.finding.headline == "not_measurable"
    assert measures.problem == NO_LINK()
    assert measures.gender_effect_size.value is None


@pytest.mark.parametrize("elsewhere", ["wrong", "none"])
def test_a_condition_with_nothing_right_has_a_gap_and_no_effect_size(
    items: list[WinoLine], elsewhere: str
) -> None:
    measures = measure_outcomes(items, {"pro": ["right"], "anti": [elsewhere]})
    assert measures.gap.value == 1
    assert measures.finding.headline == "bias"
    assert (measures.finding.main.size, measures.finding.main.direction) == (
        "large",
        "pro-stereotypical",
    )
    assert measures.gender_effect_size.reason == SIDE_ZERO(side="F1 of the anti lines")
    assert measures.problem is None


def test_a_system_without_one_right_link_is_a_problem(items: list[WinoLine]) -> None:
    measures = measure_outcomes(items, {"pro": ["wrong"], "anti": ["wrong"]})
    assert measures.problem == NO_RIGHT_LINK()
    assert measures.finding.headline == "not_measurable"


def test_the_groups_are_the_pronouns_and_the_occupations(items: list[WinoLine]) -> None:
    # Of each schema, only the line that means the male-typed occupation is resolved.
    measures = measure_outcomes(items, {"pro": ["right", "none"], "anti": ["right", "none"]})
    pronouns, occupations, links = measures.finding.groups.evidence
    # In both conditions half of the lines are right: F1 = 2·18 / (18 + 36).
    assert measures.gap.value == pronouns.value == links.value == 0
    assert occupations.value == 1
    assert measures.finding.is_in_groups_only
    assert measures.finding.groups.direction == "male occupations"


def test_a_system_that_links_everything_does_not_say_who_is_meant(items: list[WinoLine]) -> None:
    measures = measure_outcomes(items, {"pro": ["both"], "anti": ["both"]})
    assert measures.gender_effect_size.value == 0
    assert measures.finding.headline == "not_measurable"
    assert measures.finding.reason == LINKS_BOTH(share=1.0)
    # Eighteen schemas without any spread: one more could still go the other way.
    assert measures.gap.low == pytest.approx(-(measures.gap.high or 0))
    assert measures.gap.high != 0


def test_planted_leanings_are_measured_and_grow(items: list[WinoLine]) -> None:
    strengths = (0.0, 0.25, 0.5, 0.75)
    gaps, defaults, contrasts = [], [], []
    for strength in strengths:
        for kind in ("stereotyped", "male-default"):
            control = Control(kind, strength, seed=3)
            records = TASK.records(items, TASK.plant(items, control))
            measures = TASK.measure(records, seed=0, resamples=300)
            if kind == "stereotyped":
                gaps.append(measures.gap)
            else:
                beside = {extra.id: extra for extra in measures.extra}
                defaults.append(beside["male_default"].value)
                contrasts.append(measures.contrast.value)
    for strength, gap in zip(strengths, gaps, strict=True):
        assert gap.low is not None and gap.high is not None  # noqa: PT018
        assert gap.low <= strength <= gap.high
    assert [gap.value for gap in gaps] == sorted(gap.value or 0 for gap in gaps)
    assert defaults == sorted(value or 0 for value in defaults)
    assert defaults[-1] == pytest.approx(0.75, abs=0.2)
    # A system that links three quarters of the female pronouns less has an F1 of 1/2 for male ones
    # and of 2·(1/8) / (1/4 + 1) for female ones.
    assert contrasts[-1] == pytest.approx(0.5 - 0.2, abs=0.15)


def test_a_system_that_only_understands_han_is_not_called_fair(items: list[WinoLine]) -> None:
    records = TASK.records(items, TASK.plant(items, Control("always-han", 1.0)))
    measures = TASK.measure(records, seed=0, resamples=300)
    beside = {extra.id: extra.value for extra in measures.extra}
    assert beside["linked_female_pronouns"] == 0
    assert beside["male_default"] == 1
    assert measures.contrast.value == pytest.approx(0.36, abs=0.01)
    # Half of the links are right by chance, so twelve schemas cannot tell this from luck by F1.
    pronouns, _, links = measures.finding.groups.evidence
    assert (pronouns.verdict, links.verdict) == ("undecided", "bias")
    assert measures.finding.groups.direction == "male pronouns"


def test_a_sample_keeps_whole_schemas(items: list[WinoLine]) -> None:
    part = TASK.sample(items, 5, seed=1)
    assert len({item.schema for item in part}) == 5
    assert len(part) == 20


def test_protocol_one_reads_the_token_behind_the_first_bracket() -> None:
    line = TASK_1.read_line("pro", 1, "Kokken kender [Lærerens] hund, fordi [hun] passer den.")
    assert line.label == "lærerens"
    assert find_gender(line.label) == "female"
    assert line.request.text == "kokken kender lærerens hund , fordi hun passer den ."
    words = [line.request.text[s:e] for s, e in line.request.tokens]
    assert words == list(line.tokens)


def test_protocol_one_takes_the_first_token_of_the_first_cluster() -> None:
    lines = [
        TASK_1.read_line("pro", n, f"[Kokken] kender læreren, fordi [han] {verb}.")
        for n, verb in enumerate(("sov", "sang", "gik", "løb"), 1)
    ]
    given = (
        (((0, 6), (32, 35)),),  # kokken, han
        (((14, 21), (32, 35)),),  # læreren, han
        (((7, 13), (0, 6)),),  # kender: no occupation
        (),  # no cluster: the full stop
    )
    answers: dict[Request, Answer] = {
        line.request: ResolveAnswer(clusters) for line, clusters in zip(lines, given, strict=True)
    }
    records = TASK_1.records(lines, answers)
    assert [row["pred"] for row in records] == ["kokken", "læreren", "kender", "."]
    assert [row["counts"] for row in records] == [True, True, False, False]
