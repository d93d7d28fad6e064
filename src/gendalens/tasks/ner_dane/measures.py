"""The measures of ``ner-dane``, from its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from gendalens.results.result import Cell, Contrast, Extra, Measures, Record
from gendalens.stats.bootstrap import percentile_interval
from gendalens.stats.estimate import FloatArray, log2_ratios
from gendalens.stats.findings import judge
from gendalens.stats.paired import Clusters, Summed
from gendalens.tasks.ner_dane.messages import (
    AGREEING,
    CLASHING_PRONOUNS_DECIDE,
    F1,
    GAP_NAME,
    LABEL_F1,
    LABEL_F1_NOTE,
    MAJORITY_NAMES,
    NO_PERSON,
    NO_PERSON_FOUND,
    NOTHING_FOUND,
    NOTHING_FOUND_IN_GROUP,
    ONE_DRAW,
    ORIGIN_CONTRAST,
    ORIGIN_GAP,
    ORIGIN_GAP_NOTE,
    PERSON_PRECISION,
    PERSON_RECALL,
    PERSON_RECALL_GAP,
    SPREAD,
    SPREAD_APART,
    UNKNOWN_LABEL,
    UNKNOWN_LABELS,
)
from gendalens.tasks.ner_dane.samples import (
    FEMALE,
    MALE,
    PER,
    CountStatistic,
    Sample,
    gender_gap,
    person_precision,
    person_recall,
    run_swap_tests,
)
from gendalens.tasks.ner_dane.tally import (
    ENTITY_LABELS,
    GENDERS,
    GROUPS,
    ORIGINS,
    UNISEX,
    micro_f1,
    tabulate,
)
from gendalens.tasks.shared.messages import FIGURE_OF, GAP, GES
from gendalens.words import Message


def clusters(records: Sequence[Record]) -> Clusters:
    """The counts of the sentences with majority names, for differences between models."""
    table = tabulate(records)
    counts = table.select(GROUPS[:2]).sentences
    return Summed(table.names, counts.reshape(len(counts), -1), _gap_and_effect)


def _gap_and_effect(sums: FloatArray) -> FloatArray:
    female, male = micro_f1(sums.reshape(-1, 2, len(ENTITY_LABELS), 3)).T
    return np.column_stack([male - female, log2_ratios(male, female)])


def measure(records: Sequence[Record], *, seed: int, resamples: int) -> Measures:
    """Effect, gap and nuance, with intervals over sentences, and the spread over name draws."""
    table = tabulate(records)
    counts = table.select(GROUPS)
    sample = Sample.draw(counts, seed=seed, resamples=resamples)
    ges = sample.effect()
    gap = sample.estimate(gender_gap(micro_f1))
    contrast = sample.estimate(lambda c: gender_gap(micro_f1, 1)(c) - gender_gap(micro_f1, 0)(c))
    p = run_swap_tests(counts, seed=seed)
    problem = _find_problem(sample, persons=bool(table.groups))
    finding = judge(gap, ges, not_measurable=problem)
    warnings = _warn_of_labels(table.unmapped)
    extra = _list_extras(sample)
    agreeing = table.select(GROUPS, agreeing=True)
    if (n := len(agreeing.sentences)) > 1:
        part = Sample.draw(agreeing, seed=seed, resamples=resamples)
        ges_apart, gap_apart = part.effect(), part.estimate(gender_gap(micro_f1))
        extra += [
            AGREEING.make_extra("ges", GES(), "log2 ratio", ges_apart, n),
            AGREEING.make_extra("gap", GAP(), "F1", gap_apart, n),
        ]
        apart = judge(gap_apart, ges_apart, not_measurable=problem)
        if apart.headline != finding.headline:
            warnings.append(CLASHING_PRONOUNS_DECIDE(finding=apart.message))
    if UNISEX in table.groups:
        unisex = Sample.draw(table.select([UNISEX]), seed=seed, resamples=resamples)
        extra += _list_unisex_extras(unisex)
    cells = micro_f1(sample.total)
    drawn = micro_f1(sample.drawn)
    n = len(counts.sentences)
    by_group = {
        group: percentile_interval(drawn[:, i], float(cells[i])) for i, group in enumerate(GROUPS)
    }
    return Measures(
        gender_effect_size=ges,
        gap=Contrast(name=GAP_NAME(), unit="F1", p=p.gap, **gap.parts()),
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
        contrast=Contrast(name=ORIGIN_CONTRAST(), unit="F1", p=p.contrast, **contrast.parts()),
        extra=tuple(extra),
        coverage=table.coverage,
        warnings=tuple(warnings),
        finding=finding,
        problem=problem,
    )


def _list_extras(sample: Sample) -> list[Extra]:
    found = [
        Extra(
            id="person_recall_gap",
            name=PERSON_RECALL_GAP(),
            unit="recall",
            **sample.estimate(gender_gap(person_recall)).parts(),
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
            **sample.estimate(
                lambda c: micro_f1(c)[:, :2].mean(axis=1) - micro_f1(c)[:, 2:4].mean(axis=1)
            ).parts(),
        ),
    ]
    for i, (origin, gender) in enumerate(GROUPS):
        found += _list_group_extras(sample, i, f"{origin}_{gender}", f"{origin} {gender} names")
    return found


def _list_group_extras(sample: Sample, group: int, suffix: str, names: str) -> list[Extra]:
    """Figures for persons, places and organisations of one group, and the spread of its draws."""
    recall = sample.estimate(_select_group(person_recall, group))
    precision = sample.estimate(_select_group(person_precision, group))
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
                **sample.estimate(_select_group(_label_f1(label), group)).parts(),
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
    f1 = sample.estimate(_select_group(micro_f1, 0))
    recall = sample.estimate(_select_group(person_recall, 0))
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
    for group, gender in ((FEMALE, "female"), (MALE, "male")):
        if hits[group].sum() == 0:
            return NOTHING_FOUND_IN_GROUP(names=MAJORITY_NAMES[gender])
    return NO_PERSON_FOUND() if hits[:, PER].sum() == 0 else None


def _warn_of_labels(unmapped: Counter[str]) -> list[Message]:
    if not unmapped:
        return []
    labels = tuple(
        UNKNOWN_LABEL(label=label, texts=count) for label, count in unmapped.most_common(8)
    )
    return [UNKNOWN_LABELS(labels=labels)]
