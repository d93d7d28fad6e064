"""The base class of bias tests: a card that describes the test, and the steps from data to measures."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

from gendalens.data.registry import Source
from gendalens.errors import UserError
from gendalens.models.base import Backend
from gendalens.models.control import Control
from gendalens.models.requests import Answer, Request
from gendalens.results.result import Contrast, Measures, Record, Result
from gendalens.stats.bootstrap import RESAMPLES
from gendalens.stats.estimate import Estimate
from gendalens.stats.findings import Finding
from gendalens.stats.paired import Clusters
from gendalens.tasks.bands import check_share
from gendalens.tasks.options import Option, check_options
from gendalens.tasks.views import Example, Leanings, NameTally
from gendalens.words import Message, Template, Words, phrase

Item = TypeVar("Item")
Table = dict[str, list[Any]]

NO_INTERVAL = Template(
    "no_interval", "protocol 1 reproduces GenDa Lens 0.0.3, which gives no interval"
)
NONE_IN_PROTOCOL_1 = Template("none_in_protocol_1", "protocol 1 has none")
BINARY = (
    "Gender is taken as binary because the data are: the test says nothing about how a model treats "
    "people who are neither, and it measures words, not people."
)
STANDARD_DANISH = (
    "In standard Danish hans and hendes are never the subject's own. In western Jutlandic they may be: a "
    "model that has read such Danish may take them so without a leaning to either gender."
)

HARMS = {
    "stereotyping": "a social group is represented by a stereotype (after Crawford 2017)",
    "underrepresentation": "a group is under-represented in a system (after Crawford 2017)",
}
#: All four of the taxonomy; the built-in tests name the last two.
SOURCES = {
    "label bias": "systematic errors in the annotation of data (after Shah et al. 2020)",
    "over-amplification": "a model that exaggerates a difference in its data (after Shah et al. 2020)",
    "selection bias": "training data that do not represent everyone (after Shah et al. 2020)",
    "semantic bias": "unintended stereotypical associations in the representations "
    "(after Shah et al. 2020)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The harm that a part of a test points to, and its possible source."""

    harm: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """The meaning of each finding of a test, in one sentence.

    ``male`` and ``female`` are for a main effect above and below 0, ``alike`` is for a negligible one.
    ``groups`` are the sentences for a bias in groups, by the side that it leans to.
    """

    male: str = "The model leans to the male or pro-stereotypical side."
    female: str = "The model leans to the female or anti-stereotypical side."
    alike: str = "The model treats both sides about alike."
    groups: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What a bias found by a test may mean in use, what to check next, and where mitigation is described.

    It promises nothing.
    """

    in_use: str = ""
    checks: tuple[str, ...] = ()
    mitigation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """The largest effect, in one unit, that is too small to matter, and the reason for its size."""

    unit: str
    value: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The description of a test, shown by ``gendalens tasks NAME`` and kept with every result.

    All its texts are in English; translations are in the catalogues, or in the test's ``words``.
    """

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
    #: One for each unit that the test is judged in, the unit of its gap first.
    bands: tuple[Band, ...] = ()
    readings: Readings = Readings()
    #: What symbols of the formula, metrics and coverage figures mean, by their identifiers.
    terms: tuple[tuple[str, str], ...] = ()
    advice: Advice = Advice()
    supersedes: str = ""

    @property
    def id(self) -> str:
        """Name and protocol, as in signatures and folder names."""
        return f"{self.name}@{self.protocol}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedFigures:
    """The figures by which a result is compared with those of other models.

    ``note`` says which figures they are, if not the headline.
    """

    effect: Estimate
    gap: Contrast
    contrast: Contrast
    finding: Finding
    note: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalUnit:
    """Whom a question to a chat model is about, and the clusters that it belongs to.

    ``second`` is None if there is one kind of cluster; ``stratum`` and ``finer`` are as in
    :func:`gendalens.stats.crossed.crossed_intervals`.
    """

    gender: str
    first: Hashable
    second: Hashable = None
    stratum: Hashable = None
    finer: Hashable = None


