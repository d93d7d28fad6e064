"""Functions that find named entities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from gendalens.errors import UserError
from gendalens.models.base import Backend
from gendalens.models.objects.functions import FunctionSystem, WrappedFunction
from gendalens.models.objects.given import Given
from gendalens.models.objects.kind import ObjectKind
from gendalens.models.objects.system import Entities
from gendalens.models.requests import Tag
from gendalens.words import N_


@dataclass(frozen=True, eq=False)
class Tagger(WrappedFunction):
    r"""A function that finds named entities, for :func:`gendalens.run`.

    Parameters
    ----------
    function
        Takes a list of texts and gives, for each, its entities as ``(start, end, label)``; start and end
        count characters of the text.
    labels
        All labels that it may give. The usual names of persons, places and organisations are known; the
        option ``labels`` of ``run`` maps others.
    name
        The name in results. Default: that of the function.
    version
        Anything that changes whenever the function would answer differently. Answers are cached only if
        it is given.

    Examples
    --------
    >>> import re, gendalens
    >>> def find_capitals(texts):
    ...     return [[(*m.span(), "PER") for m in re.finditer(r"[A-ZÆØÅ]\w+", text)] for text in texts]
    >>> tagger = gendalens.Tagger(find_capitals, labels=["PER"])
    >>> [result] = gendalens.run(tagger, data="builtin", sample=20, repeats=2)
    >>> result.task, result.model.name
    ('ner-dane', 'find_capitals')

    """

    _: KW_ONLY
    labels: Sequence[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.labels, str) or not all(isinstance(one, str) for one in self.labels):
            raise UserError(
                "The labels of {name} are {labels}: give a list of texts, such as"
                ' ["PER", "LOC", "ORG"].',
                name=self.name,
                labels=repr(self.labels)[:80],
            )


class TaggingFunction(FunctionSystem):
    """A wrapped function that finds entities."""

    advice: ClassVar[str] = N_(
        "it must take a list of texts and give a list of entities (start, end, label) for each"
    )

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that the user declares."""
        return tuple(self._settings)

    def find_entities(self, texts: Sequence[str]) -> Iterable[Entities]:
        """What the function gives."""
        found: Iterable[Entities] = self.wrapped.function(list(texts))
        return found


class TaggerKind(ObjectKind):
    """Functions wrapped as a ``Tagger``."""

    label: ClassVar[str] = N_("a function in gendalens.Tagger (it finds entities)")

    def recognises(self, model: Any) -> bool:
        """Whether this is such a function."""
        return isinstance(model, Tagger)

    def open(self, given: Given) -> Backend:
        """The function itself."""
        return TaggingFunction(given.model, self.name(given), Tag.kind, given.model.labels)


KIND = TaggerKind()
