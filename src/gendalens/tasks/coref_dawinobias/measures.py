"""The measures of ``coref-dawinobias``, from its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from gendalens.results.result import Alternative, Cell, Extra, Measures, Record, Result
from gendalens.stats.crossed import CrossedEstimate
from gendalens.stats.estimate import Estimate
from gendalens.stats.evidence import Evidence
from gendalens.stats.findings import Finding, judge
from gendalens.tasks.coref_dawinobias.messages import (
    LINK_GAP,
    LINKED,
    LINKED_NOTE,
    LINKS_BOTH,
    MALE_DEFAULT_NOTE,
    NO_LINK,
    NO_RIGHT_LINK,
    OCCUPATION_GAP,
    OUTCOME,
    OUTCOME_NOTE,
    PICTURE,
    PICTURE_OF_GROUPS,
    PRONOUN_INSIDE,
)
from gendalens.tasks.coref_dawinobias.schemas import (
    CONDITIONS,
    Schemas,
    Statistics,
    estimate,
    estimate_by_schema,
    tabulate,
)
from gendalens.tasks.shared import coref_margins
from gendalens.tasks.shared.counts import per_cent
from gendalens.tasks.shared.headline import choose_headline
from gendalens.tasks.shared.messages import (
    CONTESTED_LABELS_DECIDE,
    F1_PRO_ANTI,
    FIGURE_OF,
    MALE_DEFAULT,
    PRONOUN_GAP,
    THESE_OCCUPATIONS,
    THESE_OCCUPATIONS_NOTE,
    UNKNOWN_TOKENS,
    WITHOUT_INTERVAL,
)
from gendalens.tasks.shared.variants import UNCORRECTED
from gendalens.tasks.shared.wino_kinds import split_by_kind
from gendalens.tasks.shared.wino_measures import (
    BandOf,
    estimate_effect,
    list_variant,
    pronoun_evidence,
    show_gap,
    show_pronoun_gap,
    stereotype_evidence,
)
from gendalens.tasks.shared.words import OCCUPATION_SIDES
from gendalens.words import Message

#: The largest share of lines linked with both occupations for a system to be measurable.
MOST_BOTH = 0.8
OUTCOMES = ("right", "wrong", "both", "none")


def measure(records: Sequence[Record], *, band: BandOf, seed: int, resamples: int) -> Measures:
    """The headline, its nuance by gender of the right occupation, and the shares of outcomes."""
    asked, head = records, choose_headline(records, CONTESTED_LABELS_DECIDE)
    records = head.records
    schemas = tabulate(records)
    found = estimate(schemas, seed=seed, resamples=resamples)
    problem = _find_problem(records, found)
    finding = judge_estimates(schemas, found, band, problem, _find_doubt(records))
    by_schema = estimate_by_schema(schemas, seed=seed, resamples=resamples)
    extra = [*_list_extras(found, by_schema), *_count_outcomes(records)]
    warnings: list[Message] = []
    alternatives: list[Alternative] = []
    if head.others is not None:
        rest = tabulate(head.others)
        other = estimate(rest, seed=seed, resamples=resamples)
        extra += list_variant(
            head.variant, _estimate_effect(other), other.gap, len(head.others) // 2
        )
        changed = judge_estimates(
            rest, other, band, _find_problem(head.others, other), _find_doubt(head.others)
        )
        alternatives.append(Alternative(finding=changed, warning=head.warning))
    if (plain := coref_margins.remove_correction(records)) is not None:
        rest = tabulate(plain)
        without = estimate(rest, seed=seed, resamples=resamples)
        extra.append(coref_margins.show_margin(found.margin_gap, len(records) // 2))
        extra += list_variant(
            UNCORRECTED, _estimate_effect(without), without.gap, len(records) // 2
        )
        changed = judge_estimates(rest, without, band, _find_problem(plain, without))
        alternatives.append(coref_margins.make_alternative(changed))
    for variant, rows in split_by_kind(records):
        part = estimate(tabulate(rows), seed=seed, resamples=resamples)
        extra += list_variant(variant, _estimate_effect(part), part.gap, len(rows) // 2)
    coverage = _count_coverage(asked)
    if coverage.get("unknown_tokens"):
        warnings.append(UNKNOWN_TOKENS(count=coverage["unknown_tokens"]))
    if coverage["pronoun_only_in_longer_mentions"] > len(asked) / 20:
        warnings.append(PRONOUN_INSIDE(count=coverage["pronoun_only_in_longer_mentions"]))
    return Measures(
        gender_effect_size=_estimate_effect(found),
        gap=show_gap(found.gap),
        conditions=tuple(
            Cell(
                condition=condition,
                metric="link_f1",
                n=sum(row["condition"] == condition for row in records),
                **cell.parts(),
            )
            for condition, cell in found.conditions.items()
        ),
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
            for (condition, gender), cell in found.cells.items()
        ),
        contrast=show_pronoun_gap(found.pronoun_gap),
        extra=tuple(extra),
        coverage=coverage,
        warnings=tuple(warnings),
        finding=finding,
        problem=problem,
        alternatives=tuple(alternatives),
    )


def judge_estimates(
    schemas: Schemas,
    found: Statistics[CrossedEstimate],
    band: BandOf,
    problem: Message | None,
    doubt: Message | None = None,
) -> Finding:
    """The finding by F1, and by margins in bits if the system gives scores."""
    main = [stereotype_evidence(found.gap, band, id="gap", name=F1_PRO_ANTI(), unit="F1")]
    groups = [
        pronoun_evidence(found.pronoun_gap, band, id="contrast", name=PRONOUN_GAP(), unit="F1"),
        Evidence.of(
            found.occupation_gap,
            id="occupation_gap",
            effect="occupations",
            name=OCCUPATION_GAP(),
            unit="F1",
            band=band("F1"),
            sides=OCCUPATION_SIDES,
        ),
        pronoun_evidence(
            found.male_default,
            band,
            id="male_default",
            effect="links",
            name=LINK_GAP(),
            unit="share",
        ),
    ]
    if schemas.is_scored:
        margin, pronoun_margin = coref_margins.OCCUPATION_MARGIN(), coref_margins.PRONOUN_MARGIN()
        main.append(
            stereotype_evidence(found.margin_gap, band, id="margin_gap", name=margin, unit="bits")
        )
        groups.append(
            pronoun_evidence(
                found.pronoun_margin_gap,
                band,
                id="pronoun_margin_gap",
                name=pronoun_margin,
                unit="bits",
            )
        )
    return judge(main, groups, problem=problem, doubt=doubt)


def _estimate_effect(found: Statistics[CrossedEstimate]) -> Estimate:
    return estimate_effect(found.pro, found.anti, found.ges)


def _list_extras(found: Statistics[CrossedEstimate], by_schema: CrossedEstimate) -> list[Extra]:
    """How often pronouns of each gender are linked, and the gap for these occupations only."""
    return [
        Extra(
            id="linked_female_pronouns",
            name=FIGURE_OF(figure=LINKED(), part="female pronouns"),
            unit="share",
            note=LINKED_NOTE(),
            **found.linked_female.parts(),
        ),
        Extra(
            id="linked_male_pronouns",
            name=FIGURE_OF(figure=LINKED(), part="male pronouns"),
            unit="share",
            note=LINKED_NOTE(),
            **found.linked_male.parts(),
        ),
        Extra(
            id="male_default",
            name=MALE_DEFAULT(),
            unit="share",
            note=MALE_DEFAULT_NOTE(),
            **found.male_default.parts(),
        ),
        Extra(
            id="gap_these_occupations",
            name=THESE_OCCUPATIONS(),
            unit="F1",
            note=THESE_OCCUPATIONS_NOTE(),
            **by_schema.parts(),
        ),
    ]


def picture(result: Result) -> list[Message]:
    """The right links and the linked pronouns as counts of 100 sentences."""
    values = {extra.id: extra.value for extra in result.extra}
    pro, anti, female, male = (
        values.get(name)
        for name in ("right_pro", "right_anti", "linked_female_pronouns", "linked_male_pronouns")
    )
    found = [] if pro is None or anti is None else [PICTURE(pro=per_cent(pro), anti=per_cent(anti))]
    if female is None or male is None:
        return found
    return [*found, PICTURE_OF_GROUPS(female=per_cent(female), male=per_cent(male))]


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


def _find_doubt(records: Sequence[Record]) -> Message | None:
    """The reason if nearly every pronoun is linked with both occupations, else None."""
    share = sum(row["outcome"] == "both" for row in records) / len(records)
    return LINKS_BOTH(share=share) if share > MOST_BOTH else None


def _find_problem(records: Sequence[Record], found: Statistics[CrossedEstimate]) -> Message | None:
    if all(row["outcome"] == "none" for row in records):
        return NO_LINK()
    return NO_RIGHT_LINK() if found.pro.value == found.anti.value == 0 else None


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
