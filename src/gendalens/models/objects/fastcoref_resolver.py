"""fastcoref's models, and others with their ``predict``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from gendalens.models.base import Backend
from gendalens.models.objects.given import Given
from gendalens.models.objects.kind import ObjectKind
from gendalens.models.objects.system import Clusters, System
from gendalens.models.requests import Resolve
from gendalens.words import N_


class FastcorefSystem(System):
    """A system with fastcoref's ``predict``."""

    interface: ClassVar[str] = N_("fastcoref's interface")

    def find_clusters(self, requests: Sequence[Resolve]) -> Iterator[Clusters]:
        """``predict`` takes texts; its results give clusters of characters."""
        for found in self.system.predict(texts=[request.text for request in requests]):
            yield found.get_clusters(as_strings=False)


class FastcorefKind(ObjectKind):
    """Objects whose ``predict`` takes ``texts``, as fastcoref documents it."""

    label: ClassVar[str] = N_("a coreference system with fastcoref's predict(texts=…)")
    by_type: ClassVar[bool] = False

    def recognises(self, model: Any) -> bool:
        """Whether the object has fastcoref's method; many libraries have a ``predict`` of their own."""
        try:
            return "texts" in inspect.signature(model.predict).parameters
        except (AttributeError, TypeError, ValueError):
            return False

    def open(self, given: Given) -> Backend:
        """The system itself."""
        return FastcorefSystem(given.model, self.name(given), [Resolve.kind])


KIND = FastcorefKind()
