"""The flaws of an answer file, counted by kind, with the places of the first few."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from gendalens.words import Message, Template, phrase

SHOWN = 3


class Flaws:
    """All flaws of one file; only the first few places of each kind are kept."""

    def __init__(self) -> None:
        self._counts: dict[Template, int] = {}
        self._places: dict[Template, list[Message | str]] = {}

    def add(self, kind: Template, place: Message | str) -> None:
        """Count one more flaw of a kind."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        places = self._places.setdefault(kind, [])
        if len(places) < SHOWN:
            places.append(place)

    def __bool__(self) -> bool:
        return bool(self._counts)

    @property
    def message(self) -> Message | str:
        """``blank lines: 3 (line 2; line 5; line 9).`` and so on, one sentence per kind."""
        sentences = (phrase("{flaws}.", flaws=self._describe(kind)) for kind in self._counts)
        return _join(" ", sentences)

    @property
    def clauses(self) -> Message | str:
        """The same as part of a sentence."""
        return _join("; ", map(self._describe, self._counts))

    def _describe(self, kind: Template) -> Message:
        count, places = self._counts[kind], self._places[kind]
        rest = ["…"] if count > len(places) else []
        listed = _join("; ", [*places, *rest])
        return phrase("{kind}: {count:,} ({places})", kind=kind(), count=count, places=listed)


def _join(separator: str, parts: Iterable[Message | str]) -> Message | str:
    """The parts joined by a separator that is the same in every language."""
    template = f"{{first}}{separator}{{second}}"
    return reduce(
        lambda first, second: Message("", template, {"first": first, "second": second}), parts
    )
