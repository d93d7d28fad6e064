"""What both protocols of ``ner-dane`` share: sentences in many versions, and the model's labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, ClassVar, Self

from gendalens.data.names import GROUPS, Group, NamePool
from gendalens.data.registry import Source
from gendalens.models.base import Answer, Backend, Request, Tag
from gendalens.models.entity_labels import TARGETS, LabelMap, map_labels, parse_labels
from gendalens.results.result import Record
from gendalens.tasks.base import Task, stratified
from gendalens.tasks.ner_dane import views
from gendalens.tasks.ner_dane.records import make_record
from gendalens.tasks.ner_dane.versions import Version, Versions, has_person
from gendalens.tasks.options import Option
from gendalens.tasks.views import Example, NameTally
from gendalens.words import say

OWN_LABELS = LabelMap(tuple((target, target) for target in TARGETS))
PORTION = 4096  # versions: enough for batches of like length

REPEATS = Option(name="repeats", default=20, least=1, most=100_000, help="Draws of names.")
LABELS = Option(
    name="labels", default="", help="What a model's labels count as, such as GPE=LOC,FAC=-."
)


@dataclass(frozen=True)
class RenamedPersons(Task[Version]):
    """A test in which every person is renamed, once for each group and draw of names."""

    #: Whether a token classifier labels words by the mean over their pieces, as 0.0.3 does.
    averaged: ClassVar[bool] = False

    repeats: int = 20
    labels: str = ""
    label_map: LabelMap = OWN_LABELS

    @property
    def groups(self) -> tuple[Group, ...]:
        """Whose names are drawn."""
        return GROUPS

    @property
    @abstractmethod
    def draws(self) -> str:
        """How names are drawn, in a word."""

    @abstractmethod
    def read_pools(self, data: Mapping[str, Source]) -> dict[Group, NamePool]:
        """The names that each group draws from."""

    def configure(self, options: Mapping[str, Any], *, seed: int = 0) -> Self:
        """The test with the user's options; labels may be a mapping as well."""
        labels = options.get("labels")
        if isinstance(labels, Mapping):
            labels = ",".join(f"{own}={target}" for own, target in labels.items())
        if labels:
            labels = str(labels)
            parse_labels(labels)  # so that a mistake is reported before anything is loaded
        return super().configure({**options, "labels": labels}, seed=seed)

    def fit(self, model: Backend) -> Self:
        """The test with the map from this model's labels to DaNE's."""
        if model.labels is None:
            return self
        overrides = parse_labels(self.labels) if self.labels else None
        return replace(self, label_map=map_labels(model.info.name, model.labels, overrides))

    def settings(self) -> dict[str, str]:
        """Draws, and labels where the user has mapped some."""
        settings = {"repeats": str(self.repeats)}
        if self.labels:
            settings["labels"] = self.labels.replace("|", "_")
        return settings

    def notes(self, data: Mapping[str, Source]) -> list[str]:
        """The label map, and how many names each group has to draw from."""
        sizes = [
            say(
                "{group:t} {first:,} first, {last:,} last",
                group=str(group),
                first=len(pool.first),
                last=len(pool.last),
            )
            for group, pool in self.read_pools(data).items()
        ]
        return [
            say("labels: {labels}", labels=self.label_map.message),
            say("names ({draws}): {sizes}", draws=self.draws, sizes="; ".join(sizes)),
        ]

    def requests(self, items: Sequence[Version]) -> list[Request]:
        """One per sentence, group and draw; a sentence without a person is the same in all."""
        times = self.repeats * len(self.groups)
        return [
            request
            for item in items
            for request in [self._make_request(item)] * (times if item.group is None else 1)
        ]

    def portions(self, items: Sequence[Version]) -> Iterator[Sequence[Version]]:
        """A fixed number of versions at a time: memory does not grow with the draws."""
        versions = iter(items)
        while portion := list(islice(versions, PORTION)):
            yield portion

    def records(self, items: Sequence[Version], answers: Mapping[Request, Answer]) -> list[Record]:
        """A row per version: the names, what was found, how it counted."""
        return [
            make_record(item, answers[self._make_request(item)], self.label_map) for item in items
        ]

    def _make_request(self, item: Version) -> Tag:
        return Tag(item.renamed.text, averaged=self.averaged)

    def sample(self, items: Sequence[Version], size: int, seed: int) -> Sequence[Version]:
        """All versions of ``size`` sentences, with and without persons by their share."""
        assert isinstance(items, Versions)
        kinds = {sentence.id: has_person(sentence) for sentence in items.sentences}
        return items.keep(set(stratified(list(kinds), size, seed, lambda name: kinds[name])))

    def examples(self, records: Sequence[Record]) -> Iterable[Example]:
        """Each renamed sentence, its names found or missed."""
        return views.show_examples(records)

    def name_tallies(self, records: Sequence[Record]) -> Sequence[NameTally]:
        """Every first name of every group."""
        return views.tally_names(records)
