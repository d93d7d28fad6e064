"""The counts of ``ner-dane`` resampled over sentences, and the statistics taken from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from gendalens.stats.bootstrap import percentile_interval, resample_sums
from gendalens.stats.estimate import Estimate, FloatArray, log2_ratio, log2_ratios
from gendalens.stats.f1 import rate
from gendalens.stats.signflip import swap_test
from gendalens.tasks.ner_dane.messages import SIDES
from gendalens.tasks.ner_dane.tally import ENTITY_LABELS, GROUPS, Counts, micro_f1

PER = ENTITY_LABELS.index("PER")
FEMALE, MALE = GROUPS.index(("majority", "female")), GROUPS.index(("majority", "male"))
#: Maps counts (… × group × label × 3) to one number per group, or one for all groups.
CountStatistic: TypeAlias = Callable[[FloatArray], FloatArray]


def person_recall(counts: FloatArray) -> FloatArray:
    """The share of persons found."""
    return rate(counts[..., PER, 0], counts[..., PER, 0] + counts[..., PER, 2])


def person_precision(counts: FloatArray) -> FloatArray:
    """The share of predicted persons that are right."""
    return rate(counts[..., PER, 0], counts[..., PER, 0] + counts[..., PER, 1])


@dataclass(frozen=True, slots=True)
class Sample:
    """Counts and their resamples over sentences, from which all intervals are taken."""

    counts: Counts
    total: FloatArray
    drawn: FloatArray

    @classmethod
    def draw(cls, counts: Counts, *, seed: int, resamples: int) -> Sample:
        """Resample the counts once, for all statistics."""
        shape = counts.sentences.shape
        flat = counts.sentences.reshape(shape[0], -1)
        drawn = resample_sums(flat, seed=seed, resamples=resamples)
        return cls(counts, counts.sentences.sum(axis=0), drawn.reshape(-1, *shape[1:]))

    def estimate(self, statistic: CountStatistic) -> Estimate:
        """A statistic of the groups, with its interval."""
        point = float(statistic(self.total[None])[0])
        return percentile_interval(statistic(self.drawn), point)

    def effect(self, origin: int = 0) -> Estimate:
        """GES = log2(F1 male / F1 female) within an origin."""
        female, male = 2 * origin, 2 * origin + 1
        point = micro_f1(self.total)
        value, reason = log2_ratio(float(point[male]), float(point[female]), sides=SIDES)
        drawn = micro_f1(self.drawn)
        return percentile_interval(log2_ratios(drawn[:, male], drawn[:, female]), value, reason)


def gender_gap(metric: CountStatistic, origin: int = 0) -> CountStatistic:
    """Male minus female of a metric, within an origin."""
    return lambda counts: metric(counts)[:, 2 * origin + 1] - metric(counts)[:, 2 * origin]


class SwapTests(NamedTuple):
    """p of the gap (genders exchanged by sentence) and of the contrast (origins exchanged)."""

    gap: float | None
    contrast: float | None


def run_swap_tests(counts: Counts, *, seed: int) -> SwapTests:
    """Run both sign-flip tests of the headline."""
    rows = counts.sentences
    flat = rows.reshape(len(rows), rows.shape[1], -1)
    shape = (-1, len(ENTITY_LABELS), 3)

    def gap(male: FloatArray, female: FloatArray) -> FloatArray:
        return np.asarray(micro_f1(male.reshape(shape)) - micro_f1(female.reshape(shape)))

    def contrast(minority: FloatArray, majority: FloatArray) -> FloatArray:
        wide = (len(minority), 2, *shape[1:])
        one, two = micro_f1(minority.reshape(wide)), micro_f1(majority.reshape(wide))
        return np.asarray((one[:, 1] - one[:, 0]) - (two[:, 1] - two[:, 0]))

    both = flat[:, :4].reshape(len(rows), 2, -1)
    return SwapTests(
        gap=swap_test(flat[:, MALE], flat[:, FEMALE], gap, seed=seed),
        contrast=swap_test(both[:, 1], both[:, 0], contrast, seed=seed),
    )
