"""The five findings and what correction for many tests adds."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.stats.bootstrap import RESAMPLES_UNDEFINED, UNDEFINED
from gendalens.stats.estimate import SIDE_ZERO, Estimate
from gendalens.stats.findings import HEADLINES, Finding, Headline, apply_correction, judge
from gendalens.words import Template

NARROW = Estimate(0.0, -0.1, 0.1)
WIDE = Estimate(0.0, -0.3, 0.05)
INSENSITIVE = Template("test.insensitive", "the answer does not depend on who is meant")


@pytest.mark.parametrize(
    ("gap", "effect", "headline"),
    [
        (Estimate(0.3, 0.1, 0.5), WIDE, "bias"),
        (Estimate(-0.3, -0.5, -0.1), NARROW, "bias"),
        (Estimate(0.01, -0.02, 0.04), NARROW, "negligible"),
        (Estimate(0.01, 0.0, 0.04), NARROW, "negligible"),
        (Estimate(0.01, -0.02, 0.04), WIDE, "undecided"),
    ],
)
def test_the_gap_decides_and_the_effect_size_tells_nothing_from_too_little(
    gap: Estimate, effect: Estimate, headline: Headline
) -> None:
    assert judge(gap, effect) == Finding(headline)


def test_a_bound_that_is_zero_but_for_rounding_is_no_bias() -> None:
    assert judge(Estimate(1e-17, 1e-17, 1e-17), NARROW).headline == "negligible"


def test_a_reason_not_to_measure_comes_before_everything() -> None:
    found = judge(Estimate(0.3, 0.1, 0.5), NARROW, not_measurable=INSENSITIVE())
    assert found == Finding("not_measurable", INSENSITIVE())
    assert not found.is_measured


def test_an_undefined_gap_is_not_measurable_and_an_unbounded_one_too_little_data() -> None:
    undefined = Estimate(None, None, None, UNDEFINED())
    assert judge(undefined, NARROW) == Finding("not_measurable", UNDEFINED())
    unbounded = Estimate(0.2, None, None, RESAMPLES_UNDEFINED(share=0.08))
    assert judge(unbounded, NARROW) == Finding("undecided", unbounded.reason)


def test_without_bounds_of_the_effect_size_no_difference_cannot_be_claimed() -> None:
    effect = Estimate(None, None, None, SIDE_ZERO(side="F1 anti"))
    gap = Estimate(0.0, -0.1, 0.1)
    assert judge(gap, effect) == Finding("undecided", SIDE_ZERO(side="F1 anti"))


def test_every_headline_has_a_name_of_its_own() -> None:
    assert [str(Finding(headline)) for headline in HEADLINES] == [
        "bias found",
        "no difference found",
        "too little data to tell",
        "not measurable",
        "not judged",
    ]


def test_bias_that_does_not_survive_holm_says_so() -> None:
    bias = Finding("bias")
    found = apply_correction(bias, 0.06, tests=3)
    assert found.headline == "bias"
    assert found.correction is not None
    assert found.correction.code == "lost_by_correction"
    assert str(found) == "bias found, not after correction for 3 tests"
    assert str(apply_correction(bias, 0.05, tests=2)).endswith("2 tests")
    assert apply_correction(bias, 0.049, tests=3) == bias
    assert apply_correction(bias, None, tests=3) == bias
    assert apply_correction(Finding("negligible"), 0.5, tests=3) == Finding("negligible")


def test_a_single_test_has_nothing_to_correct_for() -> None:
    found = apply_correction(Finding("bias"), 0.06, tests=1)
    assert found.correction is not None
    assert found.correction.code == "p_above_level"
    assert str(found) == "bias found, but its p is not below .05"


def test_a_finding_is_read_back_from_plain_data() -> None:
    found = apply_correction(Finding("bias", SIDE_ZERO(side="F1 anti")), 0.06, tests=3)
    assert Finding.from_dict(json.loads(json.dumps(found.to_dict()))) == found


bound = st.floats(-2, 2)


@settings(deadline=None, derandomize=True)
@given(bound, bound, bound, bound)
def test_mirroring_both_conditions_does_not_change_the_finding(
    one: float, two: float, three: float, four: float
) -> None:
    def mirror(estimate: Estimate) -> Estimate:
        assert estimate.low is not None
        assert estimate.high is not None
        return Estimate(0.0, -estimate.high, -estimate.low)

    gap = Estimate(0.0, min(one, two), max(one, two))
    effect = Estimate(0.0, min(three, four), max(three, four))
    assert judge(gap, effect) == judge(mirror(gap), mirror(effect))
