"""The counts of ``ner-dane`` resampled over documents and names, and the statistics taken from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from gendalens.stats.crossed import (
    CrossedDraws,
    CrossedEstimate,
    crossed_draws,
    statistic_of_sums,
)
from gendalens.stats.estimate import Estimate, FloatArray, log2_ratio, log2_ratios
from gendalens.stats.f1 import rate
from gendalens.tasks.ner_dane.messages import SIDES
from gendalens.tasks.ner_dane.tally import ENTITY_LABELS, PER, Counts, micro_f1

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
    """Sums of counts and their resamples, from which all intervals are taken."""

    counts: Counts
    sums: CrossedDraws

    @classmethod
    def draw(cls, counts: Counts, *, seed: int, resamples: int, new_names: bool = True) -> Sample:
        """Resample the counts once, for all statistics.

        Documents and first names are crossed clusters, and names are drawn within their group. Without
        ``new_names``, only documents are resampled: the figures then speak of these names alone.
        """
        statistic = statistic_of_sums(flatten(counts), lambda sums: sums)
        names, strata = (counts.names, counts.strata) if new_names else (None, None)
        sums = crossed_draws(
            statistic, counts.documents, names, seed=seed, resamples=resamples, strata_b=strata
        )
        return cls(counts, sums)

    @property
    def total(self) -> FloatArray:
        """The sums of the data, by group and label."""
        return np.asarray(unflatten(self.sums.points[None])[0])

    def estimate(self, statistic: CountStatistic) -> CrossedEstimate:
        """A statistic of the groups, with its interval."""
        df = max(0, min(self.sums.df, self.counts.effective_documents - 1))
        (found,) = self.sums.map(lambda sums: statistic(unflatten(sums))[:, None]).estimates([df])
        return found

    def share(self, statistic: CountStatistic) -> CrossedEstimate:
        """A statistic that is a share, with its interval."""
        return self.estimate(statistic).within(0.0, 1.0)

    def judged(self, statistic: CountStatistic, most: float = 1.0) -> CrossedEstimate:
        """A difference of shares that the test is judged on; it allows for one more name."""
        return self.estimate(statistic).widen(self.counts.least_names, most).within(-most, most)

    def effect(self, origin: int = 0) -> Estimate:
        """GES = log2(F1 male / F1 female) within an origin."""
        female, male = 2 * origin, 2 * origin + 1
        point = micro_f1(self.total)
        _, reason = log2_ratio(float(point[male]), float(point[female]), sides=SIDES)
        if reason is not None:
            return Estimate(None, None, None, reason)
        found = self.estimate(lambda counts: effect_of(counts, origin))
        return Estimate(**found.parts())


def flatten(counts: Counts) -> FloatArray:
    """The counts as units of a statistic of sums."""
    return counts.units.reshape(len(counts.units), -1)


def unflatten(sums: FloatArray) -> FloatArray:
    """Sums of units by group and label."""
    return sums.reshape(len(sums), -1, len(ENTITY_LABELS), 3)


def effect_of(counts: FloatArray, origin: int = 0) -> FloatArray:
    """GES of counts with four groups, within an origin."""
    f1 = micro_f1(counts)
    return log2_ratios(f1[:, 2 * origin + 1], f1[:, 2 * origin])


def gender_gap(metric: CountStatistic, origin: int = 0) -> CountStatistic:
    """Male minus female of a metric, within an origin."""
    return lambda counts: metric(counts)[:, 2 * origin + 1] - metric(counts)[:, 2 * origin]


def gap_contrast(metric: CountStatistic) -> CountStatistic:
    """The gender gap of minority names minus that of majority names."""
    return lambda counts: gender_gap(metric, 1)(counts) - gender_gap(metric, 0)(counts)


def origin_gap(metric: CountStatistic) -> CountStatistic:
    """Majority minus minority names, each the mean of both genders."""

    def gap(counts: FloatArray) -> FloatArray:
        by_group = metric(counts)
        return np.asarray(by_group[:, :2].mean(axis=1) - by_group[:, 2:4].mean(axis=1))

    return gap
