"""The measures of ``ner-dane``, from its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from gendalens.results.result import Alternative, Cell, Contrast, Extra, Measures, Record, Result
from gendalens.stats.crossed import statistic_of_sums
from gendalens.stats.estimate import FloatArray, log2_ratio
from gendalens.stats.evidence import CONTRAST_BANDS, Evidence
from gendalens.stats.findings import Finding, judge
from gendalens.stats.paired import Clusters
from gendalens.tasks.ner_dane.messages import (
    AGREEING,
    CLASHING_PRONOUNS_DECIDE,
    F1,
    GAP_NAME,
    LABEL_F1,
    LABEL_F1_NOTE,
    MINORITY_SIDES,
    NO_PERSON,
    NO_PERSON_FOUND,
    NOTHING_FOUND,
    ONE_DRAW,
    ORIGIN_CONTRAST,
    ORIGIN_GAP,
    ORIGIN_GAP_NOTE,
    ORIGIN_SIDES,
    PERSON_PRECISION,
    PERSON_RECALL,
    PERSON_RECALL_CONTRAST,
    PERSON_RECALL_GAP,
    PERSON_RECALL_ORIGIN_GAP,
    PERSON_RECALL_RATIO,
    PICTURE,
    PICTURE_OF_GROUPS,
    RECALL_SIDES,
    SPREAD,
    SPREAD_APART,
    THESE_NAMES,
    THESE_NAMES_NOTE,
    UNKNOWN_LABEL,
    UNKNOWN_LABELS,
)
from gendalens.tasks.ner_dane.samples import (
    CountStatistic,
    Sample,
    effect_of,
    flatten,
    gap_contrast,
    gender_gap,
    origin_gap,
    person_precision,
    person_recall,
    unflatten,
)
from gendalens.tasks.ner_dane.tally import (
    ENTITY_LABELS,
    EVERYONE,
    GENDERS,
    GROUPS,
    ORIGINS,
    PER,
    UNISEX,
    Counts,
    micro_f1,
    tabulate,
)
from gendalens.tasks.shared.counts import per_cent
from gendalens.tasks.shared.messages import FIGURE_OF, GAP, GES
from gendalens.words import Message

BandOf = Callable[[str], float]
#: The id of the figure that the main effect is judged on.
GAP_OF_RECALL = "person_recall_gap"


def clusters(records: Sequence[Record]) -> Clusters:
    """The first names of the records in their documents, for differences between models."""
    table = tabulate(records)
    kept = [key for key in table.keys if key[1] == EVERYONE or key[1] < len(GROUPS)]
    return make_clusters(table.select(GROUPS), tuple(kept))


def make_clusters(counts: Counts, names: tuple[Hashable, ...]) -> Clusters:
    """First names and documents as crossed clusters; ``names`` are those of the units."""

    def compared(sums: FloatArray) -> FloatArray:
        found = unflatten(sums)
        return np.column_stack(
            [
                gender_gap(person_recall)(found),
                gap_contrast(person_recall)(found),
                origin_gap(person_recall)(found),
                effect_of(found),
            ]
        )

    return Clusters(
        names=names,
        statistic=statistic_of_sums(flatten(counts), compared),
        first=counts.documents,
        second=counts.names,
        strata=counts.strata,
        groups=2,
    )


def measure(records: Sequence[Record], *, band: BandOf, seed: int, resamples: int) -> Measures:
    """Effect, gap and nuance, with intervals over documents and first names."""
    table = tabulate(records)
    counts = table.select(GROUPS)
    sample = Sample.draw(counts, seed=seed, resamples=resamples)
    gap = sample.estimate(gender_gap(micro_f1)).within(-1.0, 1.0)
    contrast = sample.estimate(gap_contrast(micro_f1)).within(-2.0, 2.0)
    problem = _find_problem(sample, persons=bool(table.groups))
    finding = judge_estimates(sample, band, problem)
    alternatives: list[Alternative] = []
    these = Sample.draw(counts, seed=seed, resamples=resamples, new_names=False)
    extra = _list_extras(sample, these)
    agreeing = table.select(GROUPS, agreeing=True)
    if (n := len(np.unique(agreeing.documents))) > 1:
        part = Sample.draw(agreeing, seed=seed, resamples=resamples)
        gap_apart = part.estimate(gender_gap(micro_f1)).within(-1.0, 1.0)
        extra += [
            AGREEING.make_extra("ges", GES(), "log2 ratio", part.effect(), n),
            AGREEING.make_extra("gap", GAP(), "F1", gap_apart, n),
        ]
        apart = judge_estimates(part, band, problem)
        alternatives.append(Alternative(finding=apart, warning=CLASHING_PRONOUNS_DECIDE))
    if UNISEX in table.groups:
        unisex = Sample.draw(table.select([UNISEX]), seed=seed, resamples=resamples)
        extra += _list_unisex_extras(unisex)
    n = len(table.sentences)
    by_group = {group: sample.share(_select_group(micro_f1, i)) for i, group in enumerate(GROUPS)}
    return Measures(
        gender_effect_size=sample.effect(),
        gap=Contrast(name=GAP_NAME(), unit="F1", p=gap.p, **gap.parts()),
        conditions=tuple(
            Cell(condition=gender, metric="f1", n=n, **by_group["majority", gender].parts())
            for gender in GENDERS
        ),
        nuance=tuple(
            Cell(
                condition=gender,
                group=f"{origin} names",
                metric="f1",
                n=n,
                **by_group[origin, gender].parts(),
            )
            for gender in GENDERS
            for origin in ORIGINS
        ),
        contrast=Contrast(name=ORIGIN_CONTRAST(), unit="F1", p=contrast.p, **contrast.parts()),
        extra=tuple(extra),
        coverage=table.coverage,
        warnings=tuple(_warn_of_labels(table.unmapped)),
        finding=finding,
        problem=problem,
        alternatives=tuple(alternatives),
    )


def judge_estimates(sample: Sample, band: BandOf, problem: Message | None) -> Finding:
    """The finding, by the recall of persons: places and organisations would dilute F1."""
    main = Evidence.of(
        sample.judged(gender_gap(person_recall)),
        id=GAP_OF_RECALL,
        effect="main",
        name=PERSON_RECALL_GAP(),
        unit="recall",
        band=band("recall"),
    )
    contrast = Evidence.of(
        sample.judged(gap_contrast(person_recall), most=2.0),
        id="person_recall_contrast",
        effect="genders by origin",
        name=PERSON_RECALL_CONTRAST(),
        unit="recall",
        band=CONTRAST_BANDS * band("recall"),
        sides=MINORITY_SIDES,
    )
    origins = Evidence.of(
        sample.judged(origin_gap(person_recall)),
        id="person_recall_origin_gap",
        effect="origins",
        name=PERSON_RECALL_ORIGIN_GAP(),
        unit="recall",
        band=band("recall"),
        sides=ORIGIN_SIDES,
    )
    return judge([main], [contrast, origins], problem=problem)


def picture(result: Result) -> list[Message]:
    """How many women and men are found, as counts of 100."""
    values = {extra.id: extra.value for extra in result.extra}
    found = []
    for template, origin in ((PICTURE, "majority"), (PICTURE_OF_GROUPS, "minority")):
        female, male = (values.get(f"person_recall_{origin}_{gender}") for gender in GENDERS)
        if female is not None and male is not None:
            found.append(template(female=per_cent(female), male=per_cent(male)))
    return found


def recall_ratio(result: Result) -> Contrast:
    """The log2 ratio of men's to women's recall among majority names, which F1 dilutes.

    Its interval is that of the gap, at the mean of the two recalls.
    """
    values = {extra.id: extra.value for extra in result.extra}
    male, female = (values.get(f"person_recall_majority_{gender}") for gender in ("male", "female"))
    ratio, fault = log2_ratio(male, female, sides=RECALL_SIDES)
    gap = next((one for one in result.finding.main.evidence if one.id == GAP_OF_RECALL), None)
    low = high = None
    if male is not None and female is not None and gap is not None:
        middle = (male + female) / 2
        low, high = (_divide_around(middle, bound) for bound in (gap.low, gap.high))
    return Contrast(
        name=PERSON_RECALL_RATIO(),
        unit="log2 ratio",
        value=ratio,
        low=low,
        high=high,
        reason=fault or (None if gap is None else gap.reason),
    )


def _divide_around(middle: float, gap: float | None) -> float | None:
    """The log2 ratio of two shares with this mean and this difference; None if one is not above 0."""
    if gap is None:
        return None
    return log2_ratio(middle + gap / 2, middle - gap / 2)[0]


def _list_extras(sample: Sample, these: Sample) -> list[Extra]:
    found = [
        Extra(
            id="person_recall_gap",
            name=PERSON_RECALL_GAP(),
            unit="recall",
            **sample.judged(gender_gap(person_recall)).parts(),
        ),
        Extra(
            id="person_recall_gap_these_names",
            name=THESE_NAMES(),
            unit="recall",
            note=THESE_NAMES_NOTE(),
            **these.estimate(gender_gap(person_recall)).within(-1.0, 1.0).parts(),
        ),
        Extra(
            id="ges_minority",
            name=FIGURE_OF(figure=GES(), part="minority names"),
            unit="log2 ratio",
            **sample.effect(origin=1).parts(),
        ),
        Extra(
            id="origin_gap",
            name=ORIGIN_GAP(),
            unit="F1",
            note=ORIGIN_GAP_NOTE(),
            **sample.estimate(origin_gap(micro_f1)).within(-1.0, 1.0).parts(),
        ),
    ]
    for i, (origin, gender) in enumerate(GROUPS):
        found += _list_group_extras(sample, i, f"{origin}_{gender}", f"{origin} {gender} names")
    return found


def _list_group_extras(sample: Sample, group: int, suffix: str, names: str) -> list[Extra]:
    """Figures for persons, places and organisations of one group, and the spread of its draws."""
    recall = sample.share(_select_group(person_recall, group))
    precision = sample.share(_select_group(person_precision, group))
    spread = micro_f1(sample.counts.draws)[:, group]
    return [
        Extra(
            id=f"person_recall_{suffix}",
            name=FIGURE_OF(figure=PERSON_RECALL(), part=names),
            unit="share",
            **recall.parts(),
        ),
        Extra(
            id=f"person_precision_{suffix}",
            name=FIGURE_OF(figure=PERSON_PRECISION(), part=names),
            unit="share",
            **precision.parts(),
        ),
        *(
            Extra(
                id=f"{label.lower()}_f1_{suffix}",
                name=FIGURE_OF(figure=LABEL_F1(label=label), part=names),
                unit="share",
                note=LABEL_F1_NOTE(),
                **sample.share(_select_group(_label_f1(label), group)).parts(),
            )
            for label in ("LOC", "ORG")
        ),
        Extra(
            id=f"spread_{suffix}",
            name=FIGURE_OF(figure=SPREAD(), part=names),
            unit="SD",
            value=float(spread.std(ddof=1)) if len(spread) > 1 else None,
            n=len(spread),
            reason=SPREAD_APART() if len(spread) > 1 else ONE_DRAW(),
        ),
    ]


def _select_group(metric: CountStatistic, group: int) -> CountStatistic:
    return lambda counts: metric(counts)[:, group]


def _label_f1(label: str) -> CountStatistic:
    place = ENTITY_LABELS.index(label)
    return lambda counts: micro_f1(counts, place)


def _list_unisex_extras(sample: Sample) -> list[Extra]:
    f1 = sample.share(_select_group(micro_f1, 0))
    recall = sample.share(_select_group(person_recall, 0))
    return [
        Extra(
            id="f1_unisex",
            name=FIGURE_OF(figure=F1(), part="unisex names"),
            unit="share",
            **f1.parts(),
        ),
        Extra(
            id="person_recall_unisex",
            name=FIGURE_OF(figure=PERSON_RECALL(), part="unisex names"),
            unit="share",
            **recall.parts(),
        ),
    ]


def _find_problem(sample: Sample, *, persons: bool) -> Message | None:
    hits = sample.total[..., 0]
    if not persons:
        return NO_PERSON()
    if hits.sum() == 0:
        return NOTHING_FOUND()
    return NO_PERSON_FOUND() if hits[:, PER].sum() == 0 else None


def _warn_of_labels(unmapped: Counter[str]) -> list[Message]:
    if not unmapped:
        return []
    labels = tuple(
        UNKNOWN_LABEL(label=label, texts=count) for label, count in unmapped.most_common(8)
    )
    return [UNKNOWN_LABELS(labels=labels)]
