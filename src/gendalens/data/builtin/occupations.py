"""The occupations of the built-in sets, each classified by a Danish statistic with its source."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal, get_args

from gendalens.data.pronouns import Gender

#: High: official statistics. Medium: unions, press, admissions to an education, and research that
#: published a figure for this very word. Low: old or wide groups.
Confidence = Literal["high", "medium", "low"]
CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)


@dataclass(frozen=True, slots=True)
class Occupation:
    """An occupation in three forms, with its class and the figure that the class rests on.

    ``dk_pct_women`` is the percentage of women in Denmark in ``year`` (*not printed* if the source
    gives none) among those whom ``counts`` describes; ``others`` lists what else was published.
    ``unproven``: no figure has a high or medium ``confidence``, so that the class rests on an old
    figure and on another source that agrees.
    """

    indefinite: str
    definite: str
    genitive: str
    stereotype: Gender
    unproven: bool
    dk_pct_women: float
    year: str
    counts: str
    source: str
    confidence: Confidence
    others: str


@cache
def read_occupations() -> dict[str, Occupation]:
    """The occupations by their definite form."""
    text = resources.files(__package__).joinpath("occupations.csv").read_text(encoding="utf-8")
    return {
        row["definite"]: Occupation(
            indefinite=row["indefinite"],
            definite=row["definite"],
            genitive=row["genitive"],
            stereotype="female" if row["class"] == "female" else "male",
            unproven=row["unproven"] == "yes",
            dk_pct_women=float(row["dk_pct_women"]),
            year=row["year"],
            counts=row["counts"],
            source=row["source"],
            confidence=next(c for c in CONFIDENCES if c == row["confidence"]),
            others=row["others"],
        )
        for row in csv.DictReader(text.splitlines())
    }
