"""Views of single records for reports: examples, leanings by occupation, and tallies of names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

#: The role of a marked part of a sentence.
Role = Literal["pronoun", "meant", "other", "found", "missed"]
Mark = tuple[int, int, Role]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One sentence as a report shows it: what was asked, what was answered, how it was counted.

    ``outcome`` and ``condition`` are words of the test, which a report may translate; ``said`` and
    ``about`` are words of the model and of the data. ``lean`` is how far the model leans here, positive
    to the male or pro-stereotypical side, or None if the records do not tell. ``shares`` are the
    probabilities of two words against each other, which add up to 1. ``right`` is whether the answer is
    right, and ``expected`` are the right answers; they are left out where no answer is right or wrong.
    """

    text: str
    marks: tuple[Mark, ...] = ()
    condition: str
    outcome: str
    said: str = ""
    about: str = ""
    lean: float | None = None
    shares: tuple[tuple[str, float], ...] = ()
    right: bool | None = None
    expected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Leanings:
    """How far a model leans to the male side for each occupation of a data set.

    ``what`` describes the figure, which is in ``unit``; 0 is no leaning. ``counts`` are the sentences
    behind each occupation's leaning. ``builtin`` marks built-in data.
    """

    data: str
    what: str
    unit: str
    by_occupation: Mapping[str, float]
    counts: Mapping[str, int] = field(default_factory=dict)
    builtin: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NameTally:
    """How often a first name of a group was found; ``bearers`` is None if their number is unknown."""

    name: str
    origin: str
    gender: str
    bearers: int | None
    asked: int
    found: int


def share_by_bits(male: str, female: str, bits: float) -> tuple[tuple[str, float], ...]:
    """The probabilities of two words against each other, from the log-odds of the first in bits.

    >>> share_by_bits("han", "hun", 2.0)
    (('han', 0.8), ('hun', 0.2))
    """
    odds = 2.0 ** min(max(bits, -1000.0), 1000.0)
    return (male, odds / (1 + odds)), (female, 1 / (1 + odds))


def mean_by_key(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The mean of the values of each key, sorted by key."""
    sums: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    for key, value in pairs:
        sums[key] += value
        counts[key] += 1
    return {key: sums[key] / counts[key] for key in sorted(sums)}


def mark_word(text: str, word: str, role: Role) -> tuple[Mark, ...]:
    """A mark for the first occurrence of a whole word in a text, or none if it does not occur."""
    at = f" {text} ".lower().find(f" {word.lower()} ")
    return ((at, at + len(word), role),) if word and at >= 0 else ()
