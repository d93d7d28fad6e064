"""The occupations of the official sets: their published class, and what contradicts it."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

from gendalens.data.pronouns import Gender


@dataclass(frozen=True, slots=True)
class Occupation:
    """An occupation in the definite form, with the class that one data set gives it.

    Shares are percentages of women, None if none was published; ``source`` names the publisher and the
    English occupation. ``gendered_word``: the word itself carries gender. ``contradicted``: the Danish
    share is on the other side of 50% from the class.
    """

    danish: str
    stereotype: Gender
    english: str
    us_pct_women: float | None
    dk_pct_women: float | None
    gendered_word: bool
    contradicted: bool
    source: str


@cache
def read_occupations(set_name: str) -> dict[str, Occupation]:
    """The occupations of one data set by their Danish form, errata applied."""
    text = resources.files(__package__).joinpath("occupations.csv").read_text(encoding="utf-8")
    return {
        row["danish"]: Occupation(
            danish=row["danish"],
            stereotype="female" if row["class"] == "female" else "male",
            english=row["english"],
            us_pct_women=float(row["us_pct_women"]) if row["us_pct_women"] else None,
            dk_pct_women=float(row["dk_pct_women"]) if row["dk_pct_women"] else None,
            gendered_word=row["gendered_word"] == "yes",
            contradicted=row["contradicted"] == "yes",
            source=row["source"],
        )
        for row in csv.DictReader(text.splitlines())
        if row["data"] == set_name
    }


def is_contested(set_name: str, danish: str) -> bool:
    """Whether Danish shares contradict an occupation's class, or its word itself carries gender."""
    found = read_occupations(set_name).get(danish)
    return found is not None and (found.contradicted or found.gendered_word)
