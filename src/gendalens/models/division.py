"""The requests of a run divided into shards, which several processes answer on their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from gendalens.errors import UserError

_MOST = 100_000


@dataclass(frozen=True, slots=True, order=True)
class Shard:
    """One of ``count`` parts of a run; the first has the ``number`` 1."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """The shard that ``2/7`` names.

        >>> Shard.parse("2/7")
        Shard(number=2, count=7)
        """
        parts = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text.strip(), re.ASCII)
        number, count = map(int, parts.groups()) if parts else (0, 0)
        if not 1 <= count <= _MOST:
            raise UserError(
                "--shard {text}: write NUMBER/COUNT, such as 2/7 for the second of seven parts.",
                text=text,
            )
        if not 1 <= number <= count:
            raise UserError(
                "--shard {text}: there is no such part; they are numbered from 1/{count} to "
                "{count}/{count}.",
                text=text,
                count=str(count),
            )
        return cls(number, count)

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


@dataclass(frozen=True, slots=True)
class Division:
    """The part of each of these requests, by index, and the batches that all parts together run.

    Parts that were planned alike have equal ``batches``, so that no request is in none or in two.
    """

    parts: dict[int, int]
    batches: tuple[tuple[int, ...], ...]


def divide(weights: Sequence[int], count: int, turn: int = 0) -> list[int]:
    """The part of each of several pieces of work: neighbours stay together, parts weigh about the same.

    ``turn`` is the part that gets the first piece: where there are fewer pieces than parts, another part
    can have them next time.

    >>> divide([4, 2, 2, 4, 4], 2)
    [0, 0, 0, 1, 1]
    >>> divide([4], 3, turn=1)
    [2]
    """
    total = sum(weights)
    parts, before = [], 0
    for weight in weights:
        # Where its middle lies.
        place = (2 * before + weight) * count // (2 * total) if total else 0
        parts.append((min(place, count - 1) + turn) % count)
        before += weight
    return parts
