"""Flair's sequence taggers that were trained to find entities."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar

from gendalens.errors import UserError
from gendalens.models.base import Backend
from gendalens.models.objects.given import Given
from gendalens.models.objects.instances import is_instance
from gendalens.models.objects.kind import ObjectKind
from gendalens.models.objects.system import Entities, System
from gendalens.models.requests import Tag
from gendalens.words import N_


class FlairTagger(System):
    """A Flair tagger in memory."""

    interface: ClassVar[str] = N_("a Flair tagger")

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The types behind its marks, such as PER behind B-PER."""
        marks = self.system.label_dictionary.get_items()
        return tuple(dict.fromkeys(mark[2:] for mark in marks if mark[1:2] == "-"))

    def find_entities(self, texts: Sequence[str]) -> Iterator[Entities]:
        """``predict`` writes spans into sentences."""
        sentence_class: Any = sys.modules["flair.data"].Sentence
        sentences = [sentence_class(text) for text in texts]
        for sentence in sentences:
            # Each on its own: some taggers read what stands before and after in the same call.
            sentence_class.set_context_for_sentences([sentence])
        self.system.predict(sentences)
        kind = self.system.label_type
        for sentence in sentences:
            yield [
                (span.start_position, span.end_position, span.get_label(kind).value)
                for span in sentence.get_spans(kind)
            ]


class FlairKind(ObjectKind):
    """Instances of Flair's ``SequenceTagger``."""

    label: ClassVar[str] = N_("a Flair SequenceTagger")

    def recognises(self, model: Any) -> bool:
        """Whether this is a sequence tagger of Flair."""
        return is_instance(model, "flair.models.sequence_tagger_model", "SequenceTagger")

    def open(self, given: Given) -> Backend:
        """The tagger, with its state kept; refuses one that labels single words (parts of speech)."""
        if not given.model.predict_spans:
            raise UserError(
                "The Flair tagger {name} finds no entities (it predicts “{kind}” for single words): give"
                " one that was trained to find entities.",
                name=self.name(given),
                kind=str(given.model.label_type),
            )
        return FlairTagger(given.model, self.name(given), [Tag.kind], module=given.model)


KIND = FlairKind()
