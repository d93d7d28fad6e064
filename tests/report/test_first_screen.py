"""The first screen of a report: is there a bias, against whom, and how large is it?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from gendalens.report.html.gauge import WIDTH, draw_gauge
from gendalens.report.html.overview import (
    answer_overall,
    count_verdicts,
    describe_sides,
    name_ends,
)
from gendalens.stats.evidence import Evidence
from gendalens.stats.findings import EffectFinding, Finding
from gendalens.tasks.ner_dane.messages import MINORITY_SIDES, ORIGIN_SIDES
from gendalens.tasks.shared.words import CLASS_SIDES, PRONOUN_SIDES, STEREOTYPE_SIDES
from gendalens.words import phrase

#: Sides of figures, for values above and below 0.
SIDES = {
    "male": ("male", "female"),
    "female": ("male", "female"),
    "pro-stereotypical": STEREOTYPE_SIDES,
    "male pronouns": PRONOUN_SIDES,
    "with the stereotype": CLASS_SIDES,
    "majority names": ORIGIN_SIDES,
    "minority men": MINORITY_SIDES,
}


def make_evidence(side: str, value: float) -> Evidence:
    """A figure ``value`` from 0 on a side, with a band of 0.05 and an interval of 0.2 either way."""
    value = value if SIDES[side][0] == side else -value
    return Evidence(
        id=side,
        effect=side,
        name=phrase("gap"),
        unit="share",
        sides=SIDES[side],
        band=0.05,
        value=value,
        low=value - 0.2,
        high=value + 0.2,
    )


@pytest.mark.parametrize(
    ("verdicts", "answer"),
    [
        (["bias"], "Yes."),
        (["bias", "bias"], "Yes, in both tests."),
        (["bias", "groups", "bias"], "Yes, in all 3 tests."),
        (["groups"], "Not overall, but in groups."),
        (["groups", "groups"], "Not overall, but in groups, in both tests."),
        (["groups", "negligible", "negligible"], "Not overall, but in groups, in 1 of 3 tests."),
        (["groups", "groups", "groups"], "Not overall, but in groups, in all 3 tests."),
        # Where a main effect is not settled, nothing is said of the whole.
        (["open groups"], "Yes, in groups; overall, it is not settled."),
        (["groups", "open groups"], "Yes, in groups, in both tests; overall, it is not settled."),
        (
            ["groups", "negligible", "undecided"],
            "Yes, in groups, in 1 of 3 tests; overall, it is not settled.",
        ),
        (
            ["groups", "groups", "open groups"],
            "Yes, in groups, in all 3 tests; overall, it is not settled.",
        ),
        (["bias", "negligible", "undecided"], "Yes, in 1 of 3 tests."),
        (["negligible"], "No difference that matters was found."),
        (["negligible", "negligible"], "No difference that matters in either test."),
        (["undecided"], "None was found, but it is not ruled out."),
        (["not_measurable"], "It could not be measured."),
        (
            ["negligible", "undecided", "not_judged"],
            "None was found, but 2 of 3 tests cannot rule it out.",
        ),
        (["undecided", "undecided"], "None was found, but no test can rule it out."),
        (["undecided", "not_measurable"], "None was found, but no test can rule it out."),
        (["not_measurable", "not_measurable"], "It could not be measured."),
    ],
)
def test_the_first_screen_answers_whether_there_is_a_bias(verdicts: list[str], answer: str) -> None:
    findings: list[Any] = [
        SimpleNamespace(
            headline="bias" if "groups" in verdict else verdict,
            is_in_groups_only="groups" in verdict,
            main=SimpleNamespace(
                verdict={"groups": "negligible", "open groups": "undecided"}.get(verdict, verdict)
            ),
        )
        for verdict in verdicts
    ]
    assert str(answer_overall(findings)) == answer
    counts = count_verdicts(findings)
    named = {
        "groups" if str(name) == "bias found in groups" else verdict: count
        for verdict, name, count in counts
    }
    kinds = [verdict.removeprefix("open ") for verdict in verdicts]
    assert named == Counter(kinds)
    assert {"bias", "groups"}.isdisjoint(kinds) or counts[0][0] == "bias"


def test_the_first_screen_says_whom_a_bias_favours() -> None:
    def lean(task: str, main: Sequence[str] = (), groups: Sequence[str] = ()) -> Any:
        main_effect, of_groups = (
            EffectFinding(tuple(make_evidence(side, 0.4) for side in sides))
            for sides in (main, groups)
        )
        return SimpleNamespace(task=task, finding=Finding(main_effect, of_groups))

    results = [
        lean("lm-abc", ["male"], ["with the stereotype"]),
        lean("lm-dawinobias", ["pro-stereotypical"], ["male pronouns"]),
        lean("coref-abc", ["female"]),
        lean("coref-dawinobias"),
        lean("ner-dane", groups=["majority names", "minority men"]),
    ]
    assert list(map(str, describe_sides(results))) == [
        "In favour of men, against women: lm-abc and lm-dawinobias.",
        "In favour of women, against men: coref-abc.",
        "In line with the stereotype: lm-abc and lm-dawinobias.",
        "Against people with minority names: ner-dane.",
    ]
    assert describe_sides(results[3:4]) == []
    doubtful = lean("lm-abc", ["male"])
    effect = replace(doubtful.finding.main, problem=phrase("the options are never chosen"))
    doubtful.finding = replace(doubtful.finding, main=effect)
    assert describe_sides([doubtful]) == []


@pytest.mark.parametrize(
    ("side", "ends"),
    [
        ("male", ["women", "men"]),
        ("pro-stereotypical", ["against it", "stereotype"]),
        ("majority names", ["minority", "majority"]),
        ("minority men", ["minority women", "minority men"]),
    ],
)
def test_the_ends_of_a_gauge_say_who_is_favoured(side: str, ends: list[str]) -> None:
    assert list(map(str, name_ends(make_evidence(side, 0.4)))) == ends


def test_a_gauge_puts_an_effect_where_its_band_says() -> None:
    evidence = make_evidence("male", 0.4)
    gauge = draw_gauge(evidence)
    assert gauge is not None
    assert gauge.low is not None
    assert gauge.high is not None
    assert gauge.band_start + gauge.band_width < gauge.low < gauge.value < gauge.high < WIDTH
    assert gauge.band_start + gauge.band_width / 2 == pytest.approx(gauge.zero)
    inside = draw_gauge(replace(evidence, value=0.0, low=-0.02, high=0.02))
    assert inside is not None
    assert inside.low is not None
    assert inside.band_start < inside.low
    assert draw_gauge(replace(evidence, value=None, low=None, high=None)) is None
