"""Occupations across models: how far each model leans to the male side for each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gendalens.data.builtin import occupations as builtin
from gendalens.data.occupations import read_occupations
from gendalens.report.site.addresses import name_file
from gendalens.tasks.views import Leanings

#: Pages for more occupations would be of no use to anybody.
MOST_OCCUPATIONS = 1000


@dataclass(frozen=True, slots=True)
class Leaning:
    """How far one model leans for an occupation, and the number of sentences behind it."""

    model: int
    value: float
    sentences: int | None

    def to_dict(self) -> dict[str, Any]:
        """The leaning as plain data; ``model`` is its place on the board."""
        return {"model": self.model, "value": self.value, "sentences": self.sentences}


@dataclass(frozen=True, slots=True)
class Tested:
    """An occupation in the results of one column of the board."""

    column: int
    what: str
    unit: str
    leanings: tuple[Leaning, ...]

    @property
    def lowest(self) -> float:
        """The leaning furthest to the female side."""
        return min(one.value for one in self.leanings)

    @property
    def highest(self) -> float:
        """The leaning furthest to the male side."""
        return max(one.value for one in self.leanings)

    def to_dict(self) -> dict[str, Any]:
        """The leanings as plain data."""
        return {
            "column": self.column,
            "what": self.what,
            "unit": self.unit,
            "lowest": self.lowest,
            "highest": self.highest,
            "models": [one.to_dict() for one in self.leanings],
        }


@dataclass(frozen=True, slots=True)
class Occupation:
    """An occupation with what is known about it, and its leanings by column of the board."""

    name: str
    english: str | None
    women: float | None
    tested: tuple[Tested, ...]

    @property
    def file(self) -> str:
        """The name of its page, without the extension."""
        return name_file(self.name)

    def to_dict(self) -> dict[str, Any]:
        """The occupation as plain data; ``women`` is the percentage of women in Denmark."""
        return {
            "name": self.name,
            "english": self.english,
            "women": self.women,
            "tests": [one.to_dict() for one in self.tested],
        }


@dataclass(slots=True)
class OccupationTable:
    """Collects leanings, a result at a time."""

    _found: dict[str, dict[int, list[Leaning]]] = field(default_factory=dict)
    _about: dict[int, Leanings] = field(default_factory=dict)
    _known: dict[str, tuple[str | None, float | None]] = field(default_factory=dict)

    def add(self, column: int, model: int, leanings: Leanings) -> None:
        """Take in what one result says about occupations."""
        self._about.setdefault(column, leanings)
        facts = _read_facts(leanings)
        for name, value in leanings.by_occupation.items():
            one = Leaning(model, value, leanings.counts.get(name))
            self._found.setdefault(name, {}).setdefault(column, []).append(one)
            english, women = facts.get(name, (None, None))
            before = self._known.get(name, (None, None))
            self._known[name] = (before[0] or english, women if before[1] is None else before[1])

    def list_occupations(self) -> list[Occupation]:
        """The occupations that most results are about, in alphabetical order."""

        def weigh(name: str) -> tuple[int, str]:
            return -sum(map(len, self._found[name].values())), name

        chosen = sorted(self._found, key=weigh)[:MOST_OCCUPATIONS]
        return [
            Occupation(name, *self._known[name], tuple(self._list_tests(name)))
            for name in sorted(chosen, key=lambda name: (_alphabetize(name), name))
        ]

    def _list_tests(self, name: str) -> Iterable[Tested]:
        for column, found in sorted(self._found[name].items()):
            about = self._about[column]
            ordered = sorted(found, key=lambda one: (-one.value, one.model))
            yield Tested(column, about.what, about.unit, tuple(ordered))


def _read_facts(leanings: Leanings) -> Mapping[str, tuple[str | None, float | None]]:
    """The English name and the share of women of each known occupation of a data set."""
    official = read_occupations(leanings.data)
    facts: dict[str, tuple[str | None, float | None]] = {
        name: (one.english, one.dk_pct_women) for name, one in official.items()
    }
    if leanings.builtin:
        for name, own in builtin.read_occupations().items():
            english = official[name].english if name in official else None
            facts[name] = (english, own.dk_pct_women)
    return facts


def _alphabetize(name: str) -> str:
    """A key for the Danish alphabet, which ends in æ, ø and å."""
    return name.lower().translate(_ORDER)


_ORDER = str.maketrans({"æ": "{", "ø": "|", "å": "}"})
