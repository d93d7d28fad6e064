"""What now: advice follows from the finding and the data, and promises nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gendalens.report.html import run_page
from gendalens.report.next_steps import list_next_steps, summarize_next_steps
from gendalens.results import saved_results
from gendalens.results.result import Result
from gendalens.stats.findings import EffectFinding, Finding
from gendalens.tasks import all_tasks, get_task
from gendalens.tasks.base import Card
from gendalens.words import phrase

OFFICIAL, ALL_DATA = "published data sets", "all data"


def make_biased(run: Path, task: str) -> Result:
    """A result of a test whose main effect is large beyond doubt."""
    result = next(
        one.result for one in saved_results.find_results([run]) if one.result.task == task
    )
    gap = result.finding.main.evidence[0]
    large = replace(gap, value=0.5, low=0.4, high=0.6, p=0.0, p_adjusted=0.0)
    biased = replace(result, finding=Finding(EffectFinding((large,))))
    assert biased.finding.headline == "bias"
    return biased


@pytest.fixture(scope="module")
def biased(small_run: Path) -> Result:
    return make_biased(small_run, "lm-dawinobias")


def read(steps: tuple[object, ...]) -> str:
    return " ".join(map(str, steps))


def card_of(result: Result) -> Card:
    return get_task(result.task, result.protocol).card


def test_a_bias_has_a_meaning_in_use_checks_and_a_place_where_mitigation_is_described(
    biased: Result,
) -> None:
    card = card_of(biased)
    steps = list_next_steps(biased, card)
    assert read(steps.in_use) == card.advice.in_use
    assert read(steps.checks).startswith(" ".join(card.advice.checks))
    assert read(steps.mitigation).startswith(card.advice.mitigation)
    assert "No method is known to remove a bias everywhere" in read(steps.mitigation)


def test_nothing_is_advised_against_a_bias_that_was_not_found(biased: Result) -> None:
    fair = replace(
        biased, finding=replace(biased.finding, main=biased.finding.main.set_bands([9.0]))
    )
    assert fair.finding.headline == "negligible"
    steps = list_next_steps(fair, card_of(fair))
    assert steps.mitigation == ()
    assert "Other harms" in read(steps.in_use)
    assert "Keep the signature" in read(steps.checks)


def test_what_cannot_be_told_is_no_sign_of_fairness(biased: Result) -> None:
    gap = biased.finding.main.evidence[0]
    wide = replace(gap, value=0.0, low=-0.5, high=0.5, p=0.9, p_adjusted=0.9)
    open_ = replace(biased, finding=Finding(EffectFinding((wide,))))
    assert open_.finding.headline == "undecided"
    steps = list_next_steps(open_, card_of(open_))
    assert "no sign that the model is fair" in read(steps.in_use)
    assert "gendalens power" in read(steps.checks)
    broken = replace(biased, finding=Finding(EffectFinding(problem=phrase("nothing came back"))))
    assert "The reason is given above" in read(list_next_steps(broken, card_of(broken)).checks)
    old = replace(biased, finding=Finding(not_judged=phrase("protocol 1 gives no interval")))
    assert "protocol 2" in read(list_next_steps(old, card_of(old)).checks)


def test_built_in_data_and_samples_ask_for_another_measurement(biased: Result) -> None:
    whole = read(list_next_steps(biased, card_of(biased)).checks)
    assert OFFICIAL not in whole
    assert ALL_DATA not in whole
    (name,) = biased.data
    builtin = replace(biased, data={name: {**biased.data[name], "whose": "builtin"}})
    assert OFFICIAL in read(list_next_steps(builtin, card_of(biased)).checks)
    sampled = replace(biased, signature=biased.signature.replace("|sample:all|", "|sample:40|"))
    assert ALL_DATA in read(list_next_steps(sampled, card_of(biased)).checks)
    broken = replace(builtin, finding=Finding(EffectFinding(problem=phrase("nothing came back"))))
    (only,) = summarize_next_steps([broken, broken])
    assert "The reason is given above" in str(only)
    together = summarize_next_steps([builtin, sampled, builtin])
    assert [OFFICIAL in str(one) for one in together].count(True) == 1
    assert [ALL_DATA in str(one) for one in together].count(True) == 1


def test_every_test_of_the_package_says_what_its_bias_may_mean_in_use() -> None:
    for task in all_tasks().values():
        advice = task.card.advice
        if task.card.protocol == 2:
            assert advice.in_use, task.card.id
            assert advice.checks, task.card.id
            assert advice.mitigation, task.card.id


def test_the_page_says_what_now_in_general_and_for_each_test(small_run: Path) -> None:
    page = run_page.html([make_biased(small_run, "ner-dane")])
    general, _, _ = page[page.index('id="next"') :].partition("</section>")
    assert "Decide who looks at the findings" in general
    article, _, _ = page[page.index("<article") :].partition("</article>")
    assert "may miss some people more often than others" in article
    assert "kan overse nogle mennesker oftere end andre" in article
