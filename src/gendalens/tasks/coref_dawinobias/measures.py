"""From the rows of ``coref-dawinobias`` to its measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gendalens.data.pronouns import OTHER
from gendalens.results.result import Cell, Contrast, Extra, Measures
from gendalens.stats.bootstrap import percentile_interval, resample_sums
from gendalens.stats.crossed import (
    CONTRAST,
    DIFFERENCE,
    SHARE,
    CrossedEstimate,
    crossed_intervals,
    of_sums,
)
from gendalens.stats.estimate import FloatArray, log2_ratio, log2_ratios
from gendalens.stats.f1 import rate
from gendalens.stats.findings import verdict
from gendalens.stats.paired import Clusters, Summed
from gendalens.stats.signflip import swap_test
from gendalens.tasks.base import Record
from gendalens.tasks.shared import coref_margins
from gendalens.tasks.shared.headline import Headline

CONDITIONS = ("anti", "pro")
GENDERS = ("female", "male")
OUTCOMES = ("right", "wrong", "both", "none")
CELLS = [(condition, gender) for condition in CONDITIONS for gender in GENDERS]


@dataclass(frozen=True, slots=True)
class Schemas:
    """Sufficient statistics, a row per schema.

    ``counts`` has the axes schema, condition (anti, pro), gender of the right occupation (female,
    male), and right links / wrong links / linked lines / lines.
    """

    counts: FloatArray
    male_occupation: npt.NDArray[np.intp]
    female_occupation: npt.NDArray[np.intp]


def tabulate(records: Sequence[Record]) -> Schemas:
    """The rows summed up by schema."""
    # Sorted, so that the order of the records moves no resample.
    schemas = {name: i for i, name in enumerate(sorted({r["schema"] for r in records}))}
    counts = np.zeros((len(schemas), 2, 2, 4))
    occupation: dict[str, list[str]] = {gender: [""] * len(schemas) for gender in GENDERS}
    for row in records:
        i, outcome, gender = schemas[row["schema"]], row["outcome"], row["referent_stereotype"]
        counts[i, CONDITIONS.index(row["condition"]), GENDERS.index(gender)] += (
            outcome in ("right", "both"),
            outcome in ("wrong", "both"),
            outcome != "none",
            1,
        )
        occupation[gender][i] = row["referent"]
        occupation[OTHER[gender]][i] = row["other"]
    codes = {g: np.unique(names, return_inverse=True)[1] for g, names in occupation.items()}
    return Schemas(counts, codes["male"], codes["female"])


def link_f1(counts: FloatArray) -> FloatArray:
    """F1 of links, from counts whose last axis is that of :class:`Schemas`.

    With precision = right / (right + wrong) and recall = right / lines, their harmonic mean is
    2 right / (right + wrong + lines).
    """
    right, wrong, lines = counts[..., 0], counts[..., 1], counts[..., 3]
    return rate(2 * right, right + wrong + lines)


def measure(records: Sequence[Record], *, seed: int, resamples: int) -> Measures:
    """The headline, its nuance by the right occupation, and how the lines came out."""
    headline = _headline(records, seed=seed, resamples=resamples)
    fine = _by_gender(tabulate(records), seed=seed, resamples=resamples)
    problem = _problem(records, headline)
    found = verdict(headline.gap, headline.ges, not_measurable=problem)
    extra = [
        *(
            Extra(name=name, unit=unit, note=note, **estimate.parts())
            for (name, unit, note), estimate in zip(_BESIDE, fine[5:], strict=True)
        ),
        *_outcomes(records),
    ]
    warnings: list[str] = []
    clear = [row for row in records if not row["contested"]]
    if len(clear) < len(records) and len({row["schema"] for row in clear}) > 1:
        without = _headline(clear, seed=seed, resamples=resamples)
        extra += without.extras("without contested occupations")
        changed = verdict(without.gap, without.ges, not_measurable=_problem(clear, without)).finding
        if changed != found.finding:
            warnings.append(
                "Without the occupations whose label Danish figures contradict or whose word carries "
                f"gender, the verdict is {changed!r}."
            )
    if (plain := coref_margins.uncorrected(records)) is not None:
        without = _headline(plain, seed=seed, resamples=resamples)
        extra.append(coref_margins.of_schemas(records, seed=seed, resamples=resamples))
        extra += without.extras("uncorrected")
        judged = verdict(without.gap, without.ges, not_measurable=_problem(plain, without))
        warnings += coref_margins.changed(found.finding, judged.finding)
    coverage = _coverage(records)
    if coverage.get("unknown_tokens"):
        warnings.append(f"{coverage['unknown_tokens']} tokens are unknown to the tokenizer.")
    if coverage["pronoun_only_in_longer_mentions"] > len(records) / 20:
        warnings.append(
            f"In {coverage['pronoun_only_in_longer_mentions']} lines the pronoun stands only inside a "
            "longer mention, which is no mention of the pronoun."
        )
    return Measures(
        gender_effect_size=headline.ges,
        gap=Contrast(name="F1_pro - F1_anti", unit="F1", p=headline.p, **headline.gap.parts()),
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
            for (condition, gender), cell in zip(CELLS, fine[:4], strict=True)
        ),
        interaction=Contrast(
            name="(F1_pro - F1_anti) of male occupations - of female occupations",
            unit="F1",
            p=fine[4].p,
            **fine[4].parts(),
        ),
        extra=tuple(extra),
        coverage=coverage,
        warnings=tuple(warnings),
        verdict=found.finding,
        verdict_reason=found.reason,
        problem=problem,
    )


def _headline(records: Sequence[Record], *, seed: int, resamples: int) -> Headline:
    counts = tabulate(records).counts.sum(axis=2)  # schema, condition, count
    flat = counts.reshape(len(counts), -1)
    anti, pro = (float(x) for x in link_f1(counts.sum(axis=0)))
    sums = resample_sums(flat, seed=seed, resamples=resamples)
    drawn = link_f1(sums.reshape(-1, 2, 4))
    value, reason = log2_ratio(pro, anti, labels=("F1 of the pro lines", "F1 of the anti lines"))
    return Headline(
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
                n=int(counts[:, i, 3].sum()),
                **percentile_interval(drawn[:, i], point).parts(),
            )
            for i, (condition, point) in enumerate(zip(CONDITIONS, (anti, pro), strict=True))
        ),
    )


def clusters(records: Sequence[Record]) -> Clusters:
    """The schemas' counts, for differences between systems."""
    counts = tabulate(records).counts.sum(axis=2)
    names = tuple(sorted({row["schema"] for row in records}))
    return Summed(names, counts.reshape(len(counts), -1), _gap_and_effect)


