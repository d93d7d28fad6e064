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
from gendalens.stats.crossed import CrossedEstimate, crossed_intervals, weighted_medians
from gendalens.stats.estimate import FloatArray, log2_ratios
from gendalens.stats.paired import Clusters, Crossed

Each = TypeVar("Each")


class Statistics(NamedTuple, Generic[Each]):
    """One value per statistic of the test: its resamples, its degrees of freedom, or its estimate.

    ``female`` and ``male`` are the medians of *hendes* and *hans*; names with ``_in_female`` and
    ``_in_male`` are over the triples with female and male occupations.
    """

    female: Each
    male: Each
    female_in_female: Each
    male_in_female: Each
    female_in_male: Each
    male_in_male: Each
    ges: Each
    bits: Each
    bits_in_female: Each
    bits_in_male: Each
    contrast: Each


@dataclass(frozen=True, slots=True)
class Triples:
    """The triples as columns."""

    female: FloatArray
    male: FloatArray
    bits: FloatArray
    frame: npt.NDArray[np.intp]
    occupation: npt.NDArray[np.intp]
    male_class: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Estimates:
    """All estimates on one set of triples, by condition and class, from the same resamples."""

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
        np.array([f["occupation_class"] == "male" for f, _ in pairs]),
    )


def estimate(triples: Triples, *, seed: int, resamples: int) -> Estimates:
    """All estimates of the task, from the same resamples."""
    male, female = triples.male_class, ~triples.male_class
    bits = np.column_stack([triples.bits, np.ones(len(male))])
    split = make_summable(np.column_stack([bits * female[:, None], bits * male[:, None]]))

    def statistic(weights: FloatArray) -> FloatArray:
        sums = weights @ split
        by_female, by_male = _divide(sums[:, 0], sums[:, 1]), _divide(sums[:, 2], sums[:, 3])
        of_female, of_male = (weighted_medians(p, weights) for p in (triples.female, triples.male))
        found = Statistics(
            female=of_female,
            male=of_male,
            female_in_female=weighted_medians(triples.female, weights, where=female),
            male_in_female=weighted_medians(triples.male, weights, where=female),
            female_in_male=weighted_medians(triples.female, weights, where=male),
            male_in_male=weighted_medians(triples.male, weights, where=male),
            ges=log2_ratios(of_female, of_male),
            bits=_divide(sums[:, 0] + sums[:, 2], sums[:, 1] + sums[:, 3]),
            bits_in_female=by_female,
            bits_in_male=by_male,
            contrast=by_male - by_female,
        )
        return np.column_stack(found)

    frames = len(np.unique(triples.frame))
    in_female, in_male = (
        max(0, min(frames, len(np.unique(triples.occupation[rows]))) - 1) for rows in (female, male)
    )
    freedom: Statistics[int | None] = Statistics(
        female=None,
        male=None,
        female_in_female=in_female,
        male_in_female=in_female,
        female_in_male=in_male,
        male_in_male=in_male,
        ges=None,
        bits=None,
        bits_in_female=in_female,
        bits_in_male=in_male,
        contrast=min(in_female, in_male),
    )
    # The class is a fixed factor of the design, so occupations are drawn within it.
    found = Statistics(
        *crossed_intervals(
            statistic,
            triples.frame,
            triples.occupation,
            seed=seed,
            resamples=resamples,
            strata_b=male.astype(np.intp),
            df=freedom,
        )
    )
    return Estimates(
        ges=found.ges,
        conditions={"female": found.female, "male": found.male},
        cells={
            ("female", "female"): found.female_in_female,
            ("male", "female"): found.male_in_female,
            ("female", "male"): found.female_in_male,
            ("male", "male"): found.male_in_male,
        },
        bits=found.bits,
        bits_by_class={"female": found.bits_in_female, "male": found.bits_in_male},
        contrast=found.contrast,
    )


def clusters(records: Sequence[Record]) -> Clusters:
    """The triples in crossed frames and occupations, for differences between models."""
    triples = tabulate(sorted(records, key=_triple_key))
    bits = make_summable(np.column_stack([triples.bits, np.ones(len(triples.bits))]))

    def statistic(weights: FloatArray) -> FloatArray:
        female, male = (weighted_medians(p, weights) for p in (triples.female, triples.male))
        sums = weights @ bits
        return np.column_stack([_divide(sums[:, 0], sums[:, 1]), log2_ratios(female, male)])

    names = tuple(sorted({_triple_key(row) for row in records}))
    strata = triples.male_class.astype(np.intp)
    return Crossed(names, statistic, triples.frame, triples.occupation, strata)


def pair_rows(records: Sequence[Record]) -> list[tuple[Record, Record]]:
    """The two rows of each triple: *hendes*, *hans*."""
    rows: dict[tuple[int, str, str], dict[str, Record]] = {}
    for row in records:
        rows.setdefault(_triple_key(row), {})[row["condition"]] = row
    return [(pair["female"], pair["male"]) for pair in rows.values()]


def _triple_key(row: Record) -> tuple[int, str, str]:
    """The key that identifies a triple."""
    return row["frame"], row["occupation"], row["tense"]


def _divide(top: FloatArray, bottom: FloatArray) -> FloatArray:
    return np.asarray(top / np.where(bottom > 0, bottom, np.nan))
