"""GLiNER models, which find the entity types that they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from gendalens.models.base import Backend
from gendalens.models.objects.given import Given
from gendalens.models.objects.instances import is_instance
from gendalens.models.objects.kind import ObjectKind
from gendalens.models.objects.system import Entities, System
from gendalens.models.requests import Tag
from gendalens.words import N_

#: The words that a model is asked for: those that GLiNER models were trained with most.
LABELS = ("person", "location", "organization")


class GlinerModel(System):
    """A GLiNER model with its own threshold."""

    interface: ClassVar[str] = N_("a GLiNER model")
    labels: ClassVar[tuple[str, ...]] = LABELS

    def find_entities(self, texts: Sequence[str]) -> Iterator[Entities]:
        """``inference`` takes texts; older versions call it ``batch_predict_entities``."""
        ask = getattr(self.system, "inference", None) or self.system.batch_predict_entities
        written = [text for text in texts if text.strip()]  # it fails on an empty text
        found = iter(ask(written, list(LABELS)) if written else ())
        for text in texts:
            entities = next(found) if text.strip() else ()
            yield [(one["start"], one["end"], one["label"]) for one in entities]


class GlinerKind(ObjectKind):
    """Instances of GLiNER's classes."""

    label: ClassVar[str] = N_("a GLiNER model")

    def recognises(self, model: Any) -> bool:
        """Whether this is a model of the package gliner."""
        return is_instance(model, "gliner.model", "BaseGLiNER", "GLiNER")

    def open(self, given: Given) -> Backend:
        """The model, with its state kept."""
        return GlinerModel(given.model, self.name(given), [Tag.kind], module=given.model)


KIND = GlinerKind()
