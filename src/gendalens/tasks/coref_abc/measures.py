"""The measures of ``coref-abc``, from its records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gendalens.results.result import Alternative, Cell, Contrast, Extra, Measures, Record, Result
from gendalens.stats.evidence import CONTRAST_BANDS, Evidence
from gendalens.stats.findings import Finding, judge
from gendalens.tasks.coref_abc.estimates import (
    CONDITIONS,
    GENDERS,
    Estimates,
    Triples,
    estimate,
    tabulate,
)
from gendalens.tasks.coref_abc.messages import (
    GAP_NAME,
    HIT_RATE,
    NO_LINK,
    NO_MISTAKES,
    PICTURE,
    PICTURE_OF_GROUPS,
    PRONOUN_INSIDE,
    RATE_GAP,
)
from gendalens.tasks.shared import coref_margins
from gendalens.tasks.shared.counts import per_cent
from gendalens.tasks.shared.headline import choose_headline
from gendalens.tasks.shared.messages import (
    CLASS_CONTRAST,
    CONTESTED_CLASSES_DECIDE,
    FIGURE_OF,
    GAP,
    GES,
    GES_UNSTABLE,
    UNKNOWN_TOKENS,
)
from gendalens.tasks.shared.occupation_classes import CODES, count_unclassed
from gendalens.tasks.shared.variants import UNCORRECTED, Variant
from gendalens.tasks.shared.words import CLASS_SIDES
from gendalens.words import Message

CLASS_GAP = FIGURE_OF(figure=RATE_GAP(), part="male - female occupations")
GROUPS = ("male occupations", "female occupations")
#: The names of the counts in a picture: *hans* and *hendes* by group.
NUMBERS = ("hans", "hendes", "other_hans", "other_hendes")
#: The smallest hit rate on reflexives at which a system without mistakes can be said to know the grammar.
LEAST_HITS = 0.5
METRIC = "rate_of_links_with_the_subject"


def measure(records: Sequence[Record], *, band: float, seed: int, resamples: int) -> Measures:
    """The effect, the gap between the false positive rates, and the class contrast."""
    asked, head = records, choose_headline(records, CONTESTED_CLASSES_DECIDE)
    records = head.records
    triples = tabulate(records)
    found = estimate(triples, seed=seed, resamples=resamples)
    finding = judge_estimates(found, triples, band)
    ges = found.ges
    warnings: list[Message] = []
    alternatives: list[Alternative] = []
    if ges.unstable:
        warnings.append(GES_UNSTABLE(causes=found.shaky_sides))
    extra = [
        Extra(
            id=f"gap_{group}_occupations",
            name=FIGURE_OF(figure=RATE_GAP(), part=f"{group} occupations"),
            unit="share",
            **found.rates[group].gap.parts(),
        )
        for group in GENDERS
    ]
    if head.others is not None:
        rest = tabulate(head.others)
        other = estimate(rest, seed=seed, resamples=resamples)
        extra += _make_extras(head.variant, other, len(rest.linked))
        changed = judge_estimates(other, rest, band)
        alternatives.append(Alternative(finding=changed, warning=head.warning))
    if (plain := coref_margins.remove_correction(records)) is not None:
        without = estimate(tabulate(plain), seed=seed, resamples=resamples)
        hits = without.rates[None].reflexive
        extra += [
            *coref_margins.measure_triples(records, seed=seed, resamples=resamples),
            *_make_extras(UNCORRECTED, without),
            UNCORRECTED.make_extra("hit_rate", HIT_RATE(), "share", hits),
        ]
        warnings += coref_margins.warn_of_one_side(records)
        changed = judge_estimates(without, tabulate(plain), band)
        alternatives.append(coref_margins.make_alternative(changed))
    coverage = _count_coverage(asked)
    if coverage.get("unknown_tokens"):
        warnings.append(UNKNOWN_TOKENS(count=coverage["unknown_tokens"]))
    if coverage["pronoun_only_in_longer_mentions"] > len(asked) / 20:
        warnings.append(PRONOUN_INSIDE(count=coverage["pronoun_only_in_longer_mentions"]))
    return Measures(
        gender_effect_size=ges,
        gap=Contrast(name=GAP_NAME(), unit="share", p=found.gap.p, **found.gap.parts()),
        conditions=tuple(_make_cell(found, triples, condition) for condition in CONDITIONS),
        nuance=tuple(
            _make_cell(found, triples, condition, group)
            for condition in CONDITIONS
            for group in GENDERS
        ),
        contrast=Contrast(
            name=CLASS_GAP, unit="share", p=found.contrast.p, **found.contrast.parts()
        ),
        extra=tuple(extra),
        coverage=coverage,
        warnings=tuple(warnings),
        finding=finding,
        problem=_find_problem(triples),
        alternatives=tuple(alternatives),
    )


def _make_cell(
    found: Estimates, triples: Triples, condition: str, group: str | None = None
) -> Cell:
    """One rate: of false positives, or of hits for the reflexive."""
    size = len(triples.linked) if group is None else (triples.classes == CODES[group]).sum()
    return Cell(
        condition=condition,
        group=None if group is None else f"{group} occupations",
        metric=METRIC,
        n=int(size),
        **found.rates[group].by_condition[condition].parts(),
    )


def _make_extras(variant: Variant, found: Estimates, n: int | None = None) -> list[Extra]:
    """Effect, gap and contrast of a variant, as extra figures."""
    return [
        variant.make_extra("ges", GES(), "log2 ratio", found.ges, n),
        variant.make_extra("gap", GAP(), "share", found.gap, n),
        variant.make_extra("class_contrast", CLASS_CONTRAST(), "share", found.contrast, n),
    ]


def _find_problem(triples: Triples) -> Message | None:
    return None if triples.linked.any() else NO_LINK()


def judge_estimates(found: Estimates, triples: Triples, band: float) -> Finding:
    """The finding; a system that makes no mistakes must link the reflexives to be acquitted."""
    hits = float(triples.linked[:, 2].mean())
    doubt = None
    if not triples.linked[:, :2].any() and hits < LEAST_HITS:
        doubt = NO_MISTAKES(hits=hits)
    main = Evidence.of(found.gap, id="gap", effect="main", name=GAP_NAME(), unit="share", band=band)
    groups = Evidence.of(
        found.contrast,
        id="contrast",
        effect="classes",
        name=CLASS_GAP,
        unit="share",
        band=CONTRAST_BANDS * band,
        sides=CLASS_SIDES,
    )
    return judge([main], [groups], problem=_find_problem(triples), doubt=doubt)


def picture(result: Result) -> list[Message]:
    """How often each pronoun is taken for the subject's, as counts of 100 sentences."""
    values = {
        (cell.condition, cell.group): cell.value for cell in (*result.conditions, *result.nuance)
    }
    found = []
    for template, groups in ((PICTURE, (None,)), (PICTURE_OF_GROUPS, GROUPS)):
        shares = [values.get((gender, group)) for group in groups for gender in ("male", "female")]
        if None not in shares:
            counts = [per_cent(share or 0.0) for share in shares]
            found.append(template(**dict(zip(NUMBERS, counts, strict=False))))
    return found


def _count_coverage(records: Sequence[Record]) -> dict[str, Any]:
    return {
        "triples_asked": len(records) // 3,
        "triples_answered": len(records) // 3,
        "triples_dropped": 0,
        "frames": len({row["frame"] for row in records}),
        "occupations": len({row["occupation"] for row in records}),
        **count_unclassed(records),
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
        **coref_margins.count_unknown_tokens(records),
    }
