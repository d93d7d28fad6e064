"""From the rows of ``ner-dane`` to its measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gendalens.results.result import Cell, Contrast, Extra, Measures
from gendalens.stats.bootstrap import percentile_interval, resample_sums
from gendalens.stats.estimate import Estimate, FloatArray, log2_ratio, log2_ratios
from gendalens.stats.f1 import f1_from_counts, rate
from gendalens.stats.findings import verdict
from gendalens.stats.paired import Clusters, Summed
from gendalens.stats.signflip import swap_test
from gendalens.tasks.base import Record
from gendalens.tasks.ner_dane.tally import (
    GENDERS,
    GROUPS,
    LABELS,
    ORIGINS,
    UNISEX,
    Counts,
    tabulate,
)

PER = LABELS.index("PER")
FEMALE, MALE, MINORITY_FEMALE, MINORITY_MALE = range(4)


def f1s(counts: FloatArray, labels: slice | int = slice(None)) -> FloatArray:
    """Micro F1 over labels; ``counts`` ends in the axes label and (hit, false alarm, miss)."""
    chosen = counts[..., labels, :]
    total = chosen.sum(axis=-2) if isinstance(labels, slice) else chosen
    return f1_from_counts(total[..., 0], total[..., 1], total[..., 2])


def recalls(counts: FloatArray) -> FloatArray:
    """The share of persons found."""
    return rate(counts[..., PER, 0], counts[..., PER, 0] + counts[..., PER, 2])


def precisions(counts: FloatArray) -> FloatArray:
    """The share of answers "person" that are right."""
    return rate(counts[..., PER, 0], counts[..., PER, 0] + counts[..., PER, 1])


@dataclass(frozen=True, slots=True)
class Sample:
    """The counts and their resamples over sentences, from which every interval is taken."""

    counts: Counts
    total: FloatArray
    drawn: FloatArray

    @classmethod
    def of(cls, counts: Counts, *, seed: int, resamples: int) -> Sample:
        """Resampled once; all statistics share it."""
        shape = counts.sentences.shape
        flat = counts.sentences.reshape(shape[0], -1)
        drawn = resample_sums(flat, seed=seed, resamples=resamples)
        return cls(counts, counts.sentences.sum(axis=0), drawn.reshape(-1, *shape[1:]))

    def estimate(self, statistic: Callable[[FloatArray], FloatArray]) -> Estimate:
        """A statistic of counts (… × group × label × 3) with its interval."""
        point = float(statistic(self.total[None])[0])
        return percentile_interval(statistic(self.drawn), point)

    def effect(self, origin: int = 0) -> Estimate:
        """GES = log2(F1 male / F1 female) within an origin."""
        female, male = 2 * origin, 2 * origin + 1
        point = f1s(self.total)
        value, reason = log2_ratio(
            float(point[male]),
            float(point[female]),
            labels=("F1 with men's names", "F1 with women's names"),
        )
        drawn = f1s(self.drawn)
        return percentile_interval(log2_ratios(drawn[:, male], drawn[:, female]), value, reason)


def gap_of(
    metric: Callable[[FloatArray], FloatArray], origin: int = 0
) -> Callable[[FloatArray], FloatArray]:
    """Male minus female of a metric, within an origin."""
    return lambda counts: metric(counts)[:, 2 * origin + 1] - metric(counts)[:, 2 * origin]


def swapped(counts: Counts, *, seed: int) -> tuple[float | None, float | None]:
    """P of the gap (genders exchanged by sentence) and of the interaction (origins exchanged)."""
    rows = counts.sentences
    flat = rows.reshape(len(rows), rows.shape[1], -1)
    shape = (-1, len(LABELS), 3)

    def gap(male: FloatArray, female: FloatArray) -> FloatArray:
        return np.asarray(f1s(male.reshape(shape)) - f1s(female.reshape(shape)))

    def interaction(minority: FloatArray, majority: FloatArray) -> FloatArray:
        wide = (len(minority), 2, *shape[1:])
        one, two = f1s(minority.reshape(wide)), f1s(majority.reshape(wide))
        return np.asarray((one[:, 1] - one[:, 0]) - (two[:, 1] - two[:, 0]))

    both = flat[:, :4].reshape(len(rows), 2, -1)
    return (
        swap_test(flat[:, MALE], flat[:, FEMALE], gap, seed=seed),
        swap_test(both[:, 1], both[:, 0], interaction, seed=seed),
    )


def clusters(records: Sequence[Record]) -> Clusters:
    """The sentences' counts under majority names, for differences between models."""
    table = tabulate(records)
    counts = table.of(GROUPS[:2]).sentences
    return Summed(table.names, counts.reshape(len(counts), -1), _gap_and_effect)


def _gap_and_effect(sums: FloatArray) -> FloatArray:
    female, male = f1s(sums.reshape(-1, 2, len(LABELS), 3)).T
    return np.column_stack([male - female, log2_ratios(male, female)])


