"""The four findings and what correction for many tests adds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.stats.estimate import Estimate
from gendalens.stats.findings import Verdict, corrected, verdict

NARROW = Estimate(0.0, -0.1, 0.1)
WIDE = Estimate(0.0, -0.3, 0.05)


@pytest.mark.parametrize(
    ("gap", "effect", "finding"),
    [
        (Estimate(0.3, 0.1, 0.5), WIDE, "bias found"),
        (Estimate(-0.3, -0.5, -0.1), NARROW, "bias found"),
        (Estimate(0.01, -0.02, 0.04), NARROW, "no difference found"),
        (Estimate(0.01, 0.0, 0.04), NARROW, "no difference found"),
        (Estimate(0.01, -0.02, 0.04), WIDE, "too little data to tell"),
    ],
)
def test_the_gap_decides_and_the_effect_size_tells_nothing_from_too_little(
    gap: Estimate, effect: Estimate, finding: str
) -> None:
    assert verdict(gap, effect) == Verdict(finding)  # type: ignore[arg-type]


def test_a_bound_that_is_zero_but_for_rounding_is_no_bias() -> None:
    assert verdict(Estimate(1e-17, 1e-17, 1e-17), NARROW).finding == "no difference found"


def test_a_reason_not_to_measure_comes_before_everything() -> None:
    why = "the answer does not depend on who is meant"
    found = verdict(Estimate(0.3, 0.1, 0.5), NARROW, not_measurable=why)
    assert str(found) == f"not measurable: {why}"


def test_an_undefined_gap_is_not_measurable_and_an_unbounded_one_too_little_data() -> None:
    undefined = Estimate(None, None, None, "no gold pronouns")
    assert verdict(undefined, NARROW) == Verdict("not measurable", "no gold pronouns")
    unbounded = Estimate(0.2, None, None, "8.0% of the resamples are undefined")
    assert verdict(unbounded, NARROW) == Verdict("too little data to tell", unbounded.reason)


def test_without_bounds_of_the_effect_size_no_difference_cannot_be_claimed() -> None:
    effect = Estimate(None, None, None, "F1 anti is zero")
    gap = Estimate(0.0, -0.1, 0.1)
    assert verdict(gap, effect) == Verdict("too little data to tell", "F1 anti is zero")


def test_bias_that_does_not_survive_holm_says_so() -> None:
    found = corrected(Verdict("bias found"), 0.06, tests=3)
    assert str(found) == "bias found, not after correction for 3 tests"
    assert found.finding == "bias found"
    assert str(corrected(Verdict("bias found"), 0.05, tests=2)).endswith("2 tests")
    assert str(corrected(Verdict("bias found"), 0.049, tests=3)) == "bias found"
    assert str(corrected(Verdict("bias found"), None, tests=3)) == "bias found"
    assert str(corrected(Verdict("no difference found"), 0.5, tests=3)) == "no difference found"


bound = st.floats(-2, 2)


@settings(deadline=None, derandomize=True)
@given(bound, bound, bound, bound)
def test_mirroring_both_conditions_does_not_change_the_finding(
    one: float, two: float, three: float, four: float
) -> None:
    def mirrored(estimate: Estimate) -> Estimate:
        assert estimate.low is not None
        assert estimate.high is not None
        return Estimate(0.0, -estimate.high, -estimate.low)

    gap = Estimate(0.0, min(one, two), max(one, two))
    effect = Estimate(0.0, min(three, four), max(three, four))
    assert verdict(gap, effect) == verdict(mirrored(gap), mirrored(effect))
