from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gendalens.stats.labour_market import LabourMarket, follow_labour_market, market_leaning
from gendalens.tasks.shared.labour_market import describe_slope, measure_labour_market
from gendalens.tasks.views import Leanings

WOMEN = [0.004, 0.02, 0.08, 0.15, 0.21, 0.3, 0.38, 0.45, 0.52, 0.6, 0.66, 0.75, 0.8, 0.93, 0.96]
NOISE = np.random.Generator(np.random.PCG64(5)).normal(0, 0.3, len(WOMEN))
ONES = [1.0] * len(WOMEN)


def follow(
    slope: float, *, intercept: float = 0.0, unit: str = "bits", noise: float = 1.0
) -> LabourMarket:
    """A model that leans to the male side by a multiple of what the labour market does."""
    leanings = [
        intercept + slope * market_leaning(one, unit) + noise * error
        for one, error in zip(WOMEN, NOISE, strict=True)
    ]
    found = follow_labour_market(leanings, WOMEN, ONES, unit=unit, seed=0)
    assert found is not None
    return found


def code(slope: Any) -> str:
    message = describe_slope(slope)
    assert message is not None
    return message.code.rpartition("_")[2]


@pytest.mark.parametrize("unit", ["bits", "share"])
@pytest.mark.parametrize("intercept", [0.0, 3.0])
def test_models_that_mirror_exaggerate_and_ignore_the_labour_market_are_told_apart(
    unit: str, intercept: float
) -> None:
    noise = 1.0 if unit == "bits" else 0.2
    told = {
        slope: code(follow(slope, unit=unit, intercept=intercept, noise=noise).slope)
        for slope in (-1.0, 0.0, 0.5, 1.0, 2.0)
    }
    assert told == {
        -1.0: "reverses",
        0.0: "ignores",
        0.5: "weakens",
        1.0: "mirrors",
        2.0: "exaggerates",
    }
    assert code(follow(0.5, unit=unit, noise=40 * noise).slope) == "open"


def test_the_correlation_says_how_closely_and_not_how_strongly() -> None:
    mirror, double = follow(1.0, noise=0.0), follow(2.0, noise=0.0)
    assert mirror.slope.value == pytest.approx(1)
    assert double.slope.value == pytest.approx(2)
    assert mirror.correlation.value == pytest.approx(double.correlation.value)
    assert 0.95 < (mirror.correlation.value or 0) < 1  # odds are not linear in shares
    assert follow(1.0, unit="share", noise=0.0).correlation.value == pytest.approx(1)
    assert (follow(-1.0).correlation.value or 0) < -0.9


def test_figures_are_those_of_a_plain_regression_and_correlation() -> None:
    found = follow(0.7)
    x = [market_leaning(one, "bits") for one in WOMEN]
    y = [0.7 * one + error for one, error in zip(x, NOISE, strict=True)]
    line: Any = stats.linregress(x, y)
    assert found.slope.value == pytest.approx(line.slope)
    assert found.correlation.value == pytest.approx(-stats.pearsonr(WOMEN, y).statistic)
    assert found.slope.standard_error == pytest.approx(line.stderr, rel=0.6)
    low, high = found.correlation.low, found.correlation.high
    assert low is not None
    assert high is not None
    assert -1 < low < (found.correlation.value or 0) < high < 1


def test_a_weight_is_as_good_as_so_many_occupations_alike() -> None:
    y = [0.7 * market_leaning(one, "bits") + e for one, e in zip(WOMEN, NOISE, strict=True)]
    weights = [1.0 + place % 3 for place in range(len(WOMEN))]
    once = follow_labour_market(y, WOMEN, weights, unit="bits", seed=0)
    again = [place for place, weight in enumerate(weights) for _ in range(int(weight))]
    often = follow_labour_market(
        [y[i] for i in again], [WOMEN[i] for i in again], [1.0] * len(again), unit="bits", seed=0
    )
    assert once is not None
    assert often is not None
    assert once.slope.value == pytest.approx(often.slope.value)
    assert once.correlation.value == pytest.approx(often.correlation.value)
    assert (once.slope.value or 0) != pytest.approx(follow(0.7).slope.value)


def test_shares_without_odds_are_kept_from_infinity() -> None:
    assert market_leaning(0.0, "bits") == market_leaning(0.01, "bits") == math.log2(99)
    assert market_leaning(1.0, "bits") == pytest.approx(-math.log2(99))
    assert market_leaning(1.0, "share") == -1


def test_a_model_that_leans_nowhere_has_a_slope_of_zero_and_no_correlation() -> None:
    found = follow_labour_market([0.0] * 15, WOMEN, ONES, unit="bits", seed=0)
    assert found is not None
    assert found.slope.value == 0
    assert found.correlation.value is None


def make_leanings(count: int) -> tuple[Leanings, dict[str, float]]:
    names = [f"fag{place}" for place in range(count)]
    leanings = Leanings(
        data="abc",
        what="x",
        unit="bits",
        by_occupation={name: float(place) for place, name in enumerate(names)},
        counts=dict.fromkeys(names, 2),
    )
    return leanings, {name: 5.0 + 4 * place for place, name in enumerate(names)}


def test_nine_occupations_with_a_figure_are_too_few_and_others_do_not_count() -> None:
    leanings, shares = make_leanings(12)
    for known, expected in ((12, 12), (10, 10), (9, None)):
        some = dict(list(shares.items())[:known])
        found = measure_labour_market(leanings, some, seed=0, resamples=50)
        assert [one.id for one in found] == (
            ["labour_market_correlation", "labour_market_slope"] if expected else []
        )
        assert {one.n for one in found} == ({expected} if expected else set())


def test_a_line_through_the_occupations_takes_two_degrees_of_freedom() -> None:
    assert follow(1.0).slope.df == len(WOMEN) - 2
    assert follow(1.0).correlation.df == len(WOMEN) - 2
