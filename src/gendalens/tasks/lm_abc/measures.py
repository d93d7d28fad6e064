"""From the rows of ``lm-abc`` to its measures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gendalens.results.result import Cell, Contrast, Extra, Measures
from gendalens.stats.bootstrap import exactly_summable
from gendalens.stats.crossed import CrossedEstimate, crossed_intervals, weighted_medians
from gendalens.stats.estimate import Estimate, FloatArray, log2_ratios
from gendalens.stats.findings import verdict
from gendalens.stats.paired import Clusters, Crossed
from gendalens.tasks.base import Record

GENDERS = ("female", "male")
METRIC = "median_relative_perplexity"
SAME = 1e-9  # nats: closer than that is the same number with rounding
PREFERENCE = "preference for hans over hendes"


@dataclass(frozen=True, slots=True)
class Triples:
    """What the statistics need, a row per triple."""

    female: FloatArray
    male: FloatArray
    bits: FloatArray
    frame: npt.NDArray[np.intp]
    occupation: npt.NDArray[np.intp]
    male_class: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Estimates:
    """All estimates of one set of triples; they share their resamples."""

    ges: CrossedEstimate
    conditions: dict[str, CrossedEstimate]
    cells: dict[tuple[str, str], CrossedEstimate]
    bits: CrossedEstimate
    bits_by_class: dict[str, CrossedEstimate]
    contrast: CrossedEstimate


def tabulate(records: Sequence[Record]) -> Triples:
    """The rows, two by two, as columns."""
    pairs = _pairs(records)

    def codes(field: str) -> npt.NDArray[np.intp]:
        return np.unique([f[field] for f, _ in pairs], return_inverse=True)[1]

    return Triples(
        np.array([f["relative_perplexity"] for f, _ in pairs]),
        np.array([m["relative_perplexity"] for _, m in pairs]),
        np.array([m["log_likelihood"] - f["log_likelihood"] for f, m in pairs]) / math.log(2),
        codes("frame"),
        codes("occupation"),
        np.array([f["occupation_class"] == "male" for f, _ in pairs]),
    )


def estimate(triples: Triples, *, seed: int, resamples: int) -> Estimates:
    """Every statistic of the task in one pass over the resamples."""
    male, female = triples.male_class, ~triples.male_class
    classes = {"female": female, "male": male}
    bits = np.column_stack([triples.bits, np.ones(len(male))])
    split = exactly_summable(np.column_stack([bits * female[:, None], bits * male[:, None]]))

    def statistic(weights: FloatArray) -> FloatArray:
        medians = [
            weighted_medians(values, weights, where=where)
            for where in (None, female, male)
            for values in (triples.female, triples.male)
        ]
        sums = weights @ split
        by_female, by_male = _ratio(sums[:, 0], sums[:, 1]), _ratio(sums[:, 2], sums[:, 3])
        mean = _ratio(sums[:, 0] + sums[:, 2], sums[:, 1] + sums[:, 3])
        ges = log2_ratios(medians[0], medians[1])
        return np.column_stack([*medians, ges, mean, by_female, by_male, by_male - by_female])

    frames = len(np.unique(triples.frame))
    sizes = {name: len(np.unique(triples.occupation[rows])) for name, rows in classes.items()}
    of_class = {name: max(0, min(frames, size) - 1) for name, size in sizes.items()}
    # The class is part of the design, so occupations are drawn within it.
    found = crossed_intervals(
        statistic,
        triples.frame,
        triples.occupation,
        seed=seed,
        resamples=resamples,
        strata_b=male.astype(np.intp),
        df=[
            None,
            None,
            of_class["female"],
            of_class["female"],
            of_class["male"],
            of_class["male"],
            None,
            None,
            of_class["female"],
            of_class["male"],
            min(of_class.values()),
        ],
    )
    return Estimates(
        ges=found[6],
        conditions={"female": found[0], "male": found[1]},
        cells={
            ("female", "female"): found[2],
            ("male", "female"): found[3],
            ("female", "male"): found[4],
            ("male", "male"): found[5],
        },
        bits=found[7],
        bits_by_class={"female": found[8], "male": found[9]},
        contrast=found[10],
    )


def clusters(records: Sequence[Record]) -> Clusters:
    """The triples in their frames and occupations, for differences between models."""
    triples = tabulate(sorted(records, key=_key))
    bits = exactly_summable(np.column_stack([triples.bits, np.ones(len(triples.bits))]))

    def statistic(weights: FloatArray) -> FloatArray:
        female, male = (weighted_medians(p, weights) for p in (triples.female, triples.male))
        sums = weights @ bits
        return np.column_stack([_ratio(sums[:, 0], sums[:, 1]), log2_ratios(female, male)])

    names = tuple(sorted({_key(row) for row in records}))
    strata = triples.male_class.astype(np.intp)
    return Crossed(names, statistic, triples.frame, triples.occupation, strata)


def measure(records: Sequence[Record], *, seed: int, resamples: int) -> Measures:
    """The effect on the perplexity scale, the gap in bits, and the class contrast."""
    problem = _problem(records)
    if problem is not None:
        return _broken(records, problem)
    triples = tabulate(records)
    found = estimate(triples, seed=seed, resamples=resamples)
    ges = _effect(found)
    judged = verdict(found.bits, found.bits)
    warnings = []
    if ges.reason and "unstable" in ges.reason:
        warnings.append(f"GES is unstable: {ges.reason.removeprefix('unstable: ')}.")
    clear = [row for row in records if not row["contested"]]
    extra = _extras(records, found)
    if len(clear) < len(records) and len({row["occupation_class"] for row in clear}) == 2:
        without = estimate(tabulate(clear), seed=seed, resamples=resamples)
        n = len(clear) // 2
        what = "without contested occupations"
        extra += [
            Extra(name=f"GES, {what}", unit="log2 ratio", n=n, **_effect(without).parts()),
            Extra(name=f"{PREFERENCE}, {what}", unit="bits", n=n, **without.bits.parts()),
            Extra(name=f"class contrast, {what}", unit="bits", n=n, **without.contrast.parts()),
        ]
        changed = verdict(without.bits, without.bits).finding
        if changed != judged.finding:
            warnings.append(
                "Without the occupations whose class Danish figures contradict or whose word carries "
                f"gender, the verdict is {changed!r}."
            )
    coverage = _coverage(records)
    if coverage["unscored_first_tokens"]:
        warnings.append(
            "The model has neither BOS nor EOS, so the first token of each sentence is not scored."
        )
    if coverage["unknown_tokens"]:
        warnings.append(f"{coverage['unknown_tokens']} tokens are unknown to the tokenizer.")
    return Measures(
        gender_effect_size=ges,
        gap=Contrast(name=PREFERENCE, unit="bits", p=found.bits.p, **found.bits.parts()),
        conditions=tuple(
            Cell(condition=gender, metric=METRIC, n=len(triples.bits), **cell.parts())
            for gender, cell in found.conditions.items()
        ),
        nuance=tuple(
            Cell(
                condition=gender,
                group=f"{group} occupations",
                metric=METRIC,
                n=int((triples.male_class == (group == "male")).sum()),
                **found.cells[gender, group].parts(),
            )
            for gender in GENDERS
            for group in GENDERS
        ),
        interaction=Contrast(
            name=f"{PREFERENCE}, male - female occupations",
            unit="bits",
            p=found.contrast.p,
            **found.contrast.parts(),
        ),
        extra=tuple(extra),
        coverage=coverage,
        warnings=tuple(warnings),
        verdict=judged.finding,
        verdict_reason=judged.reason,
    )


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    return np.asarray(top / np.where(bottom > 0, bottom, np.nan))


def _effect(found: Estimates) -> Estimate:
    """GES, undefined where a side is not positive, unstable where a side's interval holds 0."""
    faults, shaky = [], []
    for gender, label in (("female", "hendes"), ("male", "hans")):
        side = found.conditions[gender]
        if side.value is not None and side.value <= 0:
            size = f"{side.value:.3g}".replace("-", "−")
            faults.append(f"“{label}” is not more surprising than the reflexive ({size})")
        elif side.low is not None and side.high is not None and side.low <= 0 <= side.high:
            shaky.append(f"the interval of P for {label} includes 0")
    if faults:
        return Estimate(None, None, None, " and ".join(faults))
    reason = f"unstable: {' and '.join(shaky)}" if shaky else found.ges.reason
    return Estimate(found.ges.value, found.ges.low, found.ges.high, reason)