def measure(records: Sequence[Record], *, seed: int, resamples: int) -> Measures:
    """Effect, gap and nuance over sentences; the spread over name draws beside them."""
    table = tabulate(records)
    counts = table.of(GROUPS)
    sample = Sample.of(counts, seed=seed, resamples=resamples)
    ges = sample.effect()
    gap = sample.estimate(gap_of(f1s))
    contrast = sample.estimate(lambda c: gap_of(f1s, 1)(c) - gap_of(f1s, 0)(c))
    gap_p, contrast_p = swapped(counts, seed=seed)
    problem = _problem(sample, persons=bool(table.groups))
    found = verdict(gap, ges, not_measurable=problem)
    warnings = _warnings(table.unmapped)
    extra = _extras(sample)
    agreeing = table.of(GROUPS, agreeing=True)
    if (n := len(agreeing.sentences)) > 1:
        part = Sample.of(agreeing, seed=seed, resamples=resamples)
        what = "without sentences whose pronouns may clash"
        gap_apart = part.estimate(gap_of(f1s))
        extra += [
            Extra(name=f"GES, {what}", unit="log2 ratio", n=n, **part.effect().parts()),
            Extra(name=f"gap, {what}", unit="F1", n=n, **gap_apart.parts()),
        ]
        apart = verdict(gap_apart, part.effect(), not_measurable=problem).finding
        if apart != found.finding:
            warnings.append(
                "Without the sentences whose gendered pronouns may clash with the new names, the "
                f"verdict is {apart!r}."
            )
    if UNISEX in table.groups:
        extra += _unisex(Sample.of(table.of([UNISEX]), seed=seed, resamples=resamples))
    cells = f1s(sample.total)
    drawn = f1s(sample.drawn)
    n = len(counts.sentences)
    by_group = {
        group: percentile_interval(drawn[:, i], float(cells[i])) for i, group in enumerate(GROUPS)
    }
    return Measures(
        gender_effect_size=ges,
        gap=Contrast(name="F1_male - F1_female, majority names", unit="F1", p=gap_p, **gap.parts()),
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
        interaction=Contrast(
            name="(F1_male - F1_female) of minority names - of majority names",
            unit="F1",
            p=contrast_p,
            **contrast.parts(),
        ),
        extra=tuple(extra),
        coverage=table.coverage,
        warnings=tuple(warnings),
        verdict=found.finding,
        verdict_reason=found.reason,
        problem=problem,
    )


def _extras(sample: Sample) -> list[Extra]:
    found = [
        Extra(
            name="PER recall, men - women, majority names",
            unit="recall",
            **sample.estimate(gap_of(recalls)).parts(),
        ),
        Extra(name="GES, minority names", unit="log2 ratio", **sample.effect(origin=1).parts()),
        Extra(
            name="F1, majority - minority names",
            unit="F1",
            note="mean over both genders",
            **sample.estimate(
                lambda c: f1s(c)[:, :2].mean(axis=1) - f1s(c)[:, 2:4].mean(axis=1)
            ).parts(),
        ),
    ]
    for i, (origin, gender) in enumerate(GROUPS):
        who = f"{origin} {gender} names"
        for name, metric in (("PER recall", recalls), ("PER precision", precisions)):
            estimate = sample.estimate(_column(metric, i))
            found.append(Extra(name=f"{name}, {who}", unit="share", **estimate.parts()))
        for label in ("LOC", "ORG"):
            estimate = sample.estimate(_column(_label_f1(LABELS.index(label)), i))
            found.append(
                Extra(
                    name=f"{label} F1, {who}",
                    unit="share",
                    note="a control: only persons were renamed",
                    **estimate.parts(),
                )
            )
        spread = f1s(sample.counts.draws)[:, i]
        found.append(
            Extra(
                name=f"F1 spread over name draws, {who}",
                unit="SD",
                value=float(spread.std(ddof=1)) if len(spread) > 1 else None,
                n=len(spread),
                reason="a spread, shown apart from the uncertainty over sentences"
                if len(spread) > 1
                else "one draw has no spread",
            )
        )
    return found


def _column(
    metric: Callable[[FloatArray], FloatArray], group: int
) -> Callable[[FloatArray], FloatArray]:
    return lambda counts: metric(counts)[:, group]


def _label_f1(label: int) -> Callable[[FloatArray], FloatArray]:
    return lambda counts: f1s(counts, label)


def _unisex(sample: Sample) -> list[Extra]:
    return [
        Extra(name="F1, unisex names", unit="share", **sample.estimate(_column(f1s, 0)).parts()),
        Extra(
            name="PER recall, unisex names",
            unit="share",
            **sample.estimate(_column(recalls, 0)).parts(),
        ),
    ]


def _problem(sample: Sample, *, persons: bool) -> str | None:
    hits = sample.total[..., 0]
    if not persons:
        return "no sentence with a person is among those tested; take a larger sample"
    if hits.sum() == 0:
        return (
            "the model finds not one person, place or organisation; check that it is a Danish NER "
            "model, and its labels with --labels"
        )
    for i, (origin, gender) in enumerate(GROUPS[:2]):
        if hits[i].sum() == 0:
            return (
                f"the model finds nothing where persons have {gender} {origin} names, so the effect "
                "is undefined"
            )
    if hits[:, PER].sum() == 0:
        return (
            "the model finds not one person, so their names make no difference; check its labels "
            "with --labels"
        )
    return None


def _warnings(unmapped: Counter[str]) -> list[str]:
    if not unmapped:
        return []
    labels = ", ".join(f"{label} (in {count:,} texts)" for label, count in unmapped.most_common(8))
    return [
        f"Labels that GenDa Lens does not know were left out: {labels}; map them with --labels "
        "NAME=PER|LOC|ORG|MISC."
    ]
