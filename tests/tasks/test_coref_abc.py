from __future__ import annotations

import math
from pathlib import Path

import pytest
from small_data import small_data

from gendalens.data.abc import Triple
from gendalens.data.registry import find_source
from gendalens.models.control import Control
from gendalens.models.requests import Answer, Request, ResolveAnswer
from gendalens.results.result import Contrast, Measures
from gendalens.tasks.coref_abc.messages import NO_LINK, NO_MISTAKES
from gendalens.tasks.coref_abc.protocol1 import TASK as TASK_1
from gendalens.tasks.coref_abc.protocol2 import TASK, sentences
from gendalens.tasks.shared.coref_links import make_request
from gendalens.tasks.shared.messages import GES_UNSTABLE, SIDE_INCLUDES_ZERO, UNSTABLE


@pytest.fixture
def items(tmp_path: Path) -> list[Triple]:
    folder = small_data(tmp_path)["abc"]
    return TASK.items({"abc": find_source("abc", override=folder)})


def measure_links(items: list[Triple], hendes: int, hans: int, sin: int) -> Measures:
    """Links in the given number of each occupation's eight triples, other frames in each."""
    linked = {"female": hendes, "male": hans, "reflexive": sin}
    answers: dict[Request, Answer] = {}
    for i, item in enumerate(items):
        for condition, text, pronoun in sentences(item):
            cluster = ((item.subject.start, item.subject.end), (pronoun.start, pronoun.end))
            yes = (i + i // 8) % 8 < linked[condition]
            answers[make_request(text, pronoun, (item.subject,))] = ResolveAnswer(
                (cluster,) if yes else ()
            )
    return TASK.measure(TASK.records(items, answers), seed=0, resamples=300)


def test_the_effect_is_the_log_ratio_of_the_false_positive_rates(items: list[Triple]) -> None:
    measures = measure_links(items, hendes=2, hans=6, sin=7)
    values = {cell.condition: cell.value for cell in measures.conditions}
    assert values == {"female": 2 / 8, "male": 6 / 8, "reflexive": 7 / 8}
    assert measures.gender_effect_size.value == pytest.approx(math.log2(3))
    assert measures.gap.value == 0.5
    assert measures.contrast.value == 0
    assert {cell.n for cell in measures.conditions} == {64}
    assert len(measures.nuance) == 6


def test_only_a_cluster_of_subject_and_pronoun_counts(items: list[Triple]) -> None:
    answers: dict[Request, Answer] = {}
    for item in items:
        for _, text, pronoun in sentences(item):
            # The subject with another word, and with a mention that only contains the pronoun.
            subject, end = (item.subject.start, item.subject.end), len(text) - 1
            answers[make_request(text, pronoun, (item.subject,))] = ResolveAnswer(
                ((subject, (end, end + 1)), (subject, (pronoun.start, end)))
            )
    records = TASK.records(items, answers)
    assert {row["outcome"] for row in records} == {"not linked"}
    measures = TASK.measure(records, seed=0, resamples=100)
    assert measures.coverage["sentences_with_clusters_but_no_link"]["male"] == 64
    assert measures.coverage["pronoun_only_in_longer_mentions"] == 192
    (warning,) = measures.warnings
    assert warning.code == "coref_abc.pronoun_inside"
    assert warning.values == {"count": 192}
    assert "(hans kreditkort)" in str(warning)


def test_a_system_that_links_nothing_is_not_measurable(items: list[Triple]) -> None:
    measures = measure_links(items, 0, 0, 0)
    assert measures.finding.headline == "not_measurable"
    assert measures.problem == NO_LINK()
    assert measures.finding.reason == measures.problem


def test_a_system_without_mistakes_must_link_the_reflexives_to_be_acquitted(
    items: list[Triple],
) -> None:
    measures = measure_links(items, 0, 0, 3)
    assert measures.finding.headline == "not_measurable"
    assert measures.finding.reason == NO_MISTAKES(hits=3 / 8)
    assert str(measures.finding.reason).endswith("(the reflexives are linked in 38%)")
    knowing = measure_links(items, 0, 0, 8)
    assert knowing.finding.main.doubt is None
    assert knowing.gap.value == 0
    assert measures.problem is None
    assert (
        str(measures.gender_effect_size.reason) == "FPR of hans is zero, and FPR of hendes is zero"
    )


def test_a_system_that_links_everything_has_rates_of_one_and_no_effect(
    items: list[Triple],
) -> None:
    measures = measure_links(items, 8, 8, 8)
    assert [cell.value for cell in measures.conditions] == [1, 1, 1]
    assert measures.gender_effect_size.value == 0
    # No spread at all, and yet so few triples acquit nobody: one more could go the other way.
    assert measures.finding.headline == "undecided"
    assert measures.gap.low == pytest.approx(-(measures.gap.high or 0))
    assert (measures.gap.high or 0) > 0.03


def test_one_rate_of_zero_leaves_the_gap(items: list[Triple]) -> None:
    measures = measure_links(items, 0, 4, 8)
    assert measures.gender_effect_size.value is None
    assert measures.gap.value == 0.5
    assert measures.finding.headline == "bias"


def test_a_rate_that_may_be_zero_makes_the_effect_unstable(items: list[Triple]) -> None:
    answers: dict[Request, Answer] = {}
    for i, item in enumerate(items):
        for condition, text, pronoun in sentences(item):
            cluster = ((item.subject.start, item.subject.end), (pronoun.start, pronoun.end))
            yes = condition != "female" or i in (0, 1)  # hendes in one occupation alone
            answers[make_request(text, pronoun, (item.subject,))] = ResolveAnswer(
                (cluster,) if yes else ()
            )
    measures = TASK.measure(TASK.records(items, answers), seed=0, resamples=300)
    cause = SIDE_INCLUDES_ZERO(measure="FPR", pronoun="hendes")
    assert measures.gender_effect_size.unstable
    assert measures.gender_effect_size.reason == UNSTABLE(causes=(cause,))
    assert str(measures.gender_effect_size.reason) == (
        "unstable: the interval of FPR for hendes includes 0"
    )
    assert GES_UNSTABLE(causes=(cause,)) in measures.warnings
    assert not measure_links(items, hendes=2, hans=6, sin=7).gender_effect_size.unstable


def test_planted_leanings_are_measured_and_grow(items: list[Triple]) -> None:
    strengths = (0.0, 0.25, 0.5, 0.75)
    gaps: list[Contrast] = []
    contrasts: list[Contrast] = []
    for strength in strengths:
        for kind, found in (("male-default", gaps), ("stereotyped", contrasts)):
            answers = TASK.plant(items, Control(kind, strength, seed=7))
            measures = TASK.measure(TASK.records(items, answers), seed=0, resamples=300)
            found.append(measures.gap if kind == "male-default" else measures.contrast)
    for strength, gap, contrast in zip(strengths, gaps, contrasts, strict=True):
        assert gap.low is not None and gap.high is not None  # noqa: PT018
        assert gap.low < strength < gap.high
        assert contrast.low is not None and contrast.high is not None  # noqa: PT018
        assert contrast.low < 2 * strength < contrast.high
    assert [g.value for g in gaps] == sorted(g.value or 0 for g in gaps)
    assert [c.value for c in contrasts] == sorted(c.value or 0 for c in contrasts)


def test_always_han_links_every_hans_and_no_hendes(items: list[Triple]) -> None:
    records = TASK.records(items, TASK.plant(items, Control("always-han", 1.0)))
    measures = TASK.measure(records, seed=0, resamples=100)
    values = {cell.condition: cell.value for cell in measures.conditions}
    assert values["male"] == 1
    assert values["female"] == 0
    assert measures.gap.value == 1


@pytest.mark.parametrize("size", [2, 8, 30])
def test_a_sample_keeps_the_share_of_the_classes(items: list[Triple], size: int) -> None:
    part = TASK.sample(items, size, seed=2)
    assert len(part) == size
    assert sum(item.occupation_class == "male" for item in part) == size / 2


def test_protocol_one_counts_any_cluster_by_file(tmp_path: Path) -> None:
    folder = small_data(tmp_path)["abc"]
    items = TASK_1.items({"abc": find_source("abc", override=folder)})
    assert len(items) == 192
    answers: dict[Request, Answer] = {}
    for item in items:
        # Female occupations: a cluster for hendes; male ones: for hans; reflexives everywhere.
        detected = item.condition in ("reflexive", item.occupation_class) or (
            item.condition == "male" and item.line % 2 == 0
        )
        answers[item.request] = ResolveAnswer((((0, 1), (2, 3)),) if detected else ())
    measures = TASK_1.measure(TASK_1.records(items, answers), seed=0)
    values = {cell.condition: cell.value for cell in measures.conditions}
    assert values == {"female": 0.5, "male": 0.75, "reflexive": 1.0}
    assert measures.gender_effect_size.value == round(math.log2(1.5), 2)
    assert measures.finding.headline == "not_judged"
    first = items[0].request
    assert [first.text[s:e] for s, e in first.tokens] == first.text.split()
