"""Systems that find named entities, coreference or both, and a check of what they answer."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from gendalens.errors import UserError
from gendalens.models.objects.object_backend import ObjectBackend, SizedRequest
from gendalens.models.requests import Answer, Offsets, Resolve, ResolveAnswer, Tag, TagAnswer
from gendalens.results.model_info import COREFERENCE, TOKEN_CLASSIFICATION
from gendalens.words import Message, Template

#: A system's unchecked answers for one text: entities (start, end, label), clusters of (start, end).
Entities: TypeAlias = Iterable[Any]
Clusters: TypeAlias = Iterable[Iterable[Any]]

ENTITY_RECOGNISER = Template("entity_recogniser", "named entity recogniser ({interface:t})")
COREFERENCE_SYSTEM = Template("coreference_system", "coreference system ({interface:t})")
ENTITIES_AND_COREFERENCE = Template(
    "entities_and_coreference", "named entity recogniser and coreference system ({interface:t})"
)


class System(ObjectBackend):
    """A loaded system, asked for what it can find; a subclass says how."""

    def __init__(self, system: Any, name: str, answers: Iterable[str], module: Any = None) -> None:
        super().__init__(system, name, module)
        self._answers = frozenset(answers)

    @property
    def answers(self) -> frozenset[str]:
        """The kinds of request it can answer."""
        return self._answers

    @property
    def hub_task(self) -> str:  # type: ignore[override]
        """The hub's name for its task; entities come first."""
        return TOKEN_CLASSIFICATION if Tag.kind in self.answers else COREFERENCE

    @property
    def kind(self) -> Message:
        """What it finds, and what it is."""
        if len(self.answers) > 1:
            return ENTITIES_AND_COREFERENCE(interface=self.interface)
        template = ENTITY_RECOGNISER if Tag.kind in self.answers else COREFERENCE_SYSTEM
        return template(interface=self.interface)

    def find_entities(self, texts: Sequence[str]) -> Iterable[Entities]:
        """The entities of each text."""
        raise NotImplementedError

    def find_clusters(self, requests: Sequence[Resolve]) -> Iterable[Clusters]:
        """The clusters of each text."""
        raise NotImplementedError

    def answer(self, batch: Sequence[SizedRequest]) -> list[Answer]:
        """The entities or clusters of each text, checked."""
        requests = [item.request for item in batch]
        if isinstance(requests[0], Resolve):
            clusters = self.call(self.find_clusters, requests, list)
            return [
                ResolveAnswer(tuple(self._check_cluster(request.text, one) for one in some))
                for request, some in zip(requests, clusters, strict=True)
            ]
        texts = [request.text for request in requests]
        entities = self.call(self.find_entities, texts, list)
        return [
            TagAnswer(tuple(self._check_entity(text, one) for one in some))
            for text, some in zip(texts, entities, strict=True)
        ]

    def _check_entity(self, text: str, entity: Any) -> tuple[int, int, str]:
        """An entity, checked to lie within the text and to have a known label."""
        try:
            start, end, label = entity
            start, end = _check_span(text, start, end)
            if not isinstance(label, str):
                raise TypeError
        except (TypeError, ValueError):
            raise UserError(
                "{name} answers “{text}” with the entity {entity}: an entity is (start, end, label),"
                " with start and end in characters of the text.",
                name=self.name,
                text=text,
                entity=repr(entity)[:200],
            ) from None
        # Labels are mapped before the run: one that turns up only now would not be scored.
        if self.labels is not None and label not in self.labels:
            raise UserError(
                "{name} finds “{label}”, which is none of the labels that it declares ({labels}): add"
                " it to them.",
                name=self.name,
                label=label,
                labels=self.labels,
            )
        return start, end, label

    def _check_cluster(self, text: str, cluster: Any) -> tuple[Offsets, ...]:
        """The mentions of a cluster, checked to lie within the text."""
        try:
            # fastcoref gives None for a span that matches no characters.
            mentions = [mention for mention in cluster if mention is not None]
            return tuple(_check_span(text, *mention) for mention in mentions)
        except (TypeError, ValueError):
            raise UserError(
                "{name} answers “{text}” with the cluster {cluster}: a cluster is a list of mentions"
                " (start, end) in characters of the text.",
                name=self.name,
                text=text,
                cluster=repr(cluster)[:200],
            ) from None


def _check_span(text: str, start: Any, end: Any) -> Offsets:
    start, end = operator.index(start), operator.index(end)
    if not 0 <= start < end <= len(text):
        raise ValueError
    return start, end
