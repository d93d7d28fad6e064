"""What a kind of object offers: how it is recognised, and how it becomes a backend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from gendalens.models.base import Backend
from gendalens.models.objects.given import Given


class ObjectKind(ABC):
    """A kind of object that can be tested; one file each, which ends in ``KIND = MyKind()``."""

    #: What it is, for the list of what can be tested: "a spaCy pipeline".
    label: ClassVar[str]
    #: Whether it is known by its type; kinds known by their methods are tried after these.
    by_type: ClassVar[bool] = True
    #: Whether the user passes a tokenizer with it.
    takes_tokenizer: ClassVar[bool] = False

    @abstractmethod
    def recognises(self, model: Any) -> bool:
        """Whether an object is of this kind; imports nothing."""

    @abstractmethod
    def open(self, given: Given) -> Backend:
        """The backend for an object of this kind; refuses one that cannot be tested."""

    def name(self, given: Given) -> str:
        """The name in results: the user's, the object's own, or that of its function or class."""
        return given.name or name_object(given.model)


def name_object(model: Any) -> str:
    """The object's own name if it has one, else that of its function or class."""
    own = getattr(model, "name", None)
    if isinstance(own, str) and own:
        return own
    return str(getattr(model, "__name__", None) or type(model).__name__)
