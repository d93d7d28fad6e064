"""Differences between models: paired, covering, and exactly zero for a model against itself."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from gendalens.stats.crossed import CrossedEstimate, statistic_of_sums
from gendalens.stats.estimate import FloatArray, log2_ratios
from gendalens.stats.f1 import rate
from gendalens.stats.paired import Clusters, differences

SIZE = 120


def figures(sums: FloatArray) -> FloatArray:
    """A gap, a figure of groups (the sum of both shares) and the effect."""
    first, second = rate(sums[:, 0], sums[:, 2]), rate(sums[:, 1], sums[:, 2])
    return np.column_stack([first - second, first + second, log2_ratios(first, second)])


def one_way(
    rng: np.random.Generator, shared: FloatArray, lift: float = 0.0, chance: float = 0.5
) -> Clusters:
    """120 clusters with two conditions of 10 trials; ``shared`` is how hard each cluster is."""
    chances = np.clip(chance + shared, 0.02, 0.98)
    counts = np.column_stack(
        [rng.binomial(10, np.clip(chances + lift, 0, 1)), rng.binomial(10, chances)]
    )
    units = np.column_stack([counts, np.full(SIZE, 10)]).astype(float)
    return Clusters(
        names=tuple(range(SIZE)),
        statistic=statistic_of_sums(units, figures),
        first=np.arange(SIZE),
        groups=1,
    )


def crossed(values: FloatArray) -> Clusters:
    """20 × 24 cells with one value each; the gap is their mean."""
    first, second = (np.array(codes) for codes in zip(*product(range(20), range(24)), strict=True))

    def statistic(weights: FloatArray) -> FloatArray:
        means = weights @ values / weights.sum(axis=1)
        return np.column_stack([means, means])

    return Clusters(
        names=tuple(range(480)),
        statistic=statistic,
        first=first,
        second=second,
        strata=(second >= 12).astype(np.intp),
    )


def gap_of(models: list[Clusters], *, seed: int = 0, resamples: int = 2000) -> CrossedEstimate:
    return differences(models, seed=seed, resamples=resamples)[0, 1].main[0]


def models(seed: int) -> list[Clusters]:
    rng = np.random.default_rng(seed)
    return [one_way(rng, rng.normal(0, 0.2, SIZE)), crossed(rng.normal(0, 1, 480))]


@pytest.mark.parametrize("model", models(1), ids=["one way", "crossed"])
def test_a_model_against_itself_differs_by_exactly_zero(model: Clusters) -> None:
    found = differences([model, model], seed=3, resamples=200)[0, 1]
    for estimate in (*found.main, *found.groups, found.effect):
        assert (estimate.value, estimate.low, estimate.high, estimate.p) == (0, 0, 0, 1)
    assert (len(found.main), len(found.groups)) == (model.main, model.groups)


def test_every_two_of_three_models_are_there_and_add_up() -> None:
    rng = np.random.default_rng(2)
    three = [one_way(rng, rng.normal(0, 0.2, SIZE)) for _ in range(3)]
    found = differences(three, seed=0, resamples=200)
    assert set(found) == {(0, 1), (0, 2), (1, 2)}
    a, b, whole = (found[pair].main[0].value for pair in ((0, 1), (1, 2), (0, 2)))
    assert a is not None
    assert b is not None
    assert whole == pytest.approx(a + b)


def test_what_two_models_share_cancels() -> None:
    """Clusters of very different values make each model uncertain, and the difference of two not."""
    rng = np.random.default_rng(4)
    shared = rng.normal(0, 1, (20, 1)) + np.zeros((20, 24))
    same, other = (crossed((shared + rng.normal(0, 1, (20, 24))).ravel()) for _ in range(2))
    stranger = crossed((rng.normal(0, 1, (20, 1)) + rng.normal(0, 1, (20, 24))).ravel())
    found = differences([same, other, stranger], seed=0)
    paired, unpaired = (found[pair].main[0].standard_error for pair in ((0, 1), (0, 2)))
    assert paired is not None
    assert unpaired is not None
    assert paired < 0.7 * unpaired


@pytest.mark.parametrize("chance", [0.5, 0.9])
def test_equal_gaps_differ_in_one_case_of_twenty_whatever_the_accuracy(chance: float) -> None:
    """The second model is right half of the time, the first as often or much more often."""
    covered, rejected, size = 0, 0, 160
    for seed in range(size):
        rng = np.random.default_rng(1000 + seed)
        shared = rng.normal(0, 0.1, SIZE)
        models = [one_way(rng, shared, chance=chance), one_way(rng, shared)]
        gap = gap_of(models, seed=seed, resamples=300)
        assert gap.low is not None
        assert gap.high is not None
        assert gap.p is not None
        covered += gap.low <= 0 <= gap.high
        rejected += gap.p < 0.05
        assert (gap.p < 0.05) == (not gap.low <= 0 <= gap.high)
    assert 0.90 <= covered / size <= 0.99
    assert rejected / size <= 0.1


def test_a_planted_difference_of_crossed_means_is_covered() -> None:
    covered, size = 0, 100
    for seed in range(size):
        rng = np.random.default_rng(5000 + seed)
        shared = (rng.normal(0, 1, 20)[:, None] + rng.normal(0, 1, 24)).ravel()
        own = (rng.normal(0, 0.5, 20)[:, None] + rng.normal(0, 0.5, 24)).ravel()
        first = crossed(shared + own + rng.normal(0, 1, 480) + 0.5)
        second = crossed(shared + rng.normal(0, 1, 480))
        gap = gap_of([first, second], seed=seed, resamples=200)
        assert gap.low is not None
        assert gap.high is not None
        covered += gap.low <= 0.5 <= gap.high
    assert 0.88 <= covered / size <= 1


def test_models_on_different_items_are_not_paired() -> None:
    one = models(1)[0]
    other = replace(one, names=tuple(range(1, SIZE + 1)))
    with pytest.raises(ValueError, match="same clusters"):
        differences([one, other], seed=0)
