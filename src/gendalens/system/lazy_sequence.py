"""Sequences whose members are built or read one at a time, on demand."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

Member = TypeVar("Member", covariant=True)


class LazySequence(Sequence[Member]):
    """A sequence that produces each member on demand and keeps none of them."""

    @overload
    def __getitem__(self, place: int) -> Member: ...
    @overload
    def __getitem__(self, place: slice) -> list[Member]: ...
    def __getitem__(self, place: int | slice) -> Member | list[Member]:
        if isinstance(place, slice):
            return [self._member_at(i) for i in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        return self._member_at(place % len(self))

    @abstractmethod
    def _member_at(self, place: int) -> Member:
        """The member at a valid index."""
