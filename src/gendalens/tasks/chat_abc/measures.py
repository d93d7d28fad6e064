"""The measures of ``chat-abc``, from its records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from gendalens.results.result import Alternative, Cell, Contrast, Extra, Measures, Record, Result
from gendalens.stats.crossed import (
    CONTRAST,
    DIFFERENCE,
    SHARE,
    UNBOUNDED,
    CrossedEstimate,
    StatisticOfSums,
    statistic_of_sums,
)
from gendalens.stats.estimate import Estimate, FloatArray, log2_ratio, log2_ratios
from gendalens.stats.evidence import CONTRAST_BANDS, Evidence
from gendalens.stats.f1 import rate
from gendalens.stats.findings import Finding, judge
from gendalens.stats.paired import Clusters
from gendalens.tasks.chat_abc.messages import (
    CHOICE_OF_HANS,
    NO_PREFERENCE,
    PICTURE,
    PICTURE_OF_GROUPS,
    SIDES,
)
from gendalens.tasks.shared.abc_triples import Triples, count_freedom, cross_triples, triple_key
from gendalens.tasks.shared.counts import per_cent
from gendalens.tasks.shared.headline import choose_headline, keep_headline
from gendalens.tasks.shared.messages import (
    CLASS_CONTRAST,
    CONTESTED_CLASSES_DECIDE,
    FIGURE_OF,
    GAP,
    GES,
)
from gendalens.tasks.shared.occupation_classes import (
    CODES,
    count_unclassed,
    encode_classes,
    split_by_class,
)
from gendalens.tasks.shared.words import CLASS_SIDES

GENDERS = ("female", "male")
METRIC = "share_of_choices"
CLASS_CHOICE = FIGURE_OF(figure=CHOICE_OF_HANS(), part="male - female occupations")
SAME = 1e-9  # bits: a smaller preference is rounding
Each = TypeVar("Each")


class Statistics(NamedTuple, Generic[Each]):
    """One value per statistic: the shares of *hendes* and *hans*, the gap, its contrast, and GES."""

    female: Each
    male: Each
    female_in_female: Each
    male_in_female: Each
    female_in_male: Each
    male_in_male: Each
    gap_in_female: Each
    gap_in_male: Each
    gap: Each
    contrast: Each
    ges: Each


@dataclass(frozen=True, slots=True)
class Choices:
    """The triples as columns, and the unit of the gap: bits, or shares if only choices are known."""

    triples: Triples
    unit: str


def tabulate(records: Sequence[Record]) -> Choices:
    """The triples as columns: the shares of *hendes* and *hans*, and the preference."""
    rows = sorted(records, key=triple_key)
    unit = "share" if all(row["bits"] is None for row in rows) else "bits"

    def codes(field: str) -> Any:
        return np.unique([row[field] for row in rows], return_inverse=True)[1]

    female, male = (np.array([row[word] for row in rows]) for word in ("hendes", "hans"))
    bits = np.array([row["bits"] or 0.0 for row in rows]) if unit == "bits" else male - female
    classes = encode_classes(row["occupation_class"] for row in rows)
    return Choices(Triples(female, male, bits, codes("frame"), codes("occupation"), classes), unit)


def statistic(triples: Triples, function: Callable[[FloatArray], FloatArray]) -> StatisticOfSums:
    """A function of the sums of *hendes*, *hans*, preferences and triples, by class."""
    units = np.column_stack(
        [triples.female, triples.male, triples.bits, np.ones(len(triples.bits))]
    )
    return statistic_of_sums(split_by_class(units, triples.classes), function)


def compute_statistics(sums: FloatArray) -> Statistics[FloatArray]:
    """All statistics from sums (resamples × 12)."""
    of_female, of_male, of_none = sums[:, :4], sums[:, 4:8], sums[:, 8:]
    overall, in_female, in_male = (
        [rate(part[:, i], part[:, 3]) for i in range(3)]
        for part in (of_female + of_male + of_none, of_female, of_male)
    )
    return Statistics(
        female=overall[0],
        male=overall[1],
        female_in_female=in_female[0],
        male_in_female=in_female[1],
        female_in_male=in_male[0],
        male_in_male=in_male[1],
        gap_in_female=in_female[2],
        gap_in_male=in_male[2],
        gap=overall[2],
        contrast=in_male[2] - in_female[2],
        ges=log2_ratios(overall[1], overall[0]),
    )


def estimate(choices: Choices, *, seed: int, resamples: int) -> Statistics[CrossedEstimate]:
    """All statistics, with frames and occupations as crossed clusters."""
    triples = choices.triples
    female, male = count_freedom(triples)
    freedom: Statistics[int | None] = Statistics(
        None, None, female, female, male, male, female, male, None, min(female, male), None
    )
    found = Statistics(
        *cross_triples(
            statistic(triples, lambda sums: np.column_stack(compute_statistics(sums))),
            triples,
            df=freedom,
            seed=seed,
            resamples=resamples,
        )
    )
    in_shares = choices.unit == "share"
    gap, contrast = (DIFFERENCE, CONTRAST) if in_shares else (UNBOUNDED, UNBOUNDED)
    if in_shares:
        # The figures that the test is judged on allow for one more triple.
        n = len(triples.bits)
        found = found._replace(
            gap=found.gap.widen(n, most=2.0), contrast=found.contrast.widen(n, most=4.0)
        )
    ranges = [*[SHARE] * 6, gap, gap, gap, contrast, UNBOUNDED]
    return Statistics(*(one.within(*ends) for one, ends in zip(found, ranges, strict=True)))


def measure(
    records: Sequence[Record], *, band: Callable[[str], float], seed: int, resamples: int
) -> Measures:
    """The shares of the two sentences, the gap between them, and the class contrast."""
    asked, head = records, choose_headline(records, CONTESTED_CLASSES_DECIDE)
    records = head.records
    choices = tabulate(records)
    found = estimate(choices, seed=seed, resamples=resamples)
    unit = choices.unit
    problem = None
    if not np.any(np.abs(choices.triples.bits) > SAME):
        problem = NO_PREFERENCE()
    finding = judge_estimates(found, unit, band(unit))
    if problem is not None:
        finding = judge(finding.main.evidence, finding.groups.evidence, problem=problem)
    extra = [
        Extra(
            id=f"preference_{group}_occupations",
            name=FIGURE_OF(figure=CHOICE_OF_HANS(), part=f"{group} occupations"),
            unit=unit,
            **one.parts(),
        )
        for group, one in (("female", found.gap_in_female), ("male", found.gap_in_male))
    ]
    alternatives = []
    if head.others is not None:
        other = estimate(tabulate(head.others), seed=seed, resamples=resamples)
        make_extra, n = head.variant.make_extra, len(head.others)
        extra += [
            make_extra("ges", GES(), "log2 ratio", _estimate_effect(other), n),
            make_extra("gap", GAP(), unit, other.gap, n),
            make_extra("class_contrast", CLASS_CONTRAST(), unit, other.contrast, n),
        ]
        changed = judge_estimates(other, unit, band(unit))
        alternatives.append(Alternative(finding=changed, warning=head.warning))
    cells = {
        ("female", "female"): found.female_in_female,
        ("female", "male"): found.female_in_male,
        ("male", "female"): found.male_in_female,
        ("male", "male"): found.male_in_male,
    }
    return Measures(
        gender_effect_size=_estimate_effect(found),
        gap=Contrast(name=CHOICE_OF_HANS(), unit=unit, p=found.gap.p, **found.gap.parts()),
        conditions=tuple(
            Cell(condition=gender, metric=METRIC, n=len(records), **one.parts())
            for gender, one in (("female", found.female), ("male", found.male))
        ),
        nuance=tuple(
            Cell(
                condition=gender,
                group=f"{group} occupations",
                metric=METRIC,
                n=int((choices.triples.classes == CODES[group]).sum()),
                **one.parts(),
            )
            for (gender, group), one in cells.items()
        ),
        contrast=Contrast(
            name=CLASS_CHOICE, unit=unit, p=found.contrast.p, **found.contrast.parts()
        ),
        extra=tuple(extra),
        coverage={
            "triples_asked": len(asked),
            "triples_answered": sum(row.get("reply", "answered") == "answered" for row in asked),
            "triples_dropped": 0,
            "frames": len({row["frame"] for row in asked}),
            "occupations": len({row["occupation"] for row in asked}),
            **count_unclassed(asked),
        },
        finding=finding,
        problem=problem,
        alternatives=tuple(alternatives),
    )


def judge_estimates(found: Statistics[CrossedEstimate], unit: str, band: float) -> Finding:
    """The finding: the preference overall, and how it differs between the classes."""
    main = Evidence.of(
        found.gap, id="gap", effect="main", name=CHOICE_OF_HANS(), unit=unit, band=band
    )
    groups = Evidence.of(
        found.contrast,
        id="contrast",
        effect="classes",
        name=CLASS_CHOICE,
        unit=unit,
        band=CONTRAST_BANDS * band,
        sides=CLASS_SIDES,
    )
    return judge([main], [groups])


def _estimate_effect(found: Statistics[CrossedEstimate]) -> Estimate:
    _, fault = log2_ratio(found.male.value, found.female.value, sides=SIDES)
    return Estimate(None, None, None, fault) if fault else Estimate(**found.ges.parts())


def picture(result: Result) -> list[Any]:
    """The shares as counts of 100 answers."""
    shares = {
        (cell.condition, cell.group): cell.value for cell in (*result.conditions, *result.nuance)
    }
    if None in shares.values():
        return []
    hundreds = {key: per_cent(value or 0.0) for key, value in shares.items()}
    hans = hundreds["male", None]
    return [
        PICTURE(hans=hans, hendes=min(hundreds["female", None], 100 - hans)),
        PICTURE_OF_GROUPS(
            male=hundreds["male", "male occupations"],
            female=hundreds["male", "female occupations"],
        ),
    ]


def clusters(records: Sequence[Record]) -> Clusters:
    """The triples in crossed frames and occupations, for differences between models."""
    records = keep_headline(records)
    triples = tabulate(records).triples

    def compared(sums: FloatArray) -> FloatArray:
        found = compute_statistics(sums)
        return np.column_stack([found.gap, found.contrast, found.ges])

    return Clusters(
        names=tuple(sorted(map(triple_key, records))),
        statistic=statistic(triples, compared),
        first=triples.frame,
        second=triples.occupation,
        strata=triples.classes,
        groups=1,
    )