@dataclass(frozen=True)
class Task(ABC, Generic[Item]):
    """One bias test under one protocol. Its data are in items, records and results, not in the test.

    A test must define ``card``, ``items``, ``requests``, ``records`` and ``measure``; everything else
    has a default. The seed and the options that the test declares are fields of the same name.
    """

    card: ClassVar[Card]
    options: ClassVar[tuple[Option, ...]] = ()
    #: Translations of the test's texts, if it comes from another package.
    words: ClassVar[Words] = {}

    seed: int = field(default=0, kw_only=True)
    #: Bands that the user has set, by unit.
    own_bands: tuple[tuple[str, float], ...] = field(default=(), kw_only=True)

    def configure(self, options: Mapping[str, Any], *, seed: int = 0) -> Self:
        """The test with the user's options, of which it takes those that it declares."""
        own = {option.name: getattr(self, option.name) for option in self.options}
        given = {name: value for name, value in options.items() if value is not None}
        return replace(self, seed=seed, **check_options(self.options, {**own, **given}))

    def band(self, unit: str) -> float:
        """The largest effect in a unit that is too small to matter: the user's, or the card's."""
        return {**{one.unit: one.value for one in self.card.bands}, **dict(self.own_bands)}[unit]

    def choose_unit(self, unit: str | None) -> str:
        """The unit of a limit: the one named, which must have a band, or that of the gap."""
        units = [one.unit for one in self.card.bands]
        if not units:
            raise UserError(
                "{test} is not judged, so no limit can be set for it: leave it out.",
                test=self.card.id,
            )
        if unit and unit not in units:
            raise UserError(
                "{test} is not judged in {unit}; its bands are in: {units}.",
                test=self.card.id,
                unit=repr(unit),
                units=tuple(units),
            )
        return unit or units[0]

    def set_bands(self, bands: Mapping[str, float]) -> Self:
        """The test with bands of the user's own, by unit; an empty name is the unit of the gap."""
        own: dict[str, float] = {}
        for unit, value in bands.items():
            name = self.choose_unit(unit)
            if not 0 < value < float("inf"):
                raise UserError(
                    "The band of {test} is {value:g}; it must be a number above 0.",
                    test=self.card.id,
                    value=value,
                )
            check_share(name, value, self.card.id)
            own[name] = float(value)
        return replace(self, own_bands=tuple(own.items())) if own else self

    def fit(self, model: Backend) -> Self:
        """The test configured for one model, if something depends on it (such as a label map)."""
        return self

    def notes(self, data: Mapping[str, Source]) -> list[str]:
        """Notes for the user, shown before the test runs."""
        return []

    def settings(self) -> dict[str, str]:
        """The options that affect a figure, as they appear in the signature."""
        return {option.name: str(getattr(self, option.name)) for option in self.options}

    def band_settings(self) -> dict[str, str]:
        """The bands that the user has set, as they appear in the signature."""
        # Without the + of an exponent, which separates the bands.
        own = "+".join(
            f"{value!r}".removesuffix(".0").replace("e+", "e") + f"_{unit}"
            for unit, value in self.own_bands
        )
        return {"negligible": own} if own else {}

    def read_bands(self, settings: Mapping[str, str]) -> Self:
        """The test with the bands that :meth:`band_settings` has written into a signature."""
        parts = settings.get("negligible", "").split("+")
        own = (part.partition("_") for part in parts if part)
        return self.set_bands({unit: float(value) for value, _, unit in own})

    @abstractmethod
    def items(self, data: Mapping[str, Source]) -> Sequence[Item]:
        """The test's items, read from its data sets."""

    def portions(self, items: Sequence[Item]) -> Iterator[Sequence[Item]]:
        """The items in portions that fit into memory; a test of fixed size has one."""
        yield items

    @abstractmethod
    def requests(self, items: Sequence[Item]) -> list[Request]:
        """All requests to a model, duplicates included."""

    @abstractmethod
    def records(self, items: Sequence[Item], answers: Mapping[Request, Answer]) -> list[Record]:
        """A plain row per item and condition: what was asked, what was answered, how it was counted."""

    @abstractmethod
    def measure(
        self, records: Sequence[Record], *, seed: int, resamples: int = RESAMPLES
    ) -> Measures:
        """The effect, its uncertainty and its nuance, from the records alone."""

    def sample(self, items: Sequence[Item], size: int, seed: int) -> Sequence[Item]:
        """A sample of the items, for a quick look; a test with strata overrides this."""
        return sample_by_stratum(items, size, seed, lambda item: 0)

    def plant(self, items: Sequence[Item], control: Control) -> dict[Request, Answer]:
        """The answers of a control model with a known bias; optional."""
        raise TypeError(f"{self.card.id} has no answers for control models")  # see `has_controls`

    @property
    def has_controls(self) -> bool:
        """Whether control models can take the test."""
        return type(self).plant is not Task.plant

    def compared_figures(self, result: Result) -> ComparedFigures:
        """The figures to compare with other models: by default, the headline."""
        return ComparedFigures(
            effect=result.gender_effect_size,
            gap=result.gap,
            contrast=result.contrast,
            finding=result.finding,
        )

    def limited_effects(self, result: Result) -> tuple[Contrast, ...]:
        """The log2 ratios that a limit on the gender effect size applies to: by default, GES alone.

        A test that is judged on something else than what GES compares adds the ratio of that, so that
        a small GES cannot acquit a model.
        """
        ges = result.gender_effect_size
        return (Contrast(name=phrase("GES"), unit="log2 ratio", **ges.parts()),)

    def clusters(self, records: Sequence[Record]) -> Clusters | None:
        """The clusters behind :meth:`compared_figures`, for differences between models.

        None if the test has no intervals, as in protocol 1.
        """
        return None

    def refusal_unit(self, record: Record) -> RefusalUnit | None:
        """Whom a record is about, so that a chat model's refusals can be compared by gender; optional."""
        return None

    def picture(self, result: Result) -> Sequence[Message]:
        """The result in counts that a person can picture: a sentence, or one per effect; optional."""
        return ()

    def examples(self, records: Sequence[Record]) -> Iterable[Example]:
        """The records as examples for the report; optional."""
        return ()

    def leanings(self, records: Sequence[Record]) -> Leanings | None:
        """How far the model leans for each occupation, if the test is about occupations."""
        return None

    def name_tallies(self, records: Sequence[Record]) -> Sequence[NameTally]:
        """How often each first name was found, if the test is about names."""
        return ()

    def tables(self, result: Result) -> tuple[Table, Table]:
        """The rows of the classic short and long table, by label."""
        return generic_tables(result)


