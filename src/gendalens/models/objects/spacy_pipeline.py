"""spaCy pipelines with entities, coreference or both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from importlib import metadata
from typing import Any, ClassVar

from gendalens.errors import UserError
from gendalens.models.base import Backend
from gendalens.models.objects.given import Given
from gendalens.models.objects.instances import is_instance
from gendalens.models.objects.kind import ObjectKind
from gendalens.models.objects.object_backend import SizedRequest
from gendalens.models.objects.system import Clusters, Entities, System
from gendalens.models.requests import Offsets, Resolve, Tag
from gendalens.models.spacy.components import find_idle, find_setters, read_entities
from gendalens.models.spacy.pipeline import (
    ANSWERS_VERSION,
    FOR_DANISH,
    FOREIGN_PIPELINE,
    PIPELINE,
    silence_version_warnings,
)
from gendalens.results.model_info import ModelInfo
from gendalens.words import N_, Message, phrase


class LoadedPipeline(System):
    """A spaCy pipeline in memory."""

    interface: ClassVar[str] = N_("a spaCy pipeline")

    def __init__(self, pipeline: Any, name: str, setters: Sequence[str], resolves: bool) -> None:
        super().__init__(pipeline, name, [Tag.kind] * bool(setters) + [Resolve.kind] * resolves)
        self._setters = setters

    @property
    def kind(self) -> Message:
        """A pipeline that finds entities is described as one in a folder is."""
        if Tag.kind not in self.answers:
            return super().kind
        return PIPELINE() if self._is_danish else FOREIGN_PIPELINE(language=self.system.lang)

    @cached_property
    def info(self) -> ModelInfo:
        """Name, kind and revision."""
        return ModelInfo(
            name=self.name,
            kind=self.kind,
            revision=self.revision,
            dtype="float32",
            tokenizer=f"spaCy ({self.system.lang})",
            software=(f"spacy {metadata.version('spacy')}",),
            hub_task=self.hub_task,
            for_danish=self._is_danish,
        )

    @property
    def revision(self) -> str:
        """The pipeline's own name and version, and a digest of its content."""
        meta = self.system.meta
        name = f"{meta.get('lang', '')}_{meta.get('name', '')} {meta.get('version', '')}"
        return f"{name} sha256:{self.digest[:12]}" if self.digest else f"{name} object"

    @property
    def _is_danish(self) -> bool:
        return self.system.lang in FOR_DANISH

    @cached_property
    def digest(self) -> str | None:
        """A digest of all that decides the answers; None if a part cannot be written down."""
        parts = [self.system.tokenizer, *(part for _, part in self.system.pipeline)]
        # Left out silently by spaCy: components without weights that are mere functions.
        if not all(hasattr(part, "to_bytes") for part in parts):
            return None
        try:
            # The strings grow with every text that the pipeline reads.
            content = self.system.to_bytes(exclude=["strings"])
        except Exception:  # a component decides how it fails
            return None
        total = hashlib.sha256(json.dumps([ANSWERS_VERSION, metadata.version("spacy")]).encode())
        total.update(content)
        return total.hexdigest()

    @cached_property
    def labels(self) -> tuple[str, ...] | None:
        """The entity types that the pipeline can find, under its own labels."""
        if Tag.kind not in self.answers:
            return None
        known = self.system.pipe_labels
        names = [str(label) for name in self._setters for label in known.get(name, ())]
        return tuple(dict.fromkeys(names))

    def encode(self, requests: Sequence[Any]) -> list[SizedRequest]:
        """The requests, checked against the pipeline's limit."""
        for request in requests:
            if len(request.text) > self.system.max_length:
                raise UserError(
                    "A text of {length:,} characters is too long for the spaCy pipeline {name}:"
                    " shorten “{text}…”.",
                    length=len(request.text),
                    name=self.name,
                    text=request.text[:59],
                )
        return super().encode(requests)

    def find_entities(self, texts: Sequence[str]) -> Iterator[Entities]:
        """``doc.ents``; components that do not affect it do not run."""
        idle = find_idle(list_factories(self.system), self._setters)
        with silence_version_warnings():
            for doc in self.system.pipe(texts, batch_size=max(1, len(texts)), disable=idle):
                yield read_entities(doc)

    def find_clusters(self, requests: Sequence[Resolve]) -> Iterator[Clusters]:
        """All clusters of each document, wherever its component stores them."""
        with silence_version_warnings():
            for doc in self.system.pipe([request.text for request in requests]):
                yield _clusters_of_doc(doc)


def _clusters_of_doc(doc: Any) -> Iterator[Iterable[Any]]:
    """spacy-experimental stores clusters in ``doc.spans``, coreferee in its own chains."""
    for key, spans in doc.spans.items():
        if key.startswith("coref_clusters"):
            yield [(span.start_char, span.end_char) for span in spans]
    # Extensions are global in spaCy: another pipeline may have registered them, and they are empty here.
    if doc.has_extension("coref_chains"):
        for chain in doc._.coref_chains or ():
            yield [_span_of_words(doc, mention.token_indexes) for mention in chain]
    if doc.has_extension("coref_clusters"):  # fastcoref as a component
        yield from doc._.coref_clusters or ()


def _span_of_words(doc: Any, places: Sequence[int]) -> Offsets:
    last = doc[max(places)]
    return doc[min(places)].idx, last.idx + len(last)


class SpacyKind(ObjectKind):
    """Instances of spaCy's ``Language``."""

    label: ClassVar[str] = N_("a spaCy pipeline with an entity or coreference component")

    def recognises(self, model: Any) -> bool:
        """Whether this is a spaCy pipeline."""
        return is_instance(model, "spacy.language", "Language")

    def open(self, given: Given) -> Backend:
        """The pipeline; refuses one without a component that can be tested."""
        pipeline = given.model
        factories = list_factories(pipeline)
        setters = find_setters(factories, pipeline.config["components"])
        resolves = any("coref" in part for pair in factories.items() for part in pair)
        if not setters and not resolves:
            raise UserError(
                "The spaCy pipeline {name} finds neither entities nor coreference (its components:"
                " {parts}): add a component such as ner.",
                name=self.name(given),
                parts=tuple(factories) or phrase("none"),
            )
        return LoadedPipeline(pipeline, self.name(given), setters, resolves)

    def name(self, given: Given) -> str:
        """The user's name, or the pipeline's: language, name and version."""
        meta = given.model.meta
        return given.name or f"{meta['lang']}_{meta['name']}-{meta['version']}"


def list_factories(pipeline: Any) -> dict[str, str]:
    """The enabled components in their order, each with the name of its factory."""
    factories = pipeline.pipe_factories
    return {name: str(factories.get(name, name)) for name in pipeline.pipe_names}


KIND = SpacyKind()
