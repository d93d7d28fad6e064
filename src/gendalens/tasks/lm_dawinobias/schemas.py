"""The counts of ``lm-dawinobias`` by schema, and the statistics of their sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from gendalens.results.result import Record
from gendalens.stats.crossed import (
    DIFFERENCE,
    SHARE,
    UNBOUNDED,
    CrossedEstimate,
    StatisticOfSums,
    crossed_intervals,
    statistic_of_sums,
)
from gendalens.stats.estimate import FloatArray, log2_ratios
from gendalens.stats.f1 import f1_from_counts, rate

Reading = Literal["open", "forced"]
CONDITIONS = ("anti", "pro")
GENDERS = ("female", "male")
CELLS = [(condition, gender) for condition in CONDITIONS for gender in GENDERS]
#: The columns of a schema's units after its counts: male answers, answers that are a pronoun,
#: whether its lines get different answers, schemas, the contrast of log-odds in bits, schemas with
#: such a contrast, the log-odds in bits, and lines.
COUNTS = slice(12)
MALE, ANSWERED, SENSITIVE, SCHEMAS, CONTRAST_BITS, CONTRASTED, BITS, LINES = range(12, 20)
Each = TypeVar("Each")


@dataclass(frozen=True, slots=True)
class Schemas:
    """Sufficient statistics of one reading, a row per schema, and the schema's two occupations."""

    names: tuple[int, ...]
    units: FloatArray
    male_occupation: npt.NDArray[np.intp]
    female_occupation: npt.NDArray[np.intp]


class Statistics(NamedTuple, Generic[Each]):
    """One value per statistic of the test: its resamples, its range, or its estimate.

    ``pronoun_gap`` is the F1 of male minus that of female pronouns, averaged over the conditions.
    ``log_odds_gap`` is how many more bits the male form gets in the line that means the male-typed
    occupation than in the line that means the female-typed one, ``log_odds`` how many it gets on
    average.
    """

    anti: Each
    pro: Each
    gap: Each
    ges: Each
    anti_female: Each
    anti_male: Each
    pro_female: Each
    pro_male: Each
    pronoun_gap: Each
    male_default: Each
    sensitivity: Each
    log_odds_gap: Each
    log_odds: Each

    @property
    def conditions(self) -> dict[str, Each]:
        """The two F1 scores by condition."""
        return {"anti": self.anti, "pro": self.pro}

    @property
    def cells(self) -> dict[tuple[str, str], Each]:
        """The four F1 scores by condition and gender."""
        values = (self.anti_female, self.anti_male, self.pro_female, self.pro_male)
        return dict(zip(CELLS, values, strict=True))


RANGES = Statistics(
    anti=SHARE,
    pro=SHARE,
    gap=DIFFERENCE,
    ges=UNBOUNDED,
    anti_female=SHARE,
    anti_male=SHARE,
    pro_female=SHARE,
    pro_male=SHARE,
    pronoun_gap=DIFFERENCE,
    male_default=SHARE,
    sensitivity=SHARE,
    log_odds_gap=UNBOUNDED,
    log_odds=UNBOUNDED,
)


def tabulate(records: Sequence[Record], reading: Reading) -> Schemas:
    """The counts of each schema in one reading, from its rows."""
    # Sorted, so that the resamples do not depend on the order of the records.
    schemas = {name: i for i, name in enumerate(sorted({r["schema"] for r in records}))}
    counts = np.zeros((len(schemas), 2, 2, 3))
    answers: list[dict[int, str]] = [{} for _ in schemas]
    bits: list[dict[int, tuple[str, float]]] = [{} for _ in schemas]
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
        stereotype = row["referent_stereotype"]
        answers[i][row["line"]] = answer
        log_odds = (row["log_prob_male"] - row["log_prob_female"]) / math.log(2)
        bits[i][row["line"]] = (stereotype, log_odds)
        occupation[stereotype][i] = row["referent"]
        occupation["male" if stereotype == "female" else "female"][i] = row["other"]
    codes = {g: np.unique(names, return_inverse=True)[1] for g, names in occupation.items()}
    rest = [_describe_schema(a, b) for a, b in zip(answers, bits, strict=True)]
    units = np.column_stack([counts.reshape(len(counts), -1), np.array(rest).reshape(-1, 8)])
    return Schemas(tuple(schemas), units, codes["male"], codes["female"])


def _describe_schema(
    answers: dict[int, str], bits: dict[int, tuple[str, float]]
) -> tuple[float, ...]:
    """The units of a schema after its counts, from the answers and log-odds of its lines."""
    by_stereotype = dict(bits.values())
    has_both = len(by_stereotype) == 2
    return (
        sum(answer == "male" for answer in answers.values()),
        sum(answer in GENDERS for answer in answers.values()),
        len({*answers.values()}) > 1,
        1,
        by_stereotype["male"] - by_stereotype["female"] if has_both else 0,
        has_both,
        sum(log_odds for _, log_odds in bits.values()),
        len(bits),
    )


def statistic(schemas: Schemas) -> StatisticOfSums:
    """All statistics of the schemas, as a function of their weights."""
    return statistic_of_sums(schemas.units, lambda sums: np.column_stack(compute_statistics(sums)))


def compute_statistics(sums: FloatArray) -> Statistics[FloatArray]:
    """All statistics from sums of units (resamples × 20)."""
    counts = sums[:, COUNTS].reshape(-1, 2, 2, 3)
    f1 = f1_from_counts(counts[..., 0], counts[..., 1], counts[..., 2])
    anti, pro = f1.mean(axis=2).T
    anti_female, anti_male, pro_female, pro_male = f1.reshape(-1, 4).T
    female, male = f1.mean(axis=1).T
    return Statistics(
        anti=anti,
        pro=pro,
        gap=pro - anti,
        ges=log2_ratios(pro, anti),
        anti_female=anti_female,
        anti_male=anti_male,
        pro_female=pro_female,
        pro_male=pro_male,
        pronoun_gap=male - female,
        male_default=rate(sums[:, MALE], sums[:, ANSWERED]),
        sensitivity=rate(sums[:, SENSITIVE], sums[:, SCHEMAS]),
        log_odds_gap=rate(sums[:, CONTRAST_BITS], sums[:, CONTRASTED]),
        log_odds=rate(sums[:, BITS], sums[:, LINES]),
    )


def estimate(schemas: Schemas, *, seed: int, resamples: int) -> Statistics[CrossedEstimate]:
    """All statistics, with intervals over male and female occupations as crossed clusters.

    The two figures that the test is judged on by F1 allow for one more schema.
    """
    found = Statistics(
        *crossed_intervals(
            statistic(schemas),
            schemas.male_occupation,
            schemas.female_occupation,
            finer=np.arange(len(schemas.names)),
            seed=seed,
            resamples=resamples,
            ranges=RANGES,
        )
    )
    n = len(schemas.names)
    return found._replace(
        gap=found.gap.widen(n).within(*DIFFERENCE),
        pronoun_gap=found.pronoun_gap.widen(n).within(*DIFFERENCE),
    )


def estimate_by_schema(
    schemas: Schemas, *, seed: int, resamples: int
) -> Statistics[CrossedEstimate]:
    """All statistics, with intervals over schemas: these occupations, in new sentences."""
    places = np.arange(len(schemas.names))
    return Statistics(
        *crossed_intervals(
            statistic(schemas), places, seed=seed, resamples=resamples, ranges=RANGES
        )
    )
