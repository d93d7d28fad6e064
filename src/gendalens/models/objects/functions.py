"""Functions of the user's, wrapped so that it is known what they answer.

All of them take a list of texts and give one answer for each, in order.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from gendalens.errors import UserError
from gendalens.models.objects.kind import name_object
from gendalens.models.objects.system import System
from gendalens.words import N_

FUNCTION = N_("a function")


@dataclass(frozen=True, eq=False)
class WrappedFunction:
    """A function, its name in results, and the version under which its answers are cached."""

    function: Callable[[list[str]], Iterable[Any]]
    _: KW_ONLY
    name: str = ""
    version: str | None = None

    def __post_init__(self) -> None:
        wrapper = type(self).__name__
        if not callable(self.function):
            raise UserError(
                "gendalens.{wrapper} takes a function, not {value}: give one that takes a list of"
                " texts.",
                wrapper=wrapper,
                value=repr(self.function)[:80],
            )
        if self.version is not None and not self.name:
            raise UserError(
                "gendalens.{wrapper} has a version and no name, and the cache needs both: add name=….",
                wrapper=wrapper,
            )
        if not self.name:
            object.__setattr__(self, "name", name_object(self.function))

    def digest(self, name: str, *parts: object) -> str | None:
        """What identifies the function: its name and version; None without a version."""
        if self.version is None:
            return None
        content = [type(self).__name__, name, self.version, *parts]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


class FunctionSystem(System):
    """A wrapped function that finds entities or coreference."""

    interface: ClassVar[str] = FUNCTION

    def __init__(
        self, wrapped: WrappedFunction, name: str, answers: str, settings: Sequence[str] = ()
    ) -> None:
        super().__init__(wrapped.function, name, [answers])
        self.wrapped = wrapped
        self._settings = settings

    @property
    def digest(self) -> str | None:
        """Its name and version."""
        return self.wrapped.digest(self.name, *self._settings)

    @property
    def revision(self) -> str:
        """The version that the user gives it."""
        return self.wrapped.version or super().revision
