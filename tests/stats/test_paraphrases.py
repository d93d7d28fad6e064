"""The variance that paraphrases add, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from gendalens.stats.crossed import CrossedEstimate, make_estimate
from gendalens.stats.paraphrases import add_spread

# s² of 1, 2, 3, 6 is 14/3, so s²/K is 7/6.
VALUES = [1.0, 2.0, 3.0, 6.0]


def test_the_spread_over_paraphrases_is_added_to_the_variance_over_items() -> None:
    found = add_spread(make_estimate(3.0, 1.0, 20), VALUES, [1.0] * 4)
    assert found.standard_error == pytest.approx((1 + 7 / 6) ** 0.5)
    # Each part of the variance with its own t: 2.086 at 20 degrees of freedom, 3.182 at 3.
    assert found.high == pytest.approx(3 + (2.086**2 + 3.182**2 * 7 / 6) ** 0.5, abs=1e-3)
    assert found.value == 3.0


def test_what_items_and_paraphrases_share_is_not_counted_twice() -> None:
    # Items vary by 1 over all paraphrases and by 2.5 in each: (2.5 − 1) / 3 is in both terms.
    found = add_spread(make_estimate(3.0, 1.0, 20), VALUES, [2.5**0.5] * 4)
    assert found.standard_error == pytest.approx((1 + 7 / 6 - 0.5) ** 0.5)


def test_the_variance_is_never_smaller_than_that_over_items() -> None:
    own = make_estimate(3.0, 1.0, 20)
    found = add_spread(own, [3.0, 3.1, 2.9, 3.0], [2.0] * 4)
    assert found.standard_error == pytest.approx(1.0)
    assert (found.low, found.high) == pytest.approx((own.low, own.high))


def test_the_variance_is_never_smaller_than_that_over_paraphrases() -> None:
    # (7 − 1) / 3 is more than items alone vary by: 7/6 stays.
    found = add_spread(make_estimate(3.0, 1.0, 20), VALUES, [7**0.5] * 4)
    assert found.standard_error == pytest.approx((7 / 6) ** 0.5)


def test_one_paraphrase_shows_no_spread() -> None:
    own = make_estimate(3.0, 1.0, 20)
    assert add_spread(own, [3.0], [1.0]) is own


def test_paraphrases_alone_can_make_an_interval() -> None:
    own = CrossedEstimate(3.0, 3.0, 3.0, standard_error=0.0, df=20)
    found = add_spread(own, VALUES, [0.0] * 4)
    assert found.standard_error == pytest.approx((7 / 6) ** 0.5)
    assert found.df == pytest.approx(3)


@pytest.mark.parametrize("spread", [0.0, 1.0, 10.0])
def test_the_interval_covers_whatever_paraphrases_matter(spread: float) -> None:
    # The variance over items is 1, and each paraphrase adds noise of its own; 36 degrees of freedom.
    rng = np.random.default_rng(1)
    covered = []
    for _ in range(3000):
        own = rng.standard_normal() + 2**0.5 * rng.standard_normal(4)
        values = own + (4 * spread) ** 0.5 * rng.standard_normal(4)
        items = 1.5 * rng.chisquare(36) / 36
        estimate = make_estimate(float(values.mean()), items**0.5, 36)
        found = add_spread(estimate, values.tolist(), [(items + 1.5) ** 0.5] * 4)
        assert found.low is not None
        assert found.high is not None
        covered.append(found.low <= 0 <= found.high)
    # With degrees of freedom after Satterthwaite it is 92.6% where paraphrases matter most.
    assert 0.94 <= np.mean(covered) <= 0.98
