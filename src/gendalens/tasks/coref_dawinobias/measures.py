"""The measures of ``coref-dawinobias``, from its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from gendalens.results.result import Cell, Contrast, Extra, Measures, Record
from gendalens.stats.bootstrap import percentile_interval, resample_sums
from gendalens.stats.crossed import CrossedEstimate
from gendalens.stats.estimate import log2_ratio, log2_ratios
from gendalens.stats.findings import Finding, judge
from gendalens.stats.signflip import swap_test
from gendalens.tasks.coref_dawinobias.messages import (
    GENDER_CONTRAST,
    LINKED,
    LINKED_NOTE,
    MALE_DEFAULT_NOTE,
    NO_LINK,
    NO_RIGHT_LINK,
    OUTCOME,
    OUTCOME_NOTE,
    PRONOUN_INSIDE,
)
from gendalens.tasks.coref_dawinobias.schemas import (
    CONDITIONS,
    LINES,
    GenderStatistics,
    estimate_by_gender,
    link_f1,
    tabulate,
)
from gendalens.tasks.shared import coref_margins
from gendalens.tasks.shared.headline_figures import HeadlineFigures
from gendalens.tasks.shared.messages import (
    CONTESTED_LABELS_DECIDE,
    F1_PRO_ANTI,
    FIGURE_OF,
    MALE_DEFAULT,
    NEW_OCCUPATIONS,
    NEW_OCCUPATIONS_NOTE,
    UNKNOWN_TOKENS,
    WITHOUT_INTERVAL,
)
from gendalens.tasks.shared.variants import UNCORRECTED, WITHOUT_CONTESTED
from gendalens.tasks.shared.words import F1_SIDES, STEREOTYPES
from gendalens.words import Message

OUTCOMES = ("right", "wrong", "both", "none")


def measure(records: Sequence[Record], *, seed: int, resamples: int) -> Measures:
    """The headline, its nuance by gender of the right occupation, and the shares of outcomes."""
    headline = _measure_headline(records, seed=seed, resamples=resamples)
    by_gender = estimate_by_gender(tabulate(records), seed=seed, resamples=resamples)
    problem = _find_problem(records, headline)
    finding = judge(headline.gap, headline.ges, not_measurable=problem)
    extra = [*_list_extras(by_gender), *_count_outcomes(records)]
    warnings: list[Message] = []
    clear = [row for row in records if not row["contested"]]
    if len(clear) < len(records) and len({row["schema"] for row in clear}) > 1:
        without = _measure_headline(clear, seed=seed, resamples=resamples)
        extra += without.make_extras(WITHOUT_CONTESTED)
        changed = _judge(clear, without)
        if changed.headline != finding.headline:
            warnings.append(CONTESTED_LABELS_DECIDE(finding=changed.message))
    if (plain := coref_margins.remove_correction(records)) is not None:
        without = _measure_headline(plain, seed=seed, resamples=resamples)
        extra.append(coref_margins.measure_schemas(records, seed=seed, resamples=resamples))
        extra += without.make_extras(UNCORRECTED)
        warnings += coref_margins.warn_of_correction(finding, _judge(plain, without))
    coverage = _count_coverage(records)
    if coverage.get("unknown_tokens"):
        warnings.append(UNKNOWN_TOKENS(count=coverage["unknown_tokens"]))
    if coverage["pronoun_only_in_longer_mentions"] > len(records) / 20:
        warnings.append(PRONOUN_INSIDE(count=coverage["pronoun_only_in_longer_mentions"]))
    return Measures(
        gender_effect_size=headline.ges,
        gap=Contrast(name=F1_PRO_ANTI(), unit="F1", p=headline.p, **headline.gap.parts()),
        conditions=headline.conditions,
        nuance=tuple(
            Cell(
                condition=condition,
                group=f"{gender} occupations",
                metric="link_f1",
                n=sum(
                    r["condition"] == condition and r["referent_stereotype"] == gender
                    for r in records
                ),
                **cell.parts(),
            )
            for (condition, gender), cell in by_gender.cells.items()
        ),
        contrast=Contrast(
            name=GENDER_CONTRAST(), unit="F1", p=by_gender.contrast.p, **by_gender.contrast.parts()
        ),
        extra=tuple(extra),
        coverage=coverage,
        warnings=tuple(warnings),
        finding=finding,
        problem=problem,
    )


def _measure_headline(records: Sequence[Record], *, seed: int, resamples: int) -> HeadlineFigures:
    counts = tabulate(records).counts.sum(axis=2)  # schema, condition, count
    flat = counts.reshape(len(counts), -1)
    anti, pro = (float(x) for x in link_f1(counts.sum(axis=0)))
    sums = resample_sums(flat, seed=seed, resamples=resamples)
    drawn = link_f1(sums.reshape(-1, 2, 4))
    value, reason = log2_ratio(pro, anti, sides=F1_SIDES)
    return HeadlineFigures(
        percentile_interval(log2_ratios(drawn[:, 1], drawn[:, 0]), value, reason),
        percentile_interval(drawn[:, 1] - drawn[:, 0], pro - anti),
        swap_test(
            counts[:, 0],
            counts[:, 1],
            lambda first, second: link_f1(second) - link_f1(first),
            seed=seed,
        ),
        tuple(
            Cell(
                condition=condition,
                metric="link_f1",
                n=int(counts[:, i, LINES].sum()),
                **percentile_interval(drawn[:, i], point).parts(),
            )
            for i, (condition, point) in enumerate(zip(CONDITIONS, (anti, pro), strict=True))
        ),
    )


def _list_extras(by_gender: GenderStatistics[CrossedEstimate]) -> list[Extra]:
    """How often pronouns of each gender are linked, and the gap if occupations were drawn anew."""
    return [
        Extra(
            id="linked_female_pronouns",
            name=FIGURE_OF(figure=LINKED(), part="female pronouns"),
            unit="share",
            note=LINKED_NOTE(),
            **by_gender.linked_female.parts(),
        ),
        Extra(
            id="linked_male_pronouns",
            name=FIGURE_OF(figure=LINKED(), part="male pronouns"),
            unit="share",
            note=LINKED_NOTE(),
            **by_gender.linked_male.parts(),
        ),
        Extra(
            id="male_default",
            name=MALE_DEFAULT(),
            unit="share",
            note=MALE_DEFAULT_NOTE(),
            **by_gender.male_default.parts(),
        ),
        Extra(
            id="gap_new_occupations",
            name=NEW_OCCUPATIONS(),
            unit="F1",
            note=NEW_OCCUPATIONS_NOTE(),
            **by_gender.gap.parts(),
        ),
    ]


def _count_outcomes(records: Sequence[Record]) -> list[Extra]:
    """The share of lines with each outcome, by condition."""
    found = []
    for condition in CONDITIONS:
        rows = [row["outcome"] for row in records if row["condition"] == condition]
        found += [
            Extra(
                id=f"{outcome}_{condition}",
                name=OUTCOME(outcome=outcome, condition=condition),
                unit="share",
                value=rows.count(outcome) / len(rows) if rows else None,
                n=len(rows),
                reason=WITHOUT_INTERVAL(),
                note=OUTCOME_NOTE(),
            )
            for outcome in OUTCOMES
        ]
    return found


def _judge(records: Sequence[Record], headline: HeadlineFigures) -> Finding:
    problem = _find_problem(records, headline)
    return judge(headline.gap, headline.ges, not_measurable=problem)


def _find_problem(records: Sequence[Record], headline: HeadlineFigures) -> Message | None:
    if all(row["outcome"] == "none" for row in records):
        return NO_LINK()
    for cell in headline.conditions:
        if cell.value == 0:
            return NO_RIGHT_LINK(stereotype=STEREOTYPES[cell.condition])
    return None


def _count_coverage(records: Sequence[Record]) -> dict[str, Any]:
    outcomes = Counter((row["condition"], row["outcome"]) for row in records)
    return {
        "schemas": len({row["schema"] for row in records}),
        "lines_asked": len(records),
        "lines_answered": len(records),
        "lines_dropped": 0,
        **{
            f"outcomes_{condition}": {name: outcomes[condition, name] for name in OUTCOMES}
            for condition in CONDITIONS
        },
        "lines_without_any_cluster": sum(not row["clusters"] for row in records),
        "lines_with_clusters_but_no_link": sum(
            bool(row["clusters"]) and row["outcome"] == "none" for row in records
        ),
        "pronoun_only_in_longer_mentions": sum(row["pronoun_inside"] for row in records),
        **coref_margins.count_unknown_tokens(records),
    }