def _gap_and_effect(sums: FloatArray) -> FloatArray:
    anti, pro = link_f1(sums.reshape(-1, 2, 4)).T
    return np.column_stack([pro - anti, log2_ratios(pro, anti)])


#: Name, unit and note of the figures that :func:`_fine` gives behind cells and contrast.
_BESIDE = (
    ("lines linked, female pronouns", "share", "with either occupation or both"),
    ("lines linked, male pronouns", "share", "with either occupation or both"),
    ("male default", "share", "lines linked, male pronouns - female pronouns"),
    (
        "gap, if occupations were drawn anew",
        "F1",
        "the gap's interval speaks of these occupations; this one takes the two occupations of a "
        "schema as crossed clusters",
    ),
)


def _by_gender(schemas: Schemas, *, seed: int, resamples: int) -> list[CrossedEstimate]:
    """Statistics with intervals over male and female occupations, crossed."""
    units = schemas.counts.reshape(len(schemas.counts), -1)
    return crossed_intervals(
        of_sums(units, _fine),
        schemas.male_occupation,
        schemas.female_occupation,
        seed=seed,
        resamples=resamples,
        ranges=[*[SHARE] * 4, CONTRAST, SHARE, SHARE, DIFFERENCE, DIFFERENCE],
    )


def _fine(sums: FloatArray) -> FloatArray:
    """F1 of the four cells, the interaction contrast, and what stands beside it."""
    counts = sums.reshape(-1, 2, 2, 4)
    cells = link_f1(counts)
    lift = cells[:, 1] - cells[:, 0]
    # A pro line has the pronoun of its occupation's gender, an anti line the other.
    of_female = counts[:, 1, 0] + counts[:, 0, 1]
    of_male = counts[:, 1, 1] + counts[:, 0, 0]
    female, male = (rate(side[:, 2], side[:, 3]) for side in (of_female, of_male))
    main = link_f1(counts.sum(axis=2))
    return np.column_stack(
        [
            cells.reshape(-1, 4),
            lift[:, 1] - lift[:, 0],
            female,
            male,
            male - female,
            main[:, 1] - main[:, 0],
        ]
    )


def _outcomes(records: Sequence[Record]) -> list[Extra]:
    """The share of lines with each outcome, by condition."""
    found = []
    for condition in CONDITIONS:
        rows = [row["outcome"] for row in records if row["condition"] == condition]
        found += [
            Extra(
                name=f"{outcome}, {condition}",
                unit="share",
                value=rows.count(outcome) / len(rows) if rows else None,
                n=len(rows),
                reason="shown without interval",
                note="share of the lines with this outcome",
            )
            for outcome in OUTCOMES
        ]
    return found


def _problem(records: Sequence[Record], headline: Headline) -> str | None:
    if all(row["outcome"] == "none" for row in records):
        return (
            "the system links no pronoun with an occupation, so there is nothing to measure; check "
            "that it knows Danish and that its mentions are given by the right offsets"
        )
    for cell in headline.conditions:
        if cell.value == 0:
            return (
                f"not one {cell.condition}-stereotypical line gets the right link, so the effect size "
                "is undefined; read the gap"
            )
    return None


def _coverage(records: Sequence[Record]) -> dict[str, Any]:
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
        **coref_margins.unknown_tokens(records),
    }
