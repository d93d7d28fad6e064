"""Functions that resolve coreference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from gendalens.models.base import Backend
from gendalens.models.objects.functions import FunctionSystem, WrappedFunction
from gendalens.models.objects.given import Given
from gendalens.models.objects.kind import ObjectKind
from gendalens.models.objects.system import Clusters
from gendalens.models.requests import Resolve
from gendalens.words import N_


@dataclass(frozen=True, eq=False)
class Resolver(WrappedFunction):
    """A function that resolves coreference, for :func:`gendalens.run`.

    Parameters
    ----------
    function
        Takes a list of texts and gives, for each, its clusters; a cluster is a list of mentions
        ``(start, end)``, which count characters of the text.
    name, version
        As in :class:`gendalens.Tagger`.

    Examples
    --------
    >>> import gendalens
    >>> def link_ends(texts):
    ...     return [[[(0, 3), (len(text) - 3, len(text))]] for text in texts]
    >>> results = gendalens.run(gendalens.Resolver(link_ends), data="builtin", sample=20)
    >>> [result.task for result in results]
    ['coref-abc', 'coref-dawinobias']

    """


class ResolvingFunction(FunctionSystem):
    """A wrapped function that gives clusters."""

    advice: ClassVar[str] = N_(
        "it must take a list of texts and give a list of clusters of (start, end) for each"
    )

    def find_clusters(self, requests: Sequence[Resolve]) -> Iterable[Clusters]:
        """What the function gives."""
        found: Iterable[Clusters] = self.wrapped.function([request.text for request in requests])
        return found


class ResolverKind(ObjectKind):
    """Functions wrapped as a ``Resolver``."""

    label: ClassVar[str] = N_("a function in gendalens.Resolver (it finds coreference)")

    def recognises(self, model: Any) -> bool:
        """Whether this is such a function."""
        return isinstance(model, Resolver)

    def open(self, given: Given) -> Backend:
        """The function itself."""
        return ResolvingFunction(given.model, self.name(given), Resolve.kind)


KIND = ResolverKind()
