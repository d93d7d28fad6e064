"""The variance that paraphrases add, worked out by hand."""

from __future__ import annotations

import pytest

from gendalens.stats.crossed import CrossedEstimate, make_estimate
from gendalens.stats.paraphrases import add_spread

# s² of 1, 2, 3, 6 is 14/3, so s²/K is 7/6.
VALUES = [1.0, 2.0, 3.0, 6.0]


def test_the_spread_over_paraphrases_is_added_to_the_variance_over_items() -> None:
    found = add_spread(make_estimate(3.0, 1.0, 20), VALUES, [1.0] * 4)
    assert found.standard_error == pytest.approx((1 + 7 / 6) ** 0.5)
    assert found.df == pytest.approx((13 / 6) ** 2 / (1 / 20 + (7 / 6) ** 2 / 3))
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
