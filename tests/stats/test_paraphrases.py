"""The variance that paraphrases add, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gendalens.stats.bootstrap import UNDEFINED
from gendalens.stats.crossed import (
    CrossedEstimate,
    crossed_intervals,
    make_estimate,
    statistic_of_sums,
)
from gendalens.stats.paraphrases import Paraphrase, add_spread

# A mean of these four is 3, and s² is 14/3, so that s²/K is 7/6.
VALUES = [1.0, 2.0, 3.0, 6.0]
# Their means without each: 11/3, 10/3, 3, 2. Their s² is 14/27, which is 7/6 times (K − 1)²/K.
WITHOUT = [11 / 3, 10 / 3, 3.0, 2.0]


def ask(
    without: Sequence[float | None], alone: Sequence[float | None] = VALUES, variance: float = 1.0
) -> list[Paraphrase[CrossedEstimate | None]]:
    """Paraphrases by their values; ``variance`` is that over items without each."""

    def make(value: float | None) -> CrossedEstimate | None:
        return None if value is None else make_estimate(value, variance**0.5, 20)

    return [Paraphrase(*pair).map(make) for pair in zip(alone, without, strict=True)]


def test_the_spread_over_paraphrases_is_added_to_the_variance_over_items() -> None:
    found = add_spread(make_estimate(3.0, 1.0, 20), ask(WITHOUT))
    assert found.standard_error == pytest.approx((1 + 7 / 6) ** 0.5)
    # Each part of the variance with its own t: 2.086 at 20 degrees of freedom, 3.182 at 3.
    assert found.high == pytest.approx(3 + (2.086**2 + 3.182**2 * 7 / 6) ** 0.5, abs=1e-3)
    assert found.value == 3.0


def test_the_p_is_below_the_level_exactly_if_the_interval_excludes_zero() -> None:
    reach = (2.0859634**2 + 3.1824463**2 * 7 / 6) ** 0.5
    for value, excludes in ((reach + 1e-4, True), (reach - 1e-4, False)):
        found = add_spread(make_estimate(value, 1.0, 20), ask(WITHOUT))
        assert found.p is not None
        assert found.low is not None
        assert (found.p < 0.05) == (found.low > 0) == excludes


def test_what_items_and_paraphrases_share_is_not_counted_twice() -> None:
    # Items vary by 1 over all paraphrases and by 10/9 over three of them: of the variance of the four
    # estimates, (4/9) / 3 is theirs, and that times (K − 1)²/K is 1/3.
    found = add_spread(make_estimate(3.0, 1.0, 20), ask(WITHOUT, variance=10 / 9))
    assert found.standard_error == pytest.approx((1 + 7 / 6 - 1 / 3) ** 0.5)


def test_the_variance_is_never_smaller_than_that_over_items() -> None:
    own = make_estimate(3.0, 1.0, 20)
    found = add_spread(own, ask([3.0, 3.1, 2.9, 3.0], variance=2.0))
    assert found.standard_error == pytest.approx(1.0)
    assert (found.low, found.high) == pytest.approx((own.low, own.high))


def test_the_variance_is_never_smaller_than_that_over_paraphrases() -> None:
    # (4/3) times (K − 1)²/K is more than items alone vary by: 7/6 stays.
    found = add_spread(make_estimate(3.0, 1.0, 20), ask(WITHOUT, variance=2.0))
    assert found.standard_error == pytest.approx((7 / 6) ** 0.5)


def test_fewer_items_without_a_paraphrase_than_with_it_take_nothing_away() -> None:
    found = add_spread(make_estimate(3.0, 1.0, 20), ask(WITHOUT, variance=0.9))
    assert found.standard_error == pytest.approx((1 + 7 / 6) ** 0.5)


def test_the_noise_of_single_paraphrases_is_extrapolated_to_all_of_them() -> None:
    # Alone they vary half as much as they should: 1/B at 1, 1/3 and 1/4 is 2, 1 and 7/8 times 6/7.
    alone = [value / 2**0.5 for value in VALUES]
    found = add_spread(make_estimate(3.0, 1.0, 20), ask(WITHOUT, alone))
    assert found.standard_error == pytest.approx((1 + 7 / 6 * 8 / 7) ** 0.5)


@pytest.mark.parametrize("alone", [[3.0] * 4, [3.0, 3.0, 3.0, 3.1]])
def test_noise_alone_makes_the_spread_no_larger_than_by_a_third(alone: list[float]) -> None:
    # If there is nothing but noise, the variance of three is three times that of one, over 3/4.
    found = add_spread(make_estimate(3.0, 1.0, 20), ask(WITHOUT, alone))
    assert found.standard_error == pytest.approx((1 + 7 / 6 * 4 / 3) ** 0.5)


def test_paraphrases_that_are_further_apart_alone_change_nothing() -> None:
    found = add_spread(make_estimate(3.0, 1.0, 20), ask(WITHOUT, [2 * value for value in VALUES]))
    assert found.standard_error == pytest.approx((1 + 7 / 6) ** 0.5)


def test_two_paraphrases_are_each_other_without_the_first() -> None:
    # s² is 2, so s²/K is 1.
    found = add_spread(make_estimate(2.0, 1.0, 20), ask([3.0 + 1e-9, 1.0], [1.0, 3.0]))
    assert found.standard_error == pytest.approx(2**0.5)


def test_one_paraphrase_shows_no_spread() -> None:
    own = make_estimate(3.0, 1.0, 20)
    assert add_spread(own, ask([3.0], [3.0])) is own
    assert add_spread(own, []) is own


def test_a_figure_that_is_undefined_without_a_paraphrase_is_spread_over_the_others() -> None:
    # The variance of 11/3, 10/3 and 3 is 1/9; of four paraphrases, times 9/4. t has 2 degrees of freedom.
    alone = [0.0, 1.0, 2.0, 3.0]
    found = add_spread(make_estimate(3.0, 1.0, 20), ask([*WITHOUT[:3], None], alone))
    assert found.standard_error == pytest.approx(1.25**0.5)
    assert found.high == pytest.approx(3 + (2.086**2 + 4.303**2 / 4) ** 0.5, abs=1e-3)


def test_an_undefined_estimate_is_no_value() -> None:
    undefined = CrossedEstimate(None, None, None, UNDEFINED(), df=20)
    without = [*ask(WITHOUT[:3], [0.0, 1.0, 2.0]), Paraphrase(undefined, undefined)]
    own = make_estimate(3.0, 1.0, 20)
    assert add_spread(own, without) == add_spread(
        own, ask([*WITHOUT[:3], None], [0.0, 1.0, 2.0, None])
    )


def test_values_without_standard_errors_take_nothing_away() -> None:
    first, *others = ask(WITHOUT, variance=10 / 9)
    bare = Paraphrase(first.alone, first.without and replace(first.without, standard_error=None))
    found = add_spread(make_estimate(3.0, 1.0, 20), [bare, *others])
    assert found.standard_error == pytest.approx((1 + 7 / 6) ** 0.5)


def test_paraphrases_alone_can_make_an_interval() -> None:
    own = CrossedEstimate(3.0, 3.0, 3.0, standard_error=0.0, df=20)
    found = add_spread(own, ask(WITHOUT, variance=1e-20))
    assert found.standard_error == pytest.approx((7 / 6) ** 0.5)
    assert found.df == pytest.approx(3)


def estimate_shares(answers: Any, resamples: int = 2000) -> CrossedEstimate:
    """The share of ones, over items that are clusters of their own."""
    units = np.column_stack([answers, np.ones(len(answers))])
    [found] = crossed_intervals(
        statistic_of_sums(units, lambda sums: (sums[:, 0] / sums[:, 1])[:, None]),
        np.arange(len(answers)),
        seed=0,
        resamples=resamples,
    )
    return found


def flip_items(resamples: int = 2000) -> list[Paraphrase[CrossedEstimate | None]]:
    """Shares of 100 items without each paraphrase, where five items change their answer, up or down."""
    base, turn = np.arange(100) % 2, np.arange(100) % 20
    return [
        Paraphrase(None, estimate_shares(np.where(turn == own, 1 - base, base), resamples))
        for own in (0, 10, 1, 11)
    ]


def test_items_that_change_their_answers_are_no_spread_between_paraphrases() -> None:
    # The shares without each are .55, .55, .45 and .45, with a variance of 1/300. An answer is 3/4 off
    # the mean of the four in five items and 1/4 in fifteen, and .05 on average.
    of_items = (5 * 9 / 16 + 15 / 16 - 100 * 0.05**2) / 99 / 100
    expected = 0.05**2 + 9 / 4 * (1 / 300 - 4 / 3 * of_items)
    found = add_spread(make_estimate(0.5, 0.05, 99), flip_items())
    assert found.standard_error == pytest.approx(expected**0.5, rel=0.005)


def test_estimates_that_share_no_resamples_are_taken_for_means() -> None:
    own = make_estimate(0.5, 0.05, 99)
    mixed = [*flip_items()[:3], *flip_items(1000)[3:]]
    plain = [Paraphrase(None, one.without and replace(one.without, draws=None)) for one in mixed]
    assert add_spread(own, mixed) == add_spread(own, plain)
    assert add_spread(own, flip_items()) != add_spread(own, plain)


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
        without = (values.sum() - values) / 3
        found = add_spread(
            estimate, ask(without.tolist(), values.tolist(), items * (1 + 2 / 3) / 1.5)
        )
        assert found.low is not None
        assert found.high is not None
        covered.append(found.low <= 0 <= found.high)
    # With degrees of freedom after Satterthwaite it is 92.6% where paraphrases matter most.
    assert 0.94 <= np.mean(covered) <= 0.98
