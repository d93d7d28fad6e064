"""Stanza pipelines with entities, coreference or both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from gendalens.errors import UserError
from gendalens.models.base import Backend
from gendalens.models.objects.given import Given
from gendalens.models.objects.kind import ObjectKind
from gendalens.models.objects.system import Clusters, Entities, System
from gendalens.models.requests import Offsets, Resolve, Tag
from gendalens.words import N_, Message, phrase

# Stanza's names of the processors.
_NER, _COREF = "ner", "coref"
_ANSWERS = {_NER: Tag.kind, _COREF: Resolve.kind}


class StanzaPipeline(System):
    """A Stanza pipeline, asked text by text."""

    interface: ClassVar[str] = N_("a Stanza pipeline")

    @cached_property
    def labels(self) -> tuple[str, ...] | None:
        """The entity types that its models know."""
        if Tag.kind not in self.answers:
            return None
        ner = self.system.processors[_NER]
        models = range(len(ner.trainers))  # a pipeline may combine several
        return tuple(dict.fromkeys(tag for model in models for tag in ner.get_known_tags(model)))

    def explain_refusal(self, needs: frozenset[str]) -> Message | None:
        """The processor that is missing; nothing for a test of language models."""
        missing = [name for name, kind in _ANSWERS.items() if kind in needs - self.answers]
        if not missing:
            return None
        return phrase(
            "this pipeline has no processor {missing} (its processors: {parts}); build it with one",
            missing=missing[0],
            parts=tuple(self.system.processors),
        )

    def find_entities(self, texts: Sequence[str]) -> Iterator[Entities]:
        """``doc.ents`` holds spans of characters."""
        for text in texts:
            yield [(one.start_char, one.end_char, one.type) for one in self.system(text).ents]

    def find_clusters(self, requests: Sequence[Resolve]) -> Iterator[Clusters]:
        """``doc.coref`` holds chains; mentions are word indices within a sentence."""
        for request in requests:
            doc = self.system(request.text)
            yield [
                [
                    _span_of_words(doc.sentences[m.sentence], m.start_word, m.end_word)
                    for m in chain.mentions
                    if isinstance(
                        m.start_word, int
                    )  # a dropped pronoun has no position in the text
                ]
                for chain in doc.coref
            ]


def _span_of_words(sentence: Any, first: int, end: int) -> Offsets:
    # Only tokens are sure to have offsets: a word may be one of several in a token.
    begin, last = sentence.words[first].parent, sentence.words[end - 1].parent
    return begin.start_char, last.end_char


class StanzaKind(ObjectKind):
    """Callable objects with ``processors`` by name, as Stanza's pipelines have them."""

    label: ClassVar[str] = N_("a Stanza pipeline with the ner or coref processor")
    by_type: ClassVar[bool] = False

    def recognises(self, model: Any) -> bool:
        """Whether the object has processors by name and can be called."""
        return isinstance(getattr(model, "processors", None), Mapping) and callable(model)

    def open(self, given: Given) -> Backend:
        """The pipeline; refuses one without a processor that can be tested."""
        processors = given.model.processors
        answers = [kind for name, kind in _ANSWERS.items() if name in processors]
        if not answers:
            raise UserError(
                "The Stanza pipeline {name} has neither the processor ner nor coref (its processors:"
                " {parts}): build it with one of them.",
                name=self.name(given),
                parts=tuple(processors) or phrase("none"),
            )
        return StanzaPipeline(given.model, self.name(given), answers)


KIND = StanzaKind()
