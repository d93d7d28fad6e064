"""The counts of ``lm-dawinobias`` by schema, and the statistics of their sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from gendalens.results.result import Record
from gendalens.stats.bootstrap import percentile_interval, resample_sums
from gendalens.stats.crossed import (
    CONTRAST,
    DIFFERENCE,
    SHARE,
    CrossedEstimate,
    crossed_intervals,
    statistic_of_sums,
)
from gendalens.stats.estimate import Estimate, FloatArray
from gendalens.stats.f1 import f1_from_counts, rate

Reading = Literal["open", "forced"]
CONDITIONS = ("anti", "pro")
GENDERS = ("female", "male")
CELLS = [(condition, gender) for condition in CONDITIONS for gender in GENDERS]
#: The columns of a schema's units: counts, male answers, answers that are a pronoun.
COUNTS, MALE, ANSWERED = slice(12), 12, 13
Each = TypeVar("Each")


@dataclass(frozen=True, slots=True)
class Schemas:
    """Sufficient statistics of one reading, a row per schema.

    ``counts`` has the axes schema, condition (anti, pro), gender (female, male), and tp / fp / fn.
    """

    counts: FloatArray
    sensitive: FloatArray
    male: FloatArray
    answered: FloatArray
    male_occupation: npt.NDArray[np.intp]
    female_occupation: npt.NDArray[np.intp]


class GenderStatistics(NamedTuple, Generic[Each]):
    """F1 by condition and gender of the pronoun, the contrast between genders, and the gap."""

    anti_female: Each
    anti_male: Each
    pro_female: Each
    pro_male: Each
    contrast: Each
    gap: Each

    @property
    def cells(self) -> dict[tuple[str, str], Each]:
        """The four F1 scores by condition and gender."""
        values = (self.anti_female, self.anti_male, self.pro_female, self.pro_male)
        return dict(zip(CELLS, values, strict=True))


def tabulate(records: Sequence[Record], reading: Reading) -> Schemas:
    """The counts of each schema in one reading, from its rows."""
    # Sorted, so that the resamples do not depend on the order of the records.
    schemas = {name: i for i, name in enumerate(sorted({r["schema"] for r in records}))}
    counts = np.zeros((len(schemas), 2, 2, 3))
    answers: list[dict[int, str]] = [{} for _ in schemas]
    occupation: dict[str, list[str]] = {gender: [""] * len(schemas) for gender in GENDERS}
    for row in records:
        i, answer = schemas[row["schema"]], row[reading]
        condition, gold = CONDITIONS.index(row["condition"]), GENDERS.index(row["gender"])
        if answer == row["gender"]:
            counts[i, condition, gold, 0] += 1
        else:
            counts[i, condition, gold, 2] += 1
            if answer in GENDERS:
                counts[i, condition, GENDERS.index(answer), 1] += 1
        answers[i][row["line"]] = answer
        stereotype = row["referent_stereotype"]
        occupation[stereotype][i] = row["referent"]
        occupation["male" if stereotype == "female" else "female"][i] = row["other"]
    codes = {g: np.unique(names, return_inverse=True)[1] for g, names in occupation.items()}
    return Schemas(
        counts,
        np.array([float(len({*a.values()}) > 1) for a in answers]),
        np.array([float(sum(x == "male" for x in a.values())) for a in answers]),
        np.array([float(sum(x in GENDERS for x in a.values())) for a in answers]),
        codes["male"],
        codes["female"],
    )


def _f1_by_cell(sums: FloatArray) -> FloatArray:
    """F1 by condition and gender (R × 2 × 2), from sums of counts (R × 12)."""
    counts = sums.reshape(-1, 2, 2, 3)
    return f1_from_counts(counts[..., 0], counts[..., 1], counts[..., 2])


def f1_by_condition(sums: FloatArray) -> FloatArray:
    """The mean F1 of the genders, anti and pro (R × 2), from sums of counts (R × 12)."""
    return np.asarray(_f1_by_cell(sums).mean(axis=2))


def estimate_by_gender(
    schemas: Schemas, *, seed: int, resamples: int
) -> GenderStatistics[CrossedEstimate]:
    """The statistics by gender, with intervals over male and female occupations as crossed clusters."""
    ranges = GenderStatistics(SHARE, SHARE, SHARE, SHARE, contrast=CONTRAST, gap=DIFFERENCE)
    return GenderStatistics(
        *_cross_occupations(_split_by_gender, ranges, schemas, seed=seed, resamples=resamples)
    )


def _split_by_gender(sums: FloatArray) -> FloatArray:
    f1 = _f1_by_cell(sums[:, COUNTS])
    anti_female, anti_male, pro_female, pro_male = f1.reshape(-1, 4).T
    lift = f1[:, 1] - f1[:, 0]
    found = GenderStatistics(
        anti_female,
        anti_male,
        pro_female,
        pro_male,
        contrast=lift[:, 1] - lift[:, 0],
        gap=lift.mean(axis=1),
    )
    return np.column_stack(found)


def estimate_male_default(schemas: Schemas, *, seed: int, resamples: int) -> CrossedEstimate:
    """The share of male forms among the answers that are a pronoun, with its interval."""

    def share(sums: FloatArray) -> FloatArray:
        return rate(sums[:, MALE], sums[:, ANSWERED])[:, None]

    (found,) = _cross_occupations(share, [SHARE], schemas, seed=seed, resamples=resamples)
    return found


def estimate_sensitivity(schemas: Schemas, *, seed: int, resamples: int) -> Estimate:
    """The share of schemas whose two lines get different genders, with its interval."""
    drawn = resample_sums(schemas.sensitive[:, None], seed=seed, resamples=resamples)
    share = drawn[:, 0] / len(schemas.sensitive)
    return percentile_interval(share, float(schemas.sensitive.mean()))


def _cross_occupations(
    statistic: Callable[[FloatArray], FloatArray],
    ranges: Sequence[tuple[float, float]],
    schemas: Schemas,
    *,
    seed: int,
    resamples: int,
) -> list[CrossedEstimate]:
    """Statistics of schemas, with intervals over male and female occupations as crossed clusters."""
    units = np.column_stack(
        [
            schemas.counts.reshape(len(schemas.counts), -1),
            schemas.male,
            schemas.answered,
        ]
    )
    return crossed_intervals(
        statistic_of_sums(units, statistic),
        schemas.male_occupation,
        schemas.female_occupation,
        seed=seed,
        resamples=resamples,
        ranges=ranges,
    )