def generic_tables(result: Result) -> tuple[Table, Table]:
    """The classic layout for a test that GenDa Lens 0.0.3 did not have."""
    conditions, cells = result.conditions, (*result.conditions, *result.nuance)
    short: Table = {
        f"Simple Output for {result.model.name}": [result.task] + [""] * (len(conditions) - 1),
        "Gender Effect Size": [result.gender_effect_size.value] + [""] * (len(conditions) - 1),
        "Condition": [cell.condition for cell in conditions],
        conditions[0].metric: [cell.value for cell in conditions],
    }
    long: Table = {
        f"Detailed Output for {result.model.name}": [result.task] + [""] * (len(cells) - 1),
        "Gender Effect Size": [result.gender_effect_size.value] + [""] * (len(cells) - 1),
        "Condition": [cell.condition for cell in cells],
        "Group": [cell.group or "" for cell in cells],
        conditions[0].metric: [cell.value for cell in cells],
    }
    return short, long


def sample_by_stratum(
    items: Sequence[Item], size: int, seed: int, stratum: Callable[[Item], Any]
) -> list[Item]:
    """A sample of ``size`` items, proportional by stratum, in their original order.

    It is systematic: the items are sorted by stratum, shuffled within strata, and taken at equal
    steps. Strata may be nested, as tuples; the sample is then proportional at each level.
    """
    dice = random.Random(seed)  # noqa: S311 (a sample, not a secret)
    shuffled = list(range(len(items)))
    dice.shuffle(shuffled)
    if size >= len(items):
        return list(items)
    ranked = sorted(shuffled, key=lambda i: stratum(items[i]))
    step, start = len(items) / size, dice.random()
    return [items[i] for i in sorted(ranked[int((k + start) * step)] for k in range(size))]
