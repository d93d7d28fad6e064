"""danlp's coreference models, and others with their methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from gendalens.models.base import Backend
from gendalens.models.objects.given import Given
from gendalens.models.objects.kind import ObjectKind
from gendalens.models.objects.system import Clusters, System
from gendalens.models.requests import Resolve
from gendalens.models.word_spans import split_words
from gendalens.words import N_


class DanlpSystem(System):
    """A system with danlp's methods: words in, places of words out."""

    interface: ClassVar[str] = N_("danlp's interface")

    def find_clusters(self, requests: Sequence[Resolve]) -> Iterator[Clusters]:
        """``predict_clusters`` takes a document as sentences of words; mentions are word indices."""
        for request in requests:
            tokens = request.tokens or split_words(request.text)
            document = [[request.text[start:end] for start, end in tokens]]
            yield [
                [(tokens[first][0], tokens[end - 1][1]) for _, first, end in cluster]
                for cluster in self.system.predict_clusters(document)
            ]


class DanlpKind(ObjectKind):
    """Objects with ``predict_clusters``, which danlp documents."""

    label: ClassVar[str] = N_("a coreference system with danlp's predict_clusters")
    by_type: ClassVar[bool] = False

    def recognises(self, model: Any) -> bool:
        """Whether the object has danlp's methods."""
        return callable(getattr(model, "predict_clusters", None)) and hasattr(model, "predict")

    def open(self, given: Given) -> Backend:
        """The system itself."""
        return DanlpSystem(given.model, self.name(given), [Resolve.kind])


KIND = DanlpKind()
