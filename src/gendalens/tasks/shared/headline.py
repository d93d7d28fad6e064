"""The headline of a test: effect, gap and conditions on one set of rows."""

from __future__ import annotations

from dataclasses import dataclass

from gendalens.results.result import Cell, Extra
from gendalens.stats.estimate import Estimate


@dataclass(frozen=True, slots=True)
class Headline:
    """Effect, gap and conditions of one reading on one set of rows."""

    ges: Estimate
    gap: Estimate
    p: float | None
    conditions: tuple[Cell, ...]

    def extras(self, what: str) -> list[Extra]:
        """The same as figures beside another headline."""
        n = self.conditions[0].n
        return [
            Extra(name=f"{name}, {what}", unit=unit, n=n, **estimate.parts())
            for name, unit, estimate in (
                ("GES", "log2 ratio", self.ges),
                ("gap", "F1", self.gap),
            )
        ]
