"""What a report shows of single records: examples, leanings by occupation, names found and missed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

#: What a marked part of a sentence is.
Role = Literal["pronoun", "meant", "other", "found", "missed"]
Mark = tuple[int, int, Role]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One sentence as a person wants to see it: what was asked, what came back, how it counted.

    ``outcome`` and ``condition`` are words of the test (a report may translate them); ``said`` and
    ``about`` are the model's and the data's own words. ``lean`` is how strongly the model leans here,
    positive to the male or pro-stereotypical side, None where the records hold no such thing.
    """

    text: str
    marks: tuple[Mark, ...] = ()
    condition: str
    outcome: str
    said: str = ""
    about: str = ""
    lean: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Leanings:
    """How far a model leans to the male side for each occupation of a data set.

    ``what`` says what the figure is, in ``unit``; 0 is no leaning. ``builtin``: it is the built-in set.
    """

    data: str
    what: str
    unit: str
    by_occupation: Mapping[str, float]
    builtin: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NameTally:
    """How often one first name of one group was found; ``bearers`` is None where not counted."""

    name: str
    origin: str
    gender: str
    bearers: int | None
    asked: int
    found: int


def mean_by_key(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The mean of the values of each key, in order of the keys."""
    sums: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    for key, value in pairs:
        sums[key] += value
        counts[key] += 1
    return {key: sums[key] / counts[key] for key in sorted(sums)}


def mark_word(text: str, word: str, role: Role) -> tuple[Mark, ...]:
    """The first place of a whole word in a text, as a mark; nothing where it is not there."""
    at = f" {text} ".lower().find(f" {word.lower()} ")
    return ((at, at + len(word), role),) if word and at >= 0 else ()
