"""The occupations of the built-in sets, each classified by a Danish statistic with its source."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

from gendalens.data.pronouns import Gender


@dataclass(frozen=True, slots=True)
class Occupation:
    """An occupation in three forms, with its class and where the class comes from.

    ``dk_pct_women`` is the percentage of women in Denmark, None if only a class was published.
    """

    indefinite: str
    definite: str
    genitive: str
    stereotype: Gender
    dk_pct_women: float | None
    source: str


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
            dk_pct_women=float(row["dk_pct_women"]) if row["dk_pct_women"] else None,
            source=row["source"],
        )
        for row in csv.DictReader(text.splitlines())
    }
