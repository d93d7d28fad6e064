"""The estimates of ``coref-abc``: rates, gaps, class contrast and GES, from the same resamples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from gendalens.results.result import Record
from gendalens.stats.crossed import (
    CONTRAST,
    DIFFERENCE,
    SHARE,
    UNBOUNDED,
    CrossedEstimate,
    crossed_intervals,
    statistic_of_sums,
)
from gendalens.stats.estimate import Estimate, FloatArray, log2_ratio, log2_ratios
from gendalens.stats.f1 import rate
from gendalens.stats.paired import Clusters
from gendalens.tasks.coref_abc.messages import SIDES
from gendalens.tasks.shared.headline import keep_headline
from gendalens.tasks.shared.messages import SIDE_INCLUDES_ZERO, UNSTABLE
from gendalens.tasks.shared.occupation_classes import FEMALE, MALE, encode_classes, split_by_class
from gendalens.words import Message

GENDERS = ("female", "male")
CONDITIONS = ("female", "male", "reflexive")
PRONOUNS = {"female": "hendes", "male": "hans"}
Each = TypeVar("Each")


@dataclass(frozen=True, slots=True)
class Triples:
    """The triples as columns; ``linked`` has a column per sentence, in the order of ``CONDITIONS``."""

    linked: FloatArray
    frame: npt.NDArray[np.intp]
    occupation: npt.NDArray[np.intp]
    classes: npt.NDArray[np.intp]


class Rates(NamedTuple, Generic[Each]):
    """How often *hendes*, *hans* and the reflexive are linked, and the gap *hans* − *hendes*."""

    female: Each
    male: Each
    reflexive: Each
    gap: Each

    @property
    def by_condition(self) -> dict[str, Each]:
        """The three rates by condition."""
        return dict(zip(CONDITIONS, (self.female, self.male, self.reflexive), strict=True))


class Statistics(NamedTuple, Generic[Each]):
    """One value per statistic of the test: its resamples, its degrees of freedom, or its estimate.

    The rates are over all triples, and over those with female and with male occupations.
    """

    overall: Rates[Each]
    in_female: Rates[Each]
    in_male: Rates[Each]
    contrast: Each
    ges: Each

    def flatten(self) -> list[Each]:
        """All values as a flat list."""
        return [*self.overall, *self.in_female, *self.in_male, self.contrast, self.ges]

    @classmethod
    def read(cls, flat: Sequence[Each]) -> Statistics[Each]:
        """The inverse of :meth:`flatten`."""
        overall, in_female, in_male = (Rates(*flat[start : start + 4]) for start in (0, 4, 8))
        contrast, ges = flat[12:]
        return Statistics(overall, in_female, in_male, contrast, ges)


@dataclass(frozen=True, slots=True)
class Estimates:
    """All estimates on one set of triples, from the same resamples.

    ``rates`` are by class of the occupation; None stands for both classes together.
    """

    rates: dict[str | None, Rates[CrossedEstimate]]
    contrast: CrossedEstimate
    ratio: CrossedEstimate

    @property
    def gap(self) -> CrossedEstimate:
        """The gap over all triples."""
        return self.rates[None].gap

    @property
    def shaky_sides(self) -> tuple[Message, ...]:
        """A message for each side of GES whose interval includes zero."""
        rates = self.rates[None].by_condition
        return tuple(
            SIDE_INCLUDES_ZERO(measure="FPR", pronoun=PRONOUNS[gender])
            for gender in GENDERS
            if (low := rates[gender].low) is not None and low <= 0
        )

    @property
    def ges(self) -> Estimate:
        """GES: undefined if a rate is zero, unstable if the interval of a rate includes 0."""
        rates, ratio = self.rates[None], self.ratio
        _, fault = log2_ratio(rates.male.value, rates.female.value, sides=SIDES)
        if fault:
            return Estimate(None, None, None, fault)
        shaky = self.shaky_sides
        reason = UNSTABLE(causes=shaky) if shaky else ratio.reason
        return Estimate(ratio.value, ratio.low, ratio.high, reason, unstable=bool(shaky))


def tabulate(records: Sequence[Record]) -> Triples:
    """The triples as columns, from three rows each."""
    rows: dict[tuple[int, str, str], dict[str, Record]] = {}
    for row in records:
        key = (row["frame"], row["occupation"], row["tense"])
        rows.setdefault(key, {})[row["condition"]] = row
    threes = [rows[key] for key in sorted(rows)]

    def codes(field: str) -> npt.NDArray[np.intp]:
        return np.unique([three["male"][field] for three in threes], return_inverse=True)[1]

    return Triples(
        np.array(
            [[float(three[c]["outcome"] == "linked") for c in CONDITIONS] for three in threes]
        ),
        codes("frame"),
        codes("occupation"),
        encode_classes(three["male"]["occupation_class"] for three in threes),
    )


def estimate(triples: Triples, *, seed: int, resamples: int) -> Estimates:
    """All estimates of the task, from the same resamples."""
    frames = len(np.unique(triples.frame))
    sizes = [len(np.unique(triples.occupation[triples.classes == code])) for code in (FEMALE, MALE)]
    in_female, in_male = (max(0, min(frames, size) - 1) for size in sizes)
    freedom: Statistics[int | None] = Statistics(
        overall=Rates(None, None, None, None),
        in_female=Rates(in_female, in_female, in_female, in_female),
        in_male=Rates(in_male, in_male, in_male, in_male),
        contrast=min(in_female, in_male),
        ges=None,
    )
    rates = Rates(SHARE, SHARE, SHARE, gap=DIFFERENCE)
    ranges = Statistics(rates, rates, rates, contrast=CONTRAST, ges=UNBOUNDED)
    # The class is a fixed factor of the design, so occupations are drawn within it.
    drawn = crossed_intervals(
        statistic_of_sums(
            _list_units(triples),
            lambda sums: np.column_stack(_compute_statistics(sums).flatten()),
        ),
        triples.frame,
        triples.occupation,
        seed=seed,
        resamples=resamples,
        strata_b=triples.classes,
        df=freedom.flatten(),
        ranges=ranges.flatten(),
    )
    found = Statistics.read(drawn)
    # The figures that the test is judged on allow for one more triple.
    n = len(triples.linked)
    gap = found.overall.gap.widen(n).within(*DIFFERENCE)
    return Estimates(
        rates={
            None: found.overall._replace(gap=gap),
            "female": found.in_female,
            "male": found.in_male,
        },
        contrast=found.contrast.widen(n, most=2.0).within(*CONTRAST),
        ratio=found.ges,
    )


def clusters(records: Sequence[Record]) -> Clusters:
    """The triples in crossed frames and occupations, for differences between systems."""
    records = keep_headline(records)
    triples = tabulate(records)

    def compared(sums: FloatArray) -> FloatArray:
        found = _compute_statistics(sums)
        return np.column_stack([found.overall.gap, found.contrast, found.ges])

    return Clusters(
        names=tuple(sorted({(row["frame"], row["occupation"], row["tense"]) for row in records})),
        statistic=statistic_of_sums(_list_units(triples), compared),
        first=triples.frame,
        second=triples.occupation,
        strata=triples.classes,
        groups=1,
    )


def _list_units(triples: Triples) -> FloatArray:
    """What each triple adds to the sums: its links and a count, separately by class."""
    units = np.column_stack([triples.linked, np.ones(len(triples.linked))])
    return split_by_class(units, triples.classes)


def _compute_statistics(sums: FloatArray) -> Statistics[FloatArray]:
    of_female, of_male, of_none = sums[:, :4], sums[:, 4:8], sums[:, 8:]
    overall, in_female, in_male = (
        _compute_rates(part) for part in (of_female + of_male + of_none, of_female, of_male)
    )
    return Statistics(
        overall,
        in_female,
        in_male,
        contrast=in_male.gap - in_female.gap,
        ges=log2_ratios(overall.male, overall.female),
    )


def _compute_rates(sums: FloatArray) -> Rates[FloatArray]:
    *links, triples = sums.T
    female, male, reflexive = (rate(linked, triples) for linked in links)
    return Rates(female, male, reflexive, gap=male - female)
