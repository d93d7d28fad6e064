"""The estimates of ``lm-abc``: medians, preferences and class contrast, from the same resamples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from gendalens.results.result import Record
from gendalens.stats.bootstrap import make_summable
from gendalens.stats.crossed import CrossedEstimate, statistic_of_sums, weighted_medians
from gendalens.stats.estimate import FloatArray, log2_ratios
from gendalens.stats.f1 import rate
from gendalens.stats.paired import Clusters
from gendalens.tasks.shared.abc_triples import Triples, count_freedom, cross_triples, triple_key
from gendalens.tasks.shared.headline import keep_headline
from gendalens.tasks.shared.occupation_classes import encode_classes, split_by_class

Each = TypeVar("Each")


class Medians(NamedTuple, Generic[Each]):
    """The medians of *hendes* and *hans*, overall and by class of the occupation, and GES."""

    female: Each
    male: Each
    female_in_female: Each
    male_in_female: Each
    female_in_male: Each
    male_in_male: Each
    ges: Each


class Preferences(NamedTuple, Generic[Each]):
    """The preference for *hans* in bits, overall, by class, and male minus female class."""

    overall: Each
    in_female: Each
    in_male: Each
    contrast: Each


@dataclass(frozen=True, slots=True)
class Estimates:
    """All estimates on one set of triples, by condition and class."""

    ges: CrossedEstimate
    conditions: dict[str, CrossedEstimate]
    cells: dict[tuple[str, str], CrossedEstimate]
    bits: CrossedEstimate
    bits_by_class: dict[str, CrossedEstimate]
    contrast: CrossedEstimate


def tabulate(records: Sequence[Record]) -> Triples:
    """The triples as columns, from two rows each."""
    pairs = pair_rows(records)

    def codes(field: str) -> npt.NDArray[np.intp]:
        return np.unique([f[field] for f, _ in pairs], return_inverse=True)[1]

    return Triples(
        np.array([f["relative_perplexity"] for f, _ in pairs]),
        np.array([m["relative_perplexity"] for _, m in pairs]),
        np.array([m["log_likelihood"] - f["log_likelihood"] for f, m in pairs]) / math.log(2),
        codes("frame"),
        codes("occupation"),
        encode_classes(f["occupation_class"] for f, _ in pairs),
    )


def estimate(triples: Triples, *, seed: int, resamples: int) -> Estimates:
    """All estimates of the task; medians and preferences share the resamples."""
    medians = _estimate_medians(triples, seed=seed, resamples=resamples)
    preferences = estimate_preferences(triples, seed=seed, resamples=resamples)
    return Estimates(
        ges=medians.ges,
        conditions={"female": medians.female, "male": medians.male},
        cells={
            ("female", "female"): medians.female_in_female,
            ("male", "female"): medians.male_in_female,
            ("female", "male"): medians.female_in_male,
            ("male", "male"): medians.male_in_male,
        },
        bits=preferences.overall,
        bits_by_class={"female": preferences.in_female, "male": preferences.in_male},
        contrast=preferences.contrast,
    )


def estimate_preferences(
    triples: Triples, *, seed: int, resamples: int
) -> Preferences[CrossedEstimate]:
    """The preferences in bits, on which the test is judged."""
    in_female, in_male = count_freedom(triples)
    freedom: Preferences[int | None] = Preferences(
        overall=None, in_female=in_female, in_male=in_male, contrast=min(in_female, in_male)
    )
    return Preferences(
        *cross_triples(
            statistic_of_sums(_list_units(triples), _compute_preferences),
            triples,
            df=freedom,
            seed=seed,
            resamples=resamples,
        )
    )


def _list_units(triples: Triples) -> FloatArray:
    """What each triple adds to the sums: its bits and a count, separately by class."""
    units = np.column_stack([triples.bits, np.ones(len(triples.bits))])
    return split_by_class(units, triples.classes)


def _compute_preferences(sums: FloatArray) -> FloatArray:
    by_female, by_male = (rate(sums[:, i], sums[:, i + 1]) for i in (0, 2))
    overall = rate(sums[:, ::2].sum(axis=1), sums[:, 1::2].sum(axis=1))
    return np.column_stack(Preferences(overall, by_female, by_male, by_male - by_female))


def _estimate_medians(triples: Triples, *, seed: int, resamples: int) -> Medians[CrossedEstimate]:
    female, male = triples.by_class

    def statistic(weights: FloatArray) -> FloatArray:
        of_female, of_male = (weighted_medians(p, weights) for p in (triples.female, triples.male))
        found = Medians(
            female=of_female,
            male=of_male,
            female_in_female=weighted_medians(triples.female, weights, where=female),
            male_in_female=weighted_medians(triples.male, weights, where=female),
            female_in_male=weighted_medians(triples.female, weights, where=male),
            male_in_male=weighted_medians(triples.male, weights, where=male),
            ges=log2_ratios(of_female, of_male),
        )
        return np.column_stack(found)

    in_female, in_male = count_freedom(triples)
    freedom: Medians[int | None] = Medians(
        female=None,
        male=None,
        female_in_female=in_female,
        male_in_female=in_female,
        female_in_male=in_male,
        male_in_male=in_male,
        ges=None,
    )
    return Medians(*cross_triples(statistic, triples, df=freedom, seed=seed, resamples=resamples))


def clusters(records: Sequence[Record]) -> Clusters:
    """The triples in crossed frames and occupations, for differences between models."""
    records = keep_headline(records)
    triples = tabulate(sorted(records, key=triple_key))
    split = make_summable(_list_units(triples))

    def statistic(weights: FloatArray) -> FloatArray:
        hendes, hans = (weighted_medians(p, weights) for p in (triples.female, triples.male))
        overall, _, _, contrast = _compute_preferences(weights @ split).T
        return np.column_stack([overall, contrast, log2_ratios(hendes, hans)])

    return Clusters(
        names=tuple(sorted({triple_key(row) for row in records})),
        statistic=statistic,
        first=triples.frame,
        second=triples.occupation,
        strata=triples.classes,
        groups=1,
    )


def pair_rows(records: Sequence[Record]) -> list[tuple[Record, Record]]:
    """The two rows of each triple: *hendes*, *hans*."""
    rows: dict[tuple[int, str, str], dict[str, Record]] = {}
    for row in records:
        rows.setdefault(triple_key(row), {})[row["condition"]] = row
    return [(pair["female"], pair["male"]) for pair in rows.values()]