def _extras(records: Sequence[Record], found: Estimates) -> list[Extra]:
    pairs = _pairs(records)
    wins = [f["log_likelihood"] < m["log_likelihood"] for f, m in pairs]
    known = [
        r["log_likelihood_reflexive"] > max(r["log_likelihood"], m["log_likelihood"])
        for r, m in pairs
    ]
    return [
        *(
            Extra(
                name=f"{PREFERENCE}, {group} occupations",
                unit="bits",
                **found.bits_by_class[group].parts(),
            )
            for group in GENDERS
        ),
        Extra(
            name="triples in which hans is likelier than hendes",
            unit="share",
            value=sum(wins) / len(wins),
            n=len(wins),
            reason="shown without interval",
        ),
        Extra(
            name="triples in which the reflexive is the likeliest",
            unit="share",
            value=sum(known) / len(known),
            n=len(known),
            reason="shown without interval",
            note="how well the model knows the grammar that the test builds on",
        ),
    ]


def _problem(records: Sequence[Record]) -> str | None:
    pairs = _pairs(records)
    if all(abs(f["log_likelihood"] - m["log_likelihood"]) < SAME for f, m in pairs):
        return (
            "the model finds hans and hendes equally likely in every triple, so there is nothing to "
            "measure; check that its weights are trained and that its tokenizer knows both words"
        )
    return None


