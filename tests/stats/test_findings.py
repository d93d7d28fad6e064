"""What evidence says about an effect, and what two effects say about a test."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.stats.bootstrap import RESAMPLES_UNDEFINED, UNDEFINED
from gendalens.stats.crossed import CrossedEstimate
from gendalens.stats.evidence import VERDICTS, Evidence, Size, Verdict
from gendalens.stats.findings import EffectFinding, Finding, correct_for_many, judge, name_verdict
from gendalens.words import Message, Template

INSENSITIVE = Template("test.insensitive", "the answer does not depend on who is meant")
FIGURE = Template("test.figure", "a figure")


def show(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    *,
    p: float | None = None,
    band: float = 0.1,
    effect: str = "main",
    reason: Message | None = None,
) -> Evidence:
    return Evidence(
        id="gap",
        effect=effect,
        name=FIGURE(),
        unit="F1",
        sides=("male", "female"),
        band=band,
        value=value,
        low=low,
        high=high,
        p=p,
        reason=reason,
    )


BIAS = show(0.3, 0.2, 0.4, p=0.001)
SMALL_BIAS = show(0.12, 0.02, 0.22, p=0.02)
NEGLIGIBLE = show(0.01, -0.05, 0.07, p=0.8)
UNDECIDED = show(0.05, -0.1, 0.2, p=0.4)
NOT_MEASURABLE = show(None, reason=UNDEFINED())


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [
        (BIAS, "bias"),
        (show(-0.3, -0.4, -0.2, p=0.001), "bias"),
        (NEGLIGIBLE, "negligible"),
        # The whole interval lies within the band, zero or not.
        (show(0.05, 0.02, 0.08, p=0.001), "negligible"),
        (show(-0.05, -0.1, 0.0, p=0.05), "negligible"),
        (UNDECIDED, "undecided"),
        # It excludes zero by less than rounding.
        (show(0.2, 1e-17, 0.4, p=0.05), "undecided"),
        # Without bounds there is nothing to judge by.
        (show(0.2, reason=RESAMPLES_UNDEFINED(share=0.08)), "undecided"),
        (NOT_MEASURABLE, "not_measurable"),
        # Clusters without any spread: the interval is a point, p is not.
        (show(1.0, 1.0, 1.0, p=0.0625), "undecided"),
    ],
)
def test_the_interval_and_the_band_make_the_verdict(evidence: Evidence, verdict: Verdict) -> None:
    assert evidence.verdict == verdict


@pytest.mark.parametrize(
    ("value", "low", "size"),
    [
        (0.09, 0.01, "small"),
        (0.19, 0.11, "small"),
        (0.21, 0.09, "small"),
        (0.21, 0.11, "medium"),
        (0.39, 0.21, "medium"),
        (0.41, 0.19, "medium"),
        (0.41, 0.21, "large"),
    ],
)
def test_the_size_follows_from_the_estimate_and_the_inner_bound(
    value: float, low: float, size: Size
) -> None:
    above = show(value, low, 2 * value - low, p=0.001)
    below = show(-value, low - 2 * value, -low, p=0.001)
    assert (above.size, above.direction) == (size, "male")
    assert (below.size, below.direction) == (size, "female")


def test_what_could_have_been_seen_follows_from_the_standard_error() -> None:
    # With infinitely many clusters: 1.960 + 0.842 and 1.960 + 1.282 standard errors.
    estimate = CrossedEstimate(0.0, -0.196, 0.196, p=1.0, standard_error=0.1, df=10**7)
    evidence = Evidence.of(estimate, id="gap", name=FIGURE(), unit="F1", band=0.1)
    assert evidence.seen == pytest.approx(0.1 * (1.9600 + 0.8416), abs=1e-4)
    assert evidence.acquitted == pytest.approx(0.1 * (1.9600 + 1.2816), abs=1e-4)
    few = Evidence.of(replace(estimate, df=4), id="gap", name=FIGURE(), unit="F1", band=0.1)
    assert (few.seen or 0) == pytest.approx(0.1 * (2.7764 + 0.9410), abs=1e-4)
    none = Evidence.of(
        replace(estimate, standard_error=0.0), id="gap", name=FIGURE(), unit="F1", band=0.1
    )
    assert none.seen is none.acquitted is None


@pytest.mark.parametrize(
    ("main", "groups", "headline", "leading"),
    [
        (BIAS, NEGLIGIBLE, "bias", "main"),
        (NEGLIGIBLE, BIAS, "bias", "groups"),
        (SMALL_BIAS, BIAS, "bias", "groups"),
        (BIAS, SMALL_BIAS, "bias", "main"),
        (UNDECIDED, BIAS, "bias", "groups"),
        (NOT_MEASURABLE, BIAS, "bias", "groups"),
        (NOT_MEASURABLE, UNDECIDED, "not_measurable", "main"),
        (NOT_MEASURABLE, NEGLIGIBLE, "not_measurable", "main"),
        (UNDECIDED, NEGLIGIBLE, "undecided", "main"),
        (NEGLIGIBLE, UNDECIDED, "undecided", "groups"),
        (UNDECIDED, NOT_MEASURABLE, "undecided", "main"),
        (NEGLIGIBLE, NOT_MEASURABLE, "not_measurable", "groups"),
        (NEGLIGIBLE, NEGLIGIBLE, "negligible", "main"),
    ],
)
def test_the_worse_of_main_effect_and_groups_is_the_headline(
    main: Evidence, groups: Evidence, headline: Verdict, leading: str
) -> None:
    found = judge([main], [groups])
    assert found.headline == headline
    assert found.leading is getattr(found, leading)
    assert found.is_in_groups_only == (headline == "bias" and main.verdict != "bias")


def test_a_test_without_groups_is_judged_by_its_main_effect() -> None:
    assert judge([NEGLIGIBLE]).headline == "negligible"
    assert judge([BIAS]).headline == "bias"


def test_every_finding_has_words_of_its_own() -> None:
    assert str(judge([BIAS], [NEGLIGIBLE])) == "bias found (medium)"
    assert str(judge([NEGLIGIBLE], [BIAS])) == "bias found in groups (medium)"
    assert str(judge([SMALL_BIAS], [BIAS])) == "bias found, also in groups (medium)"
    assert [str(name_verdict(verdict)) for verdict in VERDICTS] == [
        "bias found",
        "no difference that matters",
        "too little data to tell",
        "not measurable",
        "not judged",
    ]


def test_a_problem_comes_before_everything_and_a_doubt_before_all_but_a_bias() -> None:
    broken = judge([BIAS], [BIAS], problem=INSENSITIVE())
    assert (broken.headline, broken.reason) == ("not_measurable", INSENSITIVE())
    assert not broken.is_measured
    doubted = judge([NEGLIGIBLE], [NEGLIGIBLE], doubt=INSENSITIVE())
    assert (doubted.main.verdict, doubted.reason) == ("not_measurable", INSENSITIVE())
    assert doubted.groups.verdict == "negligible"
    assert judge([BIAS], doubt=INSENSITIVE()).headline == "bias"


def test_of_two_measures_of_one_effect_either_accuses_and_the_last_acquits() -> None:
    coarse, precise = UNDECIDED, NEGLIGIBLE
    assert EffectFinding((coarse, precise)).verdict == "negligible"
    assert EffectFinding((precise, coarse)).verdict == "undecided"
    assert EffectFinding((BIAS, precise)).verdict == "bias"
    assert EffectFinding((coarse, BIAS)).verdict == "bias"
    # The more precise measure cannot acquit against an estimate beyond the band of the other.
    assert EffectFinding((show(0.11, -0.05, 0.27), precise)).verdict == "undecided"


def test_of_two_effects_each_must_be_negligible() -> None:
    one, other = NEGLIGIBLE, replace(UNDECIDED, effect="other")
    assert EffectFinding((other, one)).verdict == "undecided"
    assert EffectFinding((one, replace(one, effect="other"))).verdict == "negligible"


def test_the_largest_bias_decides() -> None:
    found = EffectFinding((SMALL_BIAS, show(-0.5, -0.7, -0.3, p=0.001)))
    assert (found.size, found.direction) == ("large", "female")


def test_correction_is_applied_to_the_finding_itself() -> None:
    weak = show(0.3, 0.01, 0.59, p=0.02)
    assert judge([weak]).headline == "bias"
    [alone] = correct_for_many([judge([weak])])
    assert alone.headline == "bias"
    three = correct_for_many([judge([weak], [UNDECIDED]), judge([UNDECIDED])])
    assert three[0].headline == "undecided"
    assert three[0].main.evidence[0].p_adjusted == pytest.approx(0.06)
    assert three[0].reason is not None
    assert three[0].reason.code == "lost_by_correction"
    assert three[0].reason.values == {"tests": 3}
    strong = correct_for_many([judge([BIAS], [UNDECIDED]), judge([UNDECIDED])])
    assert strong[0].headline == "bias"


def test_holm_is_over_main_effects_and_groups_together() -> None:
    first, second = correct_for_many(
        [judge([show(1, 1, 1, p=0.01)], [show(1, 1, 1, p=0.02)]), judge([show(1, 1, 1, p=0.03)])]
    )
    adjusted = [first.main.evidence[0], first.groups.evidence[0], second.main.evidence[0]]
    assert [one.p_adjusted for one in adjusted] == pytest.approx([0.03, 0.04, 0.04])


def test_an_undecided_effect_says_why() -> None:
    found = judge([UNDECIDED])
    assert str(found.reason) == "the interval includes 0 and reaches beyond ±0.1 F1"
    unbounded = judge([show(0.2, reason=RESAMPLES_UNDEFINED(share=0.08))])
    assert unbounded.reason == RESAMPLES_UNDEFINED(share=0.08)


numbers = st.floats(-2, 2, allow_nan=False)


@given(
    bounds=st.lists(
        st.tuples(numbers, numbers, numbers, st.floats(0, 1)).map(lambda t: (*sorted(t[:3]), t[3])),
        min_size=1,
        max_size=3,
    ),
    band=st.floats(0.01, 1),
)
@settings(deadline=None)
def test_a_finding_survives_json(bounds: list[tuple[float, ...]], band: float) -> None:
    evidence = [show(b, a, c, p=p, band=band) for a, b, c, p in bounds]
    [found] = correct_for_many([judge(evidence, evidence[:1], doubt=INSENSITIVE())])
    assert Finding.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_a_finding_must_follow_from_its_evidence() -> None:
    found = judge([BIAS], [NEGLIGIBLE])
    plain = found.to_dict()
    assert found.agrees_with({**plain, "text": "in other words"})
    assert not found.agrees_with({**plain, "headline": "negligible"})
    assert not found.agrees_with({**plain, "main": {**plain["main"], "size": "small"}})


@given(value=numbers, reach=st.floats(0, 1), band=st.floats(0.01, 1))
@settings(deadline=None)
def test_a_wider_band_never_makes_a_bias(value: float, reach: float, band: float) -> None:
    order = ("bias", "undecided", "negligible")
    narrow = show(value, value - reach, value + reach, p=0.0, band=band)
    wide = replace(narrow, band=2 * band)
    assert order.index(wide.verdict) >= order.index(narrow.verdict)
