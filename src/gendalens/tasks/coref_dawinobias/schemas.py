"""The counts of ``coref-dawinobias`` by schema, and the statistics of their sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from gendalens.data.pronouns import OTHER
from gendalens.results.result import Record
from gendalens.stats.crossed import (
    CONTRAST,
    DIFFERENCE,
    SHARE,
    CrossedEstimate,
    crossed_intervals,
    statistic_of_sums,
)
from gendalens.stats.estimate import FloatArray, log2_ratios
from gendalens.stats.f1 import rate
from gendalens.stats.paired import Clusters, Summed

CONDITIONS = ("anti", "pro")
GENDERS = ("female", "male")
CELLS = [(condition, gender) for condition in CONDITIONS for gender in GENDERS]
#: Indices of the last axis: right links, wrong links, linked lines, lines.
RIGHT, WRONG, LINKED_LINES, LINES = range(4)
Each = TypeVar("Each")


@dataclass(frozen=True, slots=True)
class Schemas:
    """Sufficient statistics, a row per schema.

    ``counts`` has the axes schema, condition (anti, pro), gender of the right occupation (female,
    male), and right links / wrong links / linked lines / lines.
    """

    counts: FloatArray
    male_occupation: npt.NDArray[np.intp]
    female_occupation: npt.NDArray[np.intp]


class GenderStatistics(NamedTuple, Generic[Each]):
    """F1 by condition and gender of the right occupation, their contrast, and further statistics.

    ``linked_female`` and ``linked_male`` are the shares of lines with a female or male pronoun that
    are linked at all; ``male_default`` is their difference.
    """

    anti_female: Each
    anti_male: Each
    pro_female: Each
    pro_male: Each
    contrast: Each
    linked_female: Each
    linked_male: Each
    male_default: Each
    gap: Each

    @property
    def cells(self) -> dict[tuple[str, str], Each]:
        """The four F1 scores by condition and gender."""
        values = (self.anti_female, self.anti_male, self.pro_female, self.pro_male)
        return dict(zip(CELLS, values, strict=True))


def tabulate(records: Sequence[Record]) -> Schemas:
    """The counts of each schema, from its rows."""
    # Sorted, so that the resamples do not depend on the order of the records.
    schemas = {name: i for i, name in enumerate(sorted({r["schema"] for r in records}))}
    counts = np.zeros((len(schemas), 2, 2, 4))
    occupation: dict[str, list[str]] = {gender: [""] * len(schemas) for gender in GENDERS}
    for row in records:
        i, outcome, gender = schemas[row["schema"]], row["outcome"], row["referent_stereotype"]
        counts[i, CONDITIONS.index(row["condition"]), GENDERS.index(gender)] += (
            outcome in ("right", "both"),
            outcome in ("wrong", "both"),
            outcome != "none",
            1,
        )
        occupation[gender][i] = row["referent"]
        occupation[OTHER[gender]][i] = row["other"]
    codes = {g: np.unique(names, return_inverse=True)[1] for g, names in occupation.items()}
    return Schemas(counts, codes["male"], codes["female"])


def link_f1(counts: FloatArray) -> FloatArray:
    """F1 of links, from counts with the last axis of :class:`Schemas`.

    With precision = right / (right + wrong) and recall = right / lines, their harmonic mean is
    2 right / (right + wrong + lines).
    """
    right, wrong, lines = (counts[..., i] for i in (RIGHT, WRONG, LINES))
    return rate(2 * right, right + wrong + lines)


def estimate_by_gender(
    schemas: Schemas, *, seed: int, resamples: int
) -> GenderStatistics[CrossedEstimate]:
    """The statistics, with intervals over male and female occupations as crossed clusters."""
    units = schemas.counts.reshape(len(schemas.counts), -1)
    return GenderStatistics(
        *crossed_intervals(
            statistic_of_sums(units, _split_by_gender),
            schemas.male_occupation,
            schemas.female_occupation,
            seed=seed,
            resamples=resamples,
            ranges=GenderStatistics(
                SHARE,
                SHARE,
                SHARE,
                SHARE,
                contrast=CONTRAST,
                linked_female=SHARE,
                linked_male=SHARE,
                male_default=DIFFERENCE,
                gap=DIFFERENCE,
            ),
        )
    )


def _split_by_gender(sums: FloatArray) -> FloatArray:
    counts = sums.reshape(-1, 2, 2, 4)
    cells = link_f1(counts)
    lift = cells[:, 1] - cells[:, 0]
    # The pronoun has the gender of the right occupation in a pro line, the other in an anti line.
    of_female = counts[:, 1, 0] + counts[:, 0, 1]
    of_male = counts[:, 1, 1] + counts[:, 0, 0]
    female, male = (rate(side[:, LINKED_LINES], side[:, LINES]) for side in (of_female, of_male))
    main = link_f1(counts.sum(axis=2))
    anti_female, anti_male, pro_female, pro_male = cells.reshape(-1, 4).T
    found = GenderStatistics(
        anti_female,
        anti_male,
        pro_female,
        pro_male,
        contrast=lift[:, 1] - lift[:, 0],
        linked_female=female,
        linked_male=male,
        male_default=male - female,
        gap=main[:, 1] - main[:, 0],
    )
    return np.column_stack(found)


def clusters(records: Sequence[Record]) -> Clusters:
    """The counts of the schemas, for differences between systems."""
    counts = tabulate(records).counts.sum(axis=2)
    names = tuple(sorted({row["schema"] for row in records}))
    return Summed(names, counts.reshape(len(counts), -1), _gap_and_effect)


def _gap_and_effect(sums: FloatArray) -> FloatArray:
    anti, pro = link_f1(sums.reshape(-1, 2, 4)).T
    return np.column_stack([pro - anti, log2_ratios(pro, anti)])