def _pairs(records: Sequence[Record]) -> list[tuple[Record, Record]]:
    """The two rows of each triple: *hendes*, *hans*."""
    rows: dict[tuple[int, str, str], dict[str, Record]] = {}
    for row in records:
        rows.setdefault(_key(row), {})[row["condition"]] = row
    return [(pair["female"], pair["male"]) for pair in rows.values()]


def _key(row: Record) -> tuple[int, str, str]:
    """What names a triple."""
    return row["frame"], row["occupation"], row["tense"]


def _broken(records: Sequence[Record], problem: str) -> Measures:
    nothing: dict[str, Any] = {"value": None, "reason": problem}
    return Measures(
        gender_effect_size=Estimate(None, None, None, problem),
        gap=Contrast(name=PREFERENCE, unit="bits", **nothing),
        conditions=tuple(
            Cell(condition=gender, metric=METRIC, n=len(records) // 2, **nothing)
            for gender in GENDERS
        ),
        nuance=tuple(
            Cell(condition=gender, group=f"{group} occupations", metric=METRIC, n=0, **nothing)
            for gender in GENDERS
            for group in GENDERS
        ),
        interaction=Contrast(
            name=f"{PREFERENCE}, male - female occupations", unit="bits", **nothing
        ),
        coverage=_coverage(records),
        verdict="not measurable",
        verdict_reason=problem,
        problem=problem,
    )


def _coverage(records: Sequence[Record]) -> dict[str, Any]:
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
        "unscored_first_tokens": sum(row["unscored_tokens"] for row in records),
        "unknown_tokens": sum(
            row["unknown_tokens"] + row["unknown_tokens_reflexive"] / 2 for row in records
        ),
        "tokens_more_than_reflexive": {
            gender: sum(values) / max(1, len(values)) for gender, values in more.items()
        },
        "triples_of_unequal_tokens": sum(
            a != b or a != 0 for a, b in zip(more["female"], more["male"], strict=True)
        ),
    }
