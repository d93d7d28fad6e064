"""The measures of ``lm-abc``, from its records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gendalens.results.result import Alternative, Cell, Contrast, Extra, Measures, Record, Result
from gendalens.stats.crossed import CrossedEstimate
from gendalens.stats.estimate import BOTH_SIDES, Estimate
from gendalens.stats.evidence import CONTRAST_BANDS, Evidence
from gendalens.stats.findings import Finding, judge
from gendalens.tasks.lm_abc.estimates import Estimates, estimate, pair_rows, tabulate
from gendalens.tasks.lm_abc.messages import (
    EQUALLY_LIKELY,
    FIRST_TOKEN_UNSCORED,
    GRAMMAR_NOTE,
    HANS_LIKELIER,
    NOT_MORE_SURPRISING,
    PICTURE,
    PICTURE_OF_GROUPS,
    PREFERENCE,
    REFLEXIVE_LIKELIEST,
)
from gendalens.tasks.shared.counts import per_cent
from gendalens.tasks.shared.headline import choose_headline
from gendalens.tasks.shared.messages import (
    CLASS_CONTRAST,
    CONTESTED_CLASSES_DECIDE,
    FIGURE_OF,
    GES,
    GES_UNSTABLE,
    SIDE_INCLUDES_ZERO,
    UNKNOWN_TOKENS,
    UNSTABLE,
    WITHOUT_INTERVAL,
)
from gendalens.tasks.shared.occupation_classes import CODES, count_unclassed
from gendalens.tasks.shared.words import CLASS_SIDES
from gendalens.words import Message

GENDERS = ("female", "male")
PRONOUNS = {"female": "hendes", "male": "hans"}
CLASS_PREFERENCE = FIGURE_OF(figure=PREFERENCE(), part="male - female occupations")
METRIC = "median_relative_perplexity"
SAME = 1e-9  # nats: a smaller difference is rounding


def measure(records: Sequence[Record], *, band: float, seed: int, resamples: int) -> Measures:
    """The effect on the perplexity scale, the gap in bits, and the class contrast."""
    problem = _find_problem(records)
    if problem is not None:
        return _measure_nothing(records, problem)
    asked, head = records, choose_headline(records, CONTESTED_CLASSES_DECIDE)
    records = head.records
    triples = tabulate(records)
    found = estimate(triples, seed=seed, resamples=resamples)
    ges = _estimate_effect(found)
    finding = judge_preferences(found.bits, found.contrast, band)
    warnings: list[Message] = []
    alternatives: list[Alternative] = []
    if ges.unstable:
        warnings.append(GES_UNSTABLE(causes=_find_shaky_sides(found)))
    extra = _list_extras(records, found)
    if head.others is not None:
        other = estimate(tabulate(head.others), seed=seed, resamples=resamples)
        n = len(head.others) // 2
        make_extra = head.variant.make_extra
        extra += [
            make_extra("ges", GES(), "log2 ratio", _estimate_effect(other), n),
            make_extra("preference", PREFERENCE(), "bits", other.bits, n),
            make_extra("class_contrast", CLASS_CONTRAST(), "bits", other.contrast, n),
        ]
        changed = judge_preferences(other.bits, other.contrast, band)
        alternatives.append(Alternative(finding=changed, warning=head.warning))
    coverage = _count_coverage(asked)
    if coverage["unscored_first_tokens"]:
        warnings.append(FIRST_TOKEN_UNSCORED())
    if coverage["unknown_tokens"]:
        warnings.append(UNKNOWN_TOKENS(count=coverage["unknown_tokens"]))
    return Measures(
        gender_effect_size=ges,
        gap=Contrast(name=PREFERENCE(), unit="bits", p=found.bits.p, **found.bits.parts()),
        conditions=tuple(
            Cell(condition=gender, metric=METRIC, n=len(triples.bits), **cell.parts())
            for gender, cell in found.conditions.items()
        ),
        nuance=tuple(
            Cell(
                condition=gender,
                group=f"{group} occupations",
                metric=METRIC,
                n=int((triples.classes == CODES[group]).sum()),
                **found.cells[gender, group].parts(),
            )
            for gender in GENDERS
            for group in GENDERS
        ),
        contrast=Contrast(
            name=CLASS_PREFERENCE, unit="bits", p=found.contrast.p, **found.contrast.parts()
        ),
        extra=tuple(extra),
        coverage=coverage,
        warnings=tuple(warnings),
        finding=finding,
        alternatives=tuple(alternatives),
    )


def judge_preferences(bits: CrossedEstimate, contrast: CrossedEstimate, band: float) -> Finding:
    """The finding: the preference overall, and how it differs between the classes."""
    main = Evidence.of(bits, id="gap", effect="main", name=PREFERENCE(), unit="bits", band=band)
    groups = Evidence.of(
        contrast,
        id="contrast",
        effect="classes",
        name=CLASS_PREFERENCE,
        unit="bits",
        band=CONTRAST_BANDS * band,
        sides=CLASS_SIDES,
    )
    return judge([main], [groups])


def picture(result: Result) -> list[Message]:
    """How often *hans* is the likelier of the two, as a count of 100 sentences."""
    values = {extra.id: extra.value for extra in result.extra}
    share = values.get("hans_likelier")
    if share is None:
        return []
    by_class = [values.get(f"hans_likelier_{group}_occupations") for group in GENDERS]
    found = [PICTURE(hans=per_cent(share))]
    if None not in by_class:
        female, male = (per_cent(one or 0.0) for one in by_class)
        found.append(PICTURE_OF_GROUPS(female=female, male=male))
    return found


def _estimate_effect(found: Estimates) -> Estimate:
    """GES: undefined if a side is not positive, unstable if the interval of a side includes 0."""
    faults = tuple(
        NOT_MORE_SURPRISING(pronoun=PRONOUNS[gender], size=side.value)
        for gender, side in found.conditions.items()
        if side.value is not None and side.value <= 0
    )
    if faults:
        fault = faults[0] if len(faults) == 1 else BOTH_SIDES(faults=faults)
        return Estimate(None, None, None, fault)
    ges, shaky = found.ges, _find_shaky_sides(found)
    reason = UNSTABLE(causes=shaky) if shaky else ges.reason
    return Estimate(ges.value, ges.low, ges.high, reason, unstable=bool(shaky))


def _find_shaky_sides(found: Estimates) -> tuple[Message, ...]:
    """A message for each side whose interval includes zero."""
    return tuple(
        SIDE_INCLUDES_ZERO(measure="P", pronoun=PRONOUNS[gender])
        for gender, side in found.conditions.items()
        if side.low is not None and side.high is not None and side.low <= 0 <= side.high
    )


def _list_extras(records: Sequence[Record], found: Estimates) -> list[Extra]:
    pairs = pair_rows(records)
    wins = [f["log_likelihood"] < m["log_likelihood"] for f, m in pairs]
    known = [
        r["log_likelihood_reflexive"] > max(r["log_likelihood"], m["log_likelihood"])
        for r, m in pairs
    ]
    return [
        *(
            Extra(
                id=f"preference_{group}_occupations",
                name=FIGURE_OF(figure=PREFERENCE(), part=f"{group} occupations"),
                unit="bits",
                **found.bits_by_class[group].parts(),
            )
            for group in GENDERS
        ),
        Extra(
            id="hans_likelier",
            name=HANS_LIKELIER(),
            unit="share",
            value=sum(wins) / len(wins),
            n=len(wins),
            reason=WITHOUT_INTERVAL(),
        ),
        *(_count_wins(pairs, wins, group) for group in GENDERS),
        Extra(
            id="reflexive_likeliest",
            name=REFLEXIVE_LIKELIEST(),
            unit="share",
            value=sum(known) / len(known),
            n=len(known),
            reason=WITHOUT_INTERVAL(),
            note=GRAMMAR_NOTE(),
        ),
    ]


def _count_wins(pairs: Sequence[tuple[Record, Record]], wins: Sequence[bool], group: str) -> Extra:
    """The share of triples of one class in which *hans* is likelier."""
    own = [win for (f, _), win in zip(pairs, wins, strict=True) if f["occupation_class"] == group]
    return Extra(
        id=f"hans_likelier_{group}_occupations",
        name=FIGURE_OF(figure=HANS_LIKELIER(), part=f"{group} occupations"),
        unit="share",
        value=sum(own) / len(own) if own else None,
        n=len(own),
        reason=WITHOUT_INTERVAL(),
    )


def _find_problem(records: Sequence[Record]) -> Message | None:
    pairs = pair_rows(records)
    if all(abs(f["log_likelihood"] - m["log_likelihood"]) < SAME for f, m in pairs):
        return EQUALLY_LIKELY()
    return None


def _measure_nothing(records: Sequence[Record], problem: Message) -> Measures:
    nothing: dict[str, Any] = {"value": None, "reason": problem}
    return Measures(
        gender_effect_size=Estimate(None, None, None, problem),
        gap=Contrast(name=PREFERENCE(), unit="bits", **nothing),
        conditions=tuple(
            Cell(condition=gender, metric=METRIC, n=len(records) // 2, **nothing)
            for gender in GENDERS
        ),
        nuance=tuple(
            Cell(condition=gender, group=f"{group} occupations", metric=METRIC, n=0, **nothing)
            for gender in GENDERS
            for group in GENDERS
        ),
        contrast=Contrast(name=CLASS_PREFERENCE, unit="bits", **nothing),
        coverage=_count_coverage(records),
        finding=judge((), problem=problem),
        problem=problem,
    )


def _count_coverage(records: Sequence[Record]) -> dict[str, Any]:
    triples = len(records) // 2
    more = {
        gender: [
            row["tokens"] - row["tokens_reflexive"] for row in records if row["condition"] == gender
        ]
        for gender in GENDERS
    }
    return {
        "triples_asked": triples,
        "triples_answered": triples,
        "triples_dropped": 0,
        "frames": len({row["frame"] for row in records}),
        "occupations": len({row["occupation"] for row in records}),
        **count_unclassed(records),
        "unscored_first_tokens": sum(row["unscored_tokens"] for row in records),
        # The reflexive sentence is in both rows of its triple.
        "unknown_tokens": sum(row["unknown_tokens"] for row in records)
        + sum(row["unknown_tokens_reflexive"] for row in records) // 2,
        "tokens_more_than_reflexive": {
            gender: sum(values) / max(1, len(values)) for gender, values in more.items()
        },
        "triples_of_unequal_tokens": sum(
            a != b or a != 0 for a, b in zip(more["female"], more["male"], strict=True)
        ),
    }
