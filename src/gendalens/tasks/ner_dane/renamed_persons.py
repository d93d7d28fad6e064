"""The base of both protocols of ``ner-dane``: sentences in many versions, and label maps."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, ClassVar, Self

from gendalens.data.names import GROUPS, Group, NamePool
from gendalens.data.registry import Source
from gendalens.models.base import Backend
from gendalens.models.entity_labels import TARGETS, LabelMap, map_labels, parse_labels
from gendalens.models.requests import Answer, Request, Tag
from gendalens.results.result import Record
from gendalens.tasks.base import Task, sample_by_stratum
from gendalens.tasks.ner_dane import views
from gendalens.tasks.ner_dane.records import make_record
from gendalens.tasks.ner_dane.versions import Version, Versions, has_person
from gendalens.tasks.options import Option
from gendalens.tasks.views import Example, NameTally
from gendalens.words import say

OWN_LABELS = LabelMap(tuple((target, target) for target in TARGETS))
PORTION = 4096  # versions: enough for batches of similar length

REPEATS = Option(
    name="repeats", default=20, least=1, most=100_000, help="How many times to draw names."
)
LABELS = Option(
    name="labels",
    default="",
    help="How to map the model's labels, such as GPE=LOC,FAC=-.",
    targets=(*TARGETS, "-"),
)


@dataclass(frozen=True)
class RenamedPersons(Task[Version]):
    """A test in which every person is renamed once per group and draw of names."""

    #: Whether a token classifier labels a word by the mean over its pieces, as in 0.0.3.
    averaged: ClassVar[bool] = False

    repeats: int = 20
    labels: str = ""
    label_map: LabelMap = OWN_LABELS

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups whose names are drawn."""
        return GROUPS

    @property
    @abstractmethod
    def draws(self) -> str:
        """A word for how names are drawn."""

    @abstractmethod
    def read_pools(self, data: Mapping[str, Source]) -> dict[Group, NamePool]:
        """The pool of names of each group."""

    def configure(self, options: Mapping[str, Any], *, seed: int = 0) -> Self:
        """The test with the user's options; ``labels`` may also be a mapping."""
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
        """The options that affect a figure: draws, and labels if the user has mapped some."""
        settings = {"repeats": str(self.repeats)}
        if self.labels:
            settings["labels"] = self.labels.replace("|", "_")
        return settings

    def notes(self, data: Mapping[str, Source]) -> list[str]:
        """The label map, and the number of names of each group."""
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
        """One request per sentence, group and draw, although sentences without a person never change."""
        times = self.repeats * len(self.groups)
        return [
            request
            for item in items
            for request in [self._make_request(item)] * (times if item.group is None else 1)
        ]

    def portions(self, items: Sequence[Version]) -> Iterator[Sequence[Version]]:
        """Portions of a fixed number of versions, so that memory does not grow with the draws."""
        versions = iter(items)
        while portion := list(islice(versions, PORTION)):
            yield portion

    def records(self, items: Sequence[Version], answers: Mapping[Request, Answer]) -> list[Record]:
        """A row per version: the names, the entities found, and how they were counted."""
        return [
            make_record(item, answers[self._make_request(item)], self.label_map) for item in items
        ]

    def _make_request(self, item: Version) -> Tag:
        return Tag(item.renamed.text, averaged=self.averaged)

    def sample(self, items: Sequence[Version], size: int, seed: int) -> Sequence[Version]:
        """All versions of ``size`` sentences, stratified by whether they have persons."""
        assert isinstance(items, Versions)
        kinds = {sentence.id: has_person(sentence) for sentence in items.sentences}
        return items.keep(set(sample_by_stratum(list(kinds), size, seed, lambda name: kinds[name])))

    def examples(self, records: Sequence[Record]) -> Iterable[Example]:
        """Each renamed sentence, with its names marked as found or missed."""
        return views.show_examples(records)

    def name_tallies(self, records: Sequence[Record]) -> Sequence[NameTally]:
        """The tally of every first name in every group."""
        return views.tally_names(records)
