"""Triples as columns in crossed clusters: what the tests of two possessives in ABC share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gendalens.results.result import Record
from gendalens.stats.crossed import CrossedEstimate, Statistic, crossed_intervals
from gendalens.stats.estimate import FloatArray
from gendalens.tasks.shared.occupation_classes import FEMALE, MALE


@dataclass(frozen=True, slots=True)
class Triples:
    """The triples as columns."""

    female: FloatArray
    male: FloatArray
    bits: FloatArray
    frame: npt.NDArray[np.intp]
    occupation: npt.NDArray[np.intp]
    classes: npt.NDArray[np.intp]

    @property
    def by_class(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Which triples have a female-typed, and which a male-typed occupation."""
        return self.classes == FEMALE, self.classes == MALE


def triple_key(row: Record) -> tuple[int, str, str]:
    """The key that identifies a triple."""
    return row["frame"], row["occupation"], row["tense"]


def count_freedom(triples: Triples) -> tuple[int, int]:
    """The degrees of freedom of figures over one class: female, male."""
    frames = len(np.unique(triples.frame))
    in_female, in_male = (
        max(0, min(frames, len(np.unique(triples.occupation[rows]))) - 1)
        for rows in triples.by_class
    )
    return in_female, in_male


def cross_triples(
    statistic: Statistic,
    triples: Triples,
    *,
    df: Sequence[int | None],
    seed: int,
    resamples: int,
) -> list[CrossedEstimate]:
    """Statistics with frames and occupations as crossed clusters.

    The class is a fixed factor of the design, so occupations are drawn within it.
    """
    return crossed_intervals(
        statistic,
        triples.frame,
        triples.occupation,
        seed=seed,
        resamples=resamples,
        strata_b=triples.classes,
        df=df,
    )
