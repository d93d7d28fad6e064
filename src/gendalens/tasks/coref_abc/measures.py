"""From the rows of ``coref-abc`` to its measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gendalens.results.result import Cell, Contrast, Extra, Measures
from gendalens.stats.crossed import (
    CONTRAST,
    DIFFERENCE,
    SHARE,
    UNBOUNDED,
    CrossedEstimate,
    crossed_intervals,
    of_sums,
)
from gendalens.stats.estimate import Estimate, FloatArray, log2_ratio, log2_ratios
from gendalens.stats.f1 import rate
from gendalens.stats.findings import Verdict, verdict
from gendalens.stats.paired import Clusters, Crossed
from gendalens.tasks.base import Record
from gendalens.tasks.shared import coref_margins

GENDERS = ("female", "male")
CONDITIONS = ("female", "male", "reflexive")
METRIC = "rate_of_links_with_the_subject"
GAP = "FPR_M - FPR_F (hans - hendes linked with the subject)"
PRONOUNS = {"female": "hendes", "male": "hans"}


@dataclass(frozen=True, slots=True)
class Triples:
    """A row per triple: whether each sentence is linked (in the order of ``CONDITIONS``)."""

    linked: FloatArray
    frame: npt.NDArray[np.intp]
    occupation: npt.NDArray[np.intp]
    male_class: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Estimates:
    """All estimates of one set of triples; they share their resamples."""

    rates: dict[tuple[str, str | None], CrossedEstimate]
    gaps: dict[str | None, CrossedEstimate]
    contrast: CrossedEstimate
    ges: Estimate


def tabulate(records: Sequence[Record]) -> Triples:
    """The rows, three by three, as columns."""
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
        np.array([three["male"]["occupation_class"] == "male" for three in threes]),
    )


def estimate(triples: Triples, *, seed: int, resamples: int) -> Estimates:
    """Every statistic of the task in one pass over the resamples."""
    male = triples.male_class
    frames = len(np.unique(triples.frame))
    sizes = [len(np.unique(triples.occupation[rows])) for rows in (~male, male)]
    of_female, of_male = (max(0, min(frames, size) - 1) for size in sizes)
    # The class is part of the design, so occupations are drawn within it.
    found = crossed_intervals(
        of_sums(_by_class(triples), _statistics),
        triples.frame,
        triples.occupation,
        seed=seed,
        resamples=resamples,
        strata_b=male.astype(np.intp),
        df=[
            *[None] * 4,
            *[of_female] * 4,
            *[of_male] * 4,
            min(of_female, of_male),
            None,
        ],
        ranges=[*(SHARE, SHARE, SHARE, DIFFERENCE) * 3, CONTRAST, UNBOUNDED],
    )
    groups = (None, *GENDERS)
    rates = {
        (condition, group): found[4 * g + c]
        for g, group in enumerate(groups)
        for c, condition in enumerate(CONDITIONS)
    }
    gaps = {group: found[4 * g + 3] for g, group in enumerate(groups)}
    return Estimates(rates, gaps, found[12], _effect(rates, found[13]))


def clusters(records: Sequence[Record]) -> Clusters:
    """The triples in their frames and occupations, for differences between systems."""
    triples = tabulate(records)
    statistic = of_sums(_by_class(triples), lambda sums: _statistics(sums)[:, [3, 13]])
    names = sorted({(row["frame"], row["occupation"], row["tense"]) for row in records})
    strata = triples.male_class.astype(np.intp)
    return Crossed(tuple(names), statistic, triples.frame, triples.occupation, strata)


def _by_class(triples: Triples) -> FloatArray:
    """What each triple adds: its links and itself, for female and for male occupations."""
    male = triples.male_class[:, None]
    units = np.column_stack([triples.linked, np.ones(len(male))])
    return np.column_stack([units * ~male, units * male])


def _statistics(sums: FloatArray) -> FloatArray:
    """Three rates and the gap over all, female and male occupations; the contrast; GES."""
    of_female, of_male = sums[:, :4], sums[:, 4:]
    columns: list[FloatArray] = []
    for part in (of_female + of_male, of_female, of_male):
        rates = [rate(part[:, c], part[:, 3]) for c in range(3)]
        columns += [*rates, rates[1] - rates[0]]
    return np.column_stack(
        [*columns, columns[11] - columns[7], log2_ratios(columns[1], columns[0])]
    )


def _effect(
    rates: dict[tuple[str, str | None], CrossedEstimate], ratio: CrossedEstimate
) -> Estimate:
    """GES, undefined where a rate is zero, unstable where a rate's interval holds 0."""
    male, female = rates["male", None], rates["female", None]
    _, fault = log2_ratio(male.value, female.value, labels=("FPR of hans", "FPR of hendes"))
    if fault:
        return Estimate(None, None, None, fault)
    shaky = [
        f"the interval of FPR for {PRONOUNS[gender]} includes 0"
        for gender in GENDERS
        if (low := rates[gender, None].low) is not None and low <= 0
    ]
    reason = f"unstable: {' and '.join(shaky)}" if shaky else ratio.reason
    return Estimate(ratio.value, ratio.low, ratio.high, reason)


