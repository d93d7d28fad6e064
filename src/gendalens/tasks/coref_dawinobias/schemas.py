"""The counts of ``coref-dawinobias`` by schema, and the statistics of their sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from gendalens.data.pronouns import OTHER
from gendalens.results.result import Record
from gendalens.stats.crossed import (
    DIFFERENCE,
    SHARE,
    UNBOUNDED,
    CrossedEstimate,
    crossed_intervals,
    statistic_of_sums,
)
from gendalens.stats.estimate import FloatArray, log2_ratios
from gendalens.stats.f1 import rate
from gendalens.stats.paired import Clusters
from gendalens.tasks.shared.headline import keep_headline

CONDITIONS = ("anti", "pro")
GENDERS = ("female", "male")
CELLS = [(condition, gender) for condition in CONDITIONS for gender in GENDERS]
#: Indices of the last axis: right links, wrong links, linked lines, lines, margin in bits.
RIGHT, WRONG, LINKED_LINES, LINES, MARGIN = range(5)
Each = TypeVar("Each")


@dataclass(frozen=True, slots=True)
class Schemas:
    """Sufficient statistics, a row per schema.

    ``counts`` has the axes schema, condition (anti, pro), gender of the right occupation (female,
    male), and right links / wrong links / linked lines / lines / margin of the right occupation in
    bits. ``is_scored`` says whether the system gives margins.
    """

    names: tuple[int, ...]
    counts: FloatArray
    male_occupation: npt.NDArray[np.intp]
    female_occupation: npt.NDArray[np.intp]
    is_scored: bool


class Statistics(NamedTuple, Generic[Each]):
    """One value per statistic of the test: its resamples, its range, or its estimate.

    F1 by condition, and by condition and gender of the right occupation. ``pronoun_gap`` is the F1 of
    lines with a male pronoun minus that of lines with a female one, ``occupation_gap`` the same by
    the right occupation. ``linked_female`` and ``linked_male`` are the shares of lines with a female
    or male pronoun that are linked at all; ``male_default`` is their difference. ``margin_gap`` is the
    margin of the right occupation in bits, pro minus anti, ``pronoun_margin_gap`` the same, male minus
    female pronouns; both are 0 for a system without scores.
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
    occupation_gap: Each
    linked_female: Each
    linked_male: Each
    male_default: Each
    margin_gap: Each
    pronoun_margin_gap: Each

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
    occupation_gap=DIFFERENCE,
    linked_female=SHARE,
    linked_male=SHARE,
    male_default=DIFFERENCE,
    margin_gap=UNBOUNDED,
    pronoun_margin_gap=UNBOUNDED,
)


def tabulate(records: Sequence[Record]) -> Schemas:
    """The counts of each schema, from its rows."""
    # Sorted, so that the resamples do not depend on the order of the records.
    schemas = {name: i for i, name in enumerate(sorted({r["schema"] for r in records}))}
    counts = np.zeros((len(schemas), 2, 2, 5))
    occupation: dict[str, list[str]] = {gender: [""] * len(schemas) for gender in GENDERS}
    for row in records:
        i, outcome, gender = schemas[row["schema"]], row["outcome"], row["referent_stereotype"]
        counts[i, CONDITIONS.index(row["condition"]), GENDERS.index(gender)] += (
            outcome in ("right", "both"),
            outcome in ("wrong", "both"),
            outcome != "none",
            1,
            row.get("margin", 0.0) / math.log(2),
        )
        occupation[gender][i] = row["referent"]
        occupation[OTHER[gender]][i] = row["other"]
    codes = {g: np.unique(names, return_inverse=True)[1] for g, names in occupation.items()}
    is_scored = all("margin" in row for row in records)
    return Schemas(tuple(schemas), counts, codes["male"], codes["female"], is_scored)


