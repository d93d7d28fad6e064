"""Sequences whose members are made or read one at a time, when they are asked for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

Member = TypeVar("Member", covariant=True)


class ByPlace(Sequence[Member]):
    """A sequence that can give the member at any place, and holds none of them."""

    @overload
    def __getitem__(self, place: int) -> Member: ...
    @overload
    def __getitem__(self, place: slice) -> list[Member]: ...
    def __getitem__(self, place: int | slice) -> Member | list[Member]:
        if isinstance(place, slice):
            return [self._at(i) for i in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        return self._at(place % len(self))

    @abstractmethod
    def _at(self, place: int) -> Member:
        """The member at a place that exists."""