def measure(records: Sequence[Record], *, seed: int, resamples: int) -> Measures:
    """The effect, the gap between the two false positive rates, and the class contrast."""
    triples = tabulate(records)
    found = estimate(triples, seed=seed, resamples=resamples)
    problem = _problem(triples)
    judged = _judge(found, triples)
    warnings = []
    if found.ges.reason and "unstable" in found.ges.reason:
        warnings.append(f"GES is unstable: {found.ges.reason.removeprefix('unstable: ')}.")
    extra = [
        Extra(name=f"FPR_M - FPR_F, {group} occupations", unit="share", **found.gaps[group].parts())
        for group in GENDERS
    ]
    clear = [row for row in records if not row["contested"]]
    if len(clear) < len(records) and len({row["occupation_class"] for row in clear}) == 2:
        rest = tabulate(clear)
        without = estimate(rest, seed=seed, resamples=resamples)
        n, what = len(rest.linked), "without contested occupations"
        extra += [
            Extra(name=f"GES, {what}", unit="log2 ratio", n=n, **without.ges.parts()),
            Extra(name=f"gap, {what}", unit="share", n=n, **without.gaps[None].parts()),
            Extra(name=f"class contrast, {what}", unit="share", n=n, **without.contrast.parts()),
        ]
        changed = _judge(without, rest).finding
        if changed != judged.finding:
            warnings.append(
                "Without the occupations whose class Danish figures contradict or whose word carries "
                f"gender, the verdict is {changed!r}."
            )
    if (plain := coref_margins.uncorrected(records)) is not None:
        without = estimate(tabulate(plain), seed=seed, resamples=resamples)
        extra += [
            *coref_margins.of_triples(records, seed=seed, resamples=resamples),
            Extra(name="GES, uncorrected", unit="log2 ratio", **without.ges.parts()),
            Extra(name="gap, uncorrected", unit="share", **without.gaps[None].parts()),
            Extra(name="class contrast, uncorrected", unit="share", **without.contrast.parts()),
            Extra(
                name="hit rate, uncorrected",
                unit="share",
                **without.rates["reflexive", None].parts(),
            ),
        ]
        warnings += coref_margins.one_sided(records)
        warnings += coref_margins.changed(judged.finding, _judge(without, tabulate(plain)).finding)
    coverage = _coverage(records)
    if coverage.get("unknown_tokens"):
        warnings.append(f"{coverage['unknown_tokens']} tokens are unknown to the tokenizer.")
    if coverage["pronoun_only_in_longer_mentions"] > len(records) / 20:
        warnings.append(
            f"In {coverage['pronoun_only_in_longer_mentions']} sentences the pronoun stands only "
            "inside a longer mention (hans kreditkort), which is no mention of the pronoun."
        )
    return Measures(
        gender_effect_size=found.ges,
        gap=Contrast(name=GAP, unit="share", p=found.gaps[None].p, **found.gaps[None].parts()),
        conditions=tuple(_cell(found, triples, condition) for condition in CONDITIONS),
        nuance=tuple(
            _cell(found, triples, condition, group) for condition in CONDITIONS for group in GENDERS
        ),
        interaction=Contrast(
            name="FPR_M - FPR_F, male - female occupations",
            unit="share",
            p=found.contrast.p,
            **found.contrast.parts(),
        ),
        extra=tuple(extra),
        coverage=coverage,
        warnings=tuple(warnings),
        verdict=judged.finding,
        verdict_reason=judged.reason,
        problem=problem,
    )


def _cell(found: Estimates, triples: Triples, condition: str, group: str | None = None) -> Cell:
    """One rate: false positives, or hits for the reflexive."""
    size = len(triples.linked) if group is None else (triples.male_class == (group == "male")).sum()
    return Cell(
        condition=condition,
        group=None if group is None else f"{group} occupations",
        metric=METRIC,
        n=int(size),
        **found.rates[condition, group].parts(),
    )


def _problem(triples: Triples) -> str | None:
    if triples.linked.any():
        return None
    return (
        "the system links no possessive with the subject, not even sin, sit or sine, so there is "
        "nothing to measure; check that it knows Danish possessives and that its mentions are given "
        "by the right offsets"
    )


def _judge(found: Estimates, triples: Triples) -> Verdict:
    """The verdict; a system that never makes the mistake has shown no difference to measure."""
    reason = _problem(triples)
    if reason is None and not triples.linked[:, :2].any():
        hits = triples.linked[:, 2].mean()
        reason = (
            "neither hans nor hendes is ever linked with the subject, as the grammar wants, so there "
            f"are no mistakes to compare (the reflexives are linked in {hits:.0%})"
        )
    return verdict(found.gaps[None], found.ges, not_measurable=reason)


def _coverage(records: Sequence[Record]) -> dict[str, Any]:
    return {
        "triples_asked": len(records) // 3,
        "triples_answered": len(records) // 3,
        "triples_dropped": 0,
        "frames": len({row["frame"] for row in records}),
        "occupations": len({row["occupation"] for row in records}),
        "sentences_linked": {
            condition: sum(
                row["condition"] == condition and row["outcome"] == "linked" for row in records
            )
            for condition in CONDITIONS
        },
        "sentences_with_clusters_but_no_link": {
            condition: sum(
                row["condition"] == condition
                and bool(row["clusters"])
                and row["outcome"] != "linked"
                for row in records
            )
            for condition in CONDITIONS
        },
        "pronoun_only_in_longer_mentions": sum(row["pronoun_inside"] for row in records),
        **coref_margins.unknown_tokens(records),
    }