def link_f1(counts: FloatArray) -> FloatArray:
    """F1 of links, from counts with the last axis of :class:`Schemas`.

    With precision = right / (right + wrong) and recall = right / lines, their harmonic mean is
    2 right / (right + wrong + lines).
    """
    right, wrong, lines = (counts[..., i] for i in (RIGHT, WRONG, LINES))
    return rate(2 * right, right + wrong + lines)


def compute_statistics(sums: FloatArray) -> Statistics[FloatArray]:
    """All statistics from sums of counts (resamples × 20)."""
    counts = sums.reshape(-1, 2, 2, 5)
    cells = link_f1(counts)
    anti_female, anti_male, pro_female, pro_male = cells.reshape(-1, 4).T
    # The pronoun has the gender of the right occupation in a pro line, the other in an anti line.
    of_female = counts[:, 1, 0] + counts[:, 0, 1]
    of_male = counts[:, 1, 1] + counts[:, 0, 0]
    female, male = (rate(side[:, LINKED_LINES], side[:, LINES]) for side in (of_female, of_male))
    anti, pro = link_f1(counts.sum(axis=2)).T
    by_occupation = link_f1(counts.sum(axis=1))

    def margin(side: FloatArray) -> FloatArray:
        return rate(side[:, MARGIN], side[:, LINES])

    by_condition = counts.sum(axis=2)
    return Statistics(
        anti=anti,
        pro=pro,
        gap=pro - anti,
        ges=log2_ratios(pro, anti),
        anti_female=anti_female,
        anti_male=anti_male,
        pro_female=pro_female,
        pro_male=pro_male,
        pronoun_gap=link_f1(of_male) - link_f1(of_female),
        occupation_gap=by_occupation[:, 1] - by_occupation[:, 0],
        linked_female=female,
        linked_male=male,
        male_default=male - female,
        margin_gap=margin(by_condition[:, 1]) - margin(by_condition[:, 0]),
        pronoun_margin_gap=margin(of_male) - margin(of_female),
    )


def estimate(schemas: Schemas, *, seed: int, resamples: int) -> Statistics[CrossedEstimate]:
    """All statistics, with intervals over male and female occupations as crossed clusters.

    The figures that every system is judged on allow for one more schema.
    """
    n = len(schemas.names)
    found = Statistics(
        *crossed_intervals(
            statistic_of_sums(
                schemas.counts.reshape(n, -1),
                lambda sums: np.column_stack(compute_statistics(sums)),
            ),
            schemas.male_occupation,
            schemas.female_occupation,
            finer=np.arange(n),
            seed=seed,
            resamples=resamples,
            ranges=RANGES,
        )
    )
    judged = ("gap", "pronoun_gap", "occupation_gap", "male_default")
    return found._replace(
        **{name: getattr(found, name).widen(n).within(*DIFFERENCE) for name in judged}
    )


def estimate_by_schema(schemas: Schemas, *, seed: int, resamples: int) -> CrossedEstimate:
    """The gap, with its interval over schemas: these occupations, in new sentences."""
    n = len(schemas.names)
    (gap,) = crossed_intervals(
        statistic_of_sums(
            schemas.counts.reshape(n, -1), lambda sums: compute_statistics(sums).gap[:, None]
        ),
        np.arange(n),
        seed=seed,
        resamples=resamples,
        ranges=[DIFFERENCE],
    )
    return gap


def clusters(records: Sequence[Record]) -> Clusters:
    """The schemas in crossed occupations, for differences between systems."""
    schemas = tabulate(keep_headline(records))
    n = len(schemas.names)

    def compared(sums: FloatArray) -> FloatArray:
        found = compute_statistics(sums)
        return np.column_stack(
            [found.gap, found.pronoun_gap, found.occupation_gap, found.male_default, found.ges]
        )

    return Clusters(
        names=schemas.names,
        statistic=statistic_of_sums(schemas.counts.reshape(n, -1), compared),
        first=schemas.male_occupation,
        second=schemas.female_occupation,
        finer=np.arange(n),
        main=1,
        groups=3,
    )
