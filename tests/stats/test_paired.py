"""Differences between models: paired, covering, and exactly zero for a model against itself."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from gendalens.stats.estimate import FloatArray, log2_ratios
from gendalens.stats.f1 import rate
from gendalens.stats.paired import Clusters, Crossed, Summed, differences

SIZE = 120


def gap_and_effect(sums: FloatArray) -> FloatArray:
    first, second = rate(sums[:, 0], sums[:, 2]), rate(sums[:, 1], sums[:, 2])
    return np.column_stack([first - second, log2_ratios(first, second)])


def summed(rng: np.random.Generator, shared: FloatArray, lift: float = 0.0) -> Summed:
    """120 clusters with two conditions of 10 trials; ``shared`` is how hard each cluster is."""
    chance = np.clip(0.5 + shared, 0.05, 0.95)
    counts = np.column_stack(
        [rng.binomial(10, np.clip(chance + lift, 0, 1)), rng.binomial(10, chance[::-1])]
    )
    units = np.column_stack([counts, np.full(SIZE, 10)]).astype(float)
    return Summed(tuple(range(SIZE)), units, gap_and_effect)


def crossed(values: FloatArray) -> Crossed:
    """20 × 24 cells with one value each; the gap is their mean."""
    first, second = (np.array(codes) for codes in zip(*product(range(20), range(24)), strict=True))

    def statistic(weights: FloatArray) -> FloatArray:
        means = weights @ values / weights.sum(axis=1)
        return np.column_stack([means, means])

    return Crossed(tuple(range(480)), statistic, first, second, (second >= 12).astype(np.intp))


def models(seed: int) -> list[Clusters]:
    rng = np.random.default_rng(seed)
    return [summed(rng, rng.normal(0, 0.2, SIZE)), crossed(rng.normal(0, 1, 480))]


@pytest.mark.parametrize("model", models(1), ids=["summed", "crossed"])
def test_a_model_against_itself_differs_by_exactly_zero(model: Clusters) -> None:
    found = differences([model, model], seed=3, resamples=200)[0, 1]
    for estimate in (found.gap, found.effect):
        assert (estimate.value, estimate.low, estimate.high) == (0, 0, 0)
    assert found.p == 1


def test_every_two_of_three_models_are_there_and_add_up() -> None:
    rng = np.random.default_rng(2)
    three = [summed(rng, rng.normal(0, 0.2, SIZE)) for _ in range(3)]
    found = differences(three, seed=0, resamples=200)
    assert set(found) == {(0, 1), (0, 2), (1, 2)}
    a, b, whole = (found[pair].gap.value for pair in ((0, 1), (1, 2), (0, 2)))
    assert a is not None
    assert b is not None
    assert whole == pytest.approx(a + b)


def test_what_two_models_share_cancels() -> None:
    """Clusters of very different gaps make each model's gap uncertain, and their difference not."""
    rng = np.random.default_rng(4)
    shared = rng.normal(0, 0.3, SIZE)
    same, other = summed(rng, shared), summed(rng, shared)
    stranger = summed(rng, rng.normal(0, 0.3, SIZE))
    found = differences([same, other, stranger], seed=0)
    paired, unpaired = found[0, 1].gap, found[0, 2].gap
    assert paired.low is not None
    assert paired.high is not None
    assert unpaired.low is not None
    assert unpaired.high is not None
    assert (paired.high - paired.low) < 0.7 * (unpaired.high - unpaired.low)


def test_equal_models_differ_in_one_case_of_twenty_and_their_zero_is_covered() -> None:
    covered, rejected, size = 0, 0, 120
    for seed in range(size):
        rng = np.random.default_rng(1000 + seed)
        shared = rng.normal(0, 0.2, SIZE)
        found = differences([summed(rng, shared), summed(rng, shared)], seed=seed, resamples=300)
        gap, p = found[0, 1].gap, found[0, 1].p
        assert gap.low is not None
        assert gap.high is not None
        assert p is not None
        covered += gap.low <= 0 <= gap.high
        rejected += p < 0.05
    assert 0.89 <= covered / size <= 0.99
    assert rejected / size <= 0.1


def test_a_planted_difference_of_crossed_means_is_covered() -> None:
    covered, size = 0, 100
    for seed in range(size):
        rng = np.random.default_rng(5000 + seed)
        shared = (rng.normal(0, 1, 20)[:, None] + rng.normal(0, 1, 24)).ravel()
        own = (rng.normal(0, 0.5, 20)[:, None] + rng.normal(0, 0.5, 24)).ravel()
        first = crossed(shared + own + rng.normal(0, 1, 480) + 0.5)
        second = crossed(shared + rng.normal(0, 1, 480))
        gap = differences([first, second], seed=seed, resamples=200)[0, 1].gap
        assert gap.low is not None
        assert gap.high is not None
        covered += gap.low <= 0.5 <= gap.high
    assert 0.88 <= covered / size <= 1


def test_models_on_different_items_are_not_paired() -> None:
    one = models(1)[0]
    other = Summed(tuple(range(1, SIZE + 1)), np.ones((SIZE, 3)), gap_and_effect)
    with pytest.raises(ValueError, match="same clusters"):
        differences([one, other], seed=0)
