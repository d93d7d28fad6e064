"""What is wrong with a file, counted by kind, with the first few places named."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence

SHOWN = 3


class LineError(Exception):
    """A line that cannot be used: what kind of flaw it has, and what exactly is wrong."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(kind, detail)
        self.kind = kind
        self.detail = detail


class Flaws:
    """All flaws of one file; however many there are, only the first places of a kind are kept."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._places: dict[str, list[str]] = {}

    def add(self, kind: str, place: str) -> None:
        """One more flaw of a kind."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        places = self._places.setdefault(kind, [])
        if len(places) < SHOWN:
            places.append(place)

    def __bool__(self) -> bool:
        return bool(self._counts)

    def __str__(self) -> str:
        """``3 blank lines (line 2; line 5; line 9)`` and so on, divided by full stops."""
        return " ".join(
            f"{kind}: {count:,} ({'; '.join(_with_rest(self._places[kind], count))})."
            for kind, count in self._counts.items()
        )


def _with_rest(places: Sequence[str], count: int) -> list[str]:
    return [*places, *(["…"] if count > len(places) else [])]


def shown(value: object, width: int = 60) -> str:
    """Any value of a file as a message may hold it: short, on one line, in printable signs."""
    # Not repr: a file may nest lists deeper than Python can follow.
    text = value if isinstance(value, str) else reprlib.repr(value)
    safe = "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode()
        for sign in text[:width]
    )
    return safe if len(text) <= width else f"{safe}…"
