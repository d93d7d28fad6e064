"""Margins between candidates, for resolvers that score them.

A language model that must choose may give the same answer to both pronouns; the margins still show
how far the odds move with the gender of the pronoun.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gendalens.data.text import Span
from gendalens.models.requests import Resolve, ResolveAnswer, link_best
from gendalens.results.result import Alternative, Extra, Record
from gendalens.stats.crossed import CrossedEstimate, crossed_intervals, statistic_of_sums
from gendalens.stats.estimate import FloatArray
from gendalens.stats.f1 import rate
from gendalens.stats.findings import Finding
from gendalens.tasks.shared.occupation_classes import FEMALE, MALE, encode_classes, split_by_class
from gendalens.words import Message, Template

#: If one answer has this share for hans and hendes together, the rates have no room to differ.
ONE_SIDED = 0.95

OCCUPATION_MARGIN = Template(
    "figure.occupation_margin", "margin of the right occupation, pro - anti"
)
PRONOUN_MARGIN = Template(
    "figure.pronoun_margin", "margin of the right occupation, male - female pronouns"
)
SUBJECT_MARGIN = Template("figure.subject_margin", "margin of the subject, hans - hendes")
MARGIN_CONTRAST = Template("figure.margin_class_contrast", "class contrast of that margin")
FREE_OF_CORRECTION = Template(
    "note.free_of_correction", "free of the correction, which is the same for both pronouns"
)
CORRECTION_DECIDES = Template(
    "correction_decides",
    "Without the correction for how likely each candidate is anyway, the verdict is '{finding}'.",
)
SUBJECT_CHOSEN = Template(
    "subject_chosen",
    "The subject is chosen in {share:.0%} of the sentences with hans or hendes, so the rates have no "
    "room to differ: read the margin, or try another prompt.",
)


def describe_scores(
    request: Resolve, answer: ResolveAnswer, target: Span, outcome: Callable[[ResolveAnswer], str]
) -> Record:
    """The fields of a record on the candidates' scores; none if the system gives no scores.

    ``margin`` is by how many nats the target beats its best rival; ``outcome_uncorrected`` is the
    outcome without the correction.
    """
    if not answer.scores:
        return {}
    at = request.candidates.index((target.start, target.end))

    def margin(scores: Sequence[float]) -> float:
        return scores[at] - max((*scores[:at], *scores[at + 1 :]))

    return {
        "margin": margin(answer.scores),
        "margin_uncorrected": margin(answer.uncorrected),
        "outcome_uncorrected": outcome(ResolveAnswer(link_best(request, answer.uncorrected))),
        "unknown_tokens": answer.unknown,
    }


def remove_correction(records: Sequence[Record]) -> list[Record] | None:
    """The rows with their outcome before the correction; None if the system gives no scores."""
    if not all("margin" in row for row in records):
        return None
    return [{**row, "outcome": row["outcome_uncorrected"]} for row in records]


def make_alternative(without: Finding) -> Alternative:
    """The finding without the correction, which is told if its verdict is another."""
    return Alternative(finding=without, warning=CORRECTION_DECIDES)


def warn_of_one_side(records: Sequence[Record]) -> list[Message]:
    """A warning if nearly all sentences with *hans* and *hendes* get the same answer."""
    asked = [row for row in records if row["condition"] != "reflexive"]
    share = sum(row["outcome"] == "linked" for row in asked) / len(asked)
    if 1 - ONE_SIDED < share < ONE_SIDED:
        return []
    return [SUBJECT_CHOSEN(share=share)]


def count_unknown_tokens(records: Sequence[Record]) -> dict[str, Any]:
    """The number of unknown tokens for the coverage; empty if the system gives no scores."""
    if not all("margin" in row for row in records):
        return {}
    return {"unknown_tokens": sum(row["unknown_tokens"] for row in records)}


def show_margin(margin: CrossedEstimate, lines: int) -> Extra:
    """The margin of the right occupation in bits, pro minus anti line, as an extra figure."""
    return Extra(
        id="margin",
        name=OCCUPATION_MARGIN(),
        unit="bits",
        n=lines,
        note=FREE_OF_CORRECTION(),
        **margin.parts(),
    )


def measure_triples(records: Sequence[Record], *, seed: int, resamples: int) -> list[Extra]:
    """The margin of the subject in bits, *hans* minus *hendes*, and its class contrast."""
    sides = _group_margins(records, ("occupation_class", "occupation", "frame", "tense"))
    keys = sorted(sides, key=lambda key: (key[0] or "", *key[1:]))
    gaps = np.array([sides[key]["male"] - sides[key]["female"] for key in keys])
    classes = encode_classes(of_class for of_class, *_ in keys)
    units = split_by_class(np.column_stack([gaps, np.ones(len(gaps))]), classes)

    def means(sums: FloatArray) -> FloatArray:
        of_female, of_male = (rate(sums[:, i], sums[:, i + 1]) for i in (0, 2))
        overall = rate(sums[:, ::2].sum(axis=1), sums[:, 1::2].sum(axis=1))
        return np.column_stack([overall, of_male - of_female])

    _, frames = np.unique([frame for _, _, frame, _ in keys], return_inverse=True)
    _, occupations = np.unique([name for _, name, _, _ in keys], return_inverse=True)
    sizes = [len(np.unique(occupations[classes == code])) for code in (FEMALE, MALE)]
    overall, contrast = crossed_intervals(
        statistic_of_sums(units, means),
        frames,
        occupations,
        seed=seed,
        resamples=resamples,
        strata_b=classes,
        df=[None, max(0, min(len(np.unique(frames)), *sizes) - 1)],
    )
    return [
        Extra(
            id=figure,
            name=name,
            unit="bits",
            n=len(keys),
            note=FREE_OF_CORRECTION(),
            **estimate.parts(),
        )
        for figure, name, estimate in (
            ("margin", SUBJECT_MARGIN(), overall),
            ("margin_class_contrast", MARGIN_CONTRAST(), contrast),
        )
    ]


def _group_margins(
    records: Sequence[Record], fields: Sequence[str]
) -> dict[tuple[Any, ...], dict[str, float]]:
    """The margin in bits by item, then by condition."""
    sides: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in records:
        key = tuple(row[field] for field in fields)
        sides.setdefault(key, {})[row["condition"]] = row["margin"] / math.log(2)
    return sides
