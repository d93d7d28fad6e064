"""What a bias test is: a card that describes it, and the steps from data to measures."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar

from gendalens.data.registry import Source
from gendalens.errors import UserError
from gendalens.models.base import Answer, Request
from gendalens.models.control import Control
from gendalens.results.result import Contrast, Measures, Result
from gendalens.stats.estimate import Estimate
from gendalens.stats.paired import Clusters
from gendalens.tasks.shared.views import Example, Leanings, NameTally

Item = TypeVar("Item")
Record = dict[str, Any]
Table = dict[str, list[Any]]

NO_INTERVAL = "protocol 1 reproduces GenDa Lens 0.0.3, which gives no interval"
BINARY = (
    "Gender is taken as binary because the data are: the test says nothing about how a model treats "
    "people who are neither, and it measures words, not people."
)

HARMS = {
    "stereotyping": "a social group is represented by a stereotype (after Crawford 2017)",
    "underrepresentation": "a group is under-represented in a system (after Crawford 2017)",
}
SOURCES = {
    "semantic bias": "unintended stereotypical associations in the representations "
    "(after Shah et al. 2020)",
    "selection bias": "training data that do not represent everyone (after Shah et al. 2020)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The harm that one part of a test points at, and where it may come from."""

    harm: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What a test is, in words: shown by ``gendalens tasks NAME`` and kept with every result."""

    name: str
    protocol: int
    title: str
    idea: str
    data: tuple[str, ...]
    needs: frozenset[str]
    formula: str
    reading: str
    main: Effect
    nuance: Effect
    definitions: tuple[tuple[str, str], ...]
    citation: str
    supersedes: str = ""

    @property
    def id(self) -> str:
        """Name and protocol, as signatures and folders have it."""
        return f"{self.name}@{self.protocol}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The figures of a result that are set beside another model's, and how they are read."""

    effect: Estimate
    gap: Contrast
    verdict: str
    reason: str | None
    reading: str = ""


class Task(ABC, Generic[Item]):
    """One bias test under one protocol. State lives in the items, records and results it makes."""

    card: ClassVar[Card]

    def configured(self, options: Mapping[str, Any]) -> Self:
        """The test with those of the user's options that concern it; most have none."""
        return self

    def fitted(self, model: object) -> Self:
        """The test set up for one model, where something depends on it (a map of labels)."""
        return self

    def notes(self, data: Mapping[str, Source]) -> list[str]:
        """What a user should see before the run."""
        return []

    def settings(self) -> dict[str, str]:
        """The options that change a number, as the signature names them."""
        return {}

    @abstractmethod
    def items(self, data: Mapping[str, Source]) -> Sequence[Item]:
        """The test's items, read from its data sets."""

    def portions(self, items: Sequence[Item]) -> Iterator[Sequence[Item]]:
        """The items in the parts in which they are asked; a test of fixed size has one."""
        yield items

    @abstractmethod
    def requests(self, items: Sequence[Item]) -> list[Request]:
        """Everything to ask a model, duplicates and all."""

    @abstractmethod
    def records(self, items: Sequence[Item], answers: Mapping[Request, Answer]) -> list[Record]:
        """One plain row per item and condition: what was asked, what came back, how it counted."""

    @abstractmethod
    def measure(self, records: Sequence[Record], *, seed: int, resamples: int = 2000) -> Measures:
        """The effect, its uncertainty and its nuance, from the records alone."""

    @abstractmethod
    def sample(self, items: Sequence[Item], size: int, seed: int) -> Sequence[Item]:
        """A stratified part of the items, for a quick look."""

    def plant(self, items: Sequence[Item], control: Control) -> dict[Request, Answer]:
        """What a control model with a known bias answers; protocol 1 has none."""
        raise UserError(
            f"{control.name} is a control model, and {self.card.id} has none; use protocol 2."
        )

    def compared(self, result: Result) -> Compared:
        """What of a result is set beside other models': the headline, if every model has it."""
        return Compared(
            effect=result.gender_effect_size,
            gap=result.gap,
            verdict=result.verdict,
            reason=result.verdict_reason,
        )

    def paired(self, records: Sequence[Record]) -> Clusters:
        """The clusters behind :meth:`compared`, for differences between models; protocol 1 has none."""
        raise UserError(
            f"{self.card.id} has no intervals, so differences have none; use protocol 2."
        )

    def examples(self, records: Sequence[Record]) -> Iterable[Example]:
        """The records as a person wants to see them; a test may have none."""
        return ()

    def leanings(self, records: Sequence[Record]) -> Leanings | None:
        """How far the model leans for each occupation, where the test is about occupations."""
        return None

    def names_found(self, records: Sequence[Record]) -> Sequence[NameTally]:
        """How often each first name was found, where the test is about names."""
        return ()

    @abstractmethod
    def tables(self, result: Result) -> tuple[Table, Table]:
        """The rows of the classic short and long table, label by label."""


def stratified(
    items: Sequence[Item], size: int, seed: int, stratum: Callable[[Item], Any]
) -> list[Item]:
    """``size`` of the items, each stratum by its share, in their old order.

    A systematic sample: the items are put in order of their strata, shuffled within, and taken at
    equal steps. Strata may be nested, as tuples; each level then keeps its shares.
    """
    dice = random.Random(seed)  # noqa: S311 (a sample, not a secret)
    shuffled = list(range(len(items)))
    dice.shuffle(shuffled)
    if size >= len(items):
        return list(items)
    ranked = sorted(shuffled, key=lambda i: stratum(items[i]))
    step, start = len(items) / size, dice.random()
    return [items[i] for i in sorted(ranked[int((k + start) * step)] for k in range(size))]
