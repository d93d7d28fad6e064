"""The headline of a DaWinoBias test: effect, gap and conditions on one set of rows."""

from __future__ import annotations

from dataclasses import dataclass

from gendalens.results.result import Cell, Extra
from gendalens.stats.estimate import Estimate
from gendalens.tasks.shared.messages import GAP, GES
from gendalens.tasks.shared.variants import Variant


@dataclass(frozen=True, slots=True)
class HeadlineFigures:
    """Effect, gap and conditions of one reading on one set of rows."""

    ges: Estimate
    gap: Estimate
    p: float | None
    conditions: tuple[Cell, ...]

    def make_extras(self, variant: Variant) -> list[Extra]:
        """Effect and gap as extra figures of a variant."""
        n = self.conditions[0].n
        return [
            variant.make_extra("ges", GES(), "log2 ratio", self.ges, n),
            variant.make_extra("gap", GAP(), "F1", self.gap, n),
        ]
