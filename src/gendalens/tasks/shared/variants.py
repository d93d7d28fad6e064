"""Variants of a headline, shown as extra figures."""

from __future__ import annotations

from dataclasses import dataclass

from gendalens.results.result import Extra
from gendalens.stats.estimate import Estimate
from gendalens.tasks.shared.messages import FIGURE_OF
from gendalens.words import Message, Template


@dataclass(frozen=True, slots=True)
class Variant:
    """Another way to compute a headline, such as without some of the items.

    Its id and name are appended to those of its figures.
    """

    id: str
    name: Message

    def make_extra(
        self, figure: str, name: Message, unit: str, estimate: Estimate, n: int | None = None
    ) -> Extra:
        """An extra figure of this variant."""
        return Extra(
            id=f"{figure}_{self.id}",
            name=FIGURE_OF(figure=name, part=self.name),
            unit=unit,
            n=n,
            **estimate.parts(),
        )


WITHOUT_CONTESTED = Variant(
    "without_contested", Template("variant.without_contested", "without contested occupations")()
)
WITH_UNPROVEN = Variant(
    "with_unproven",
    Template("variant.with_unproven", "including occupations without a reliable Danish figure")(),
)
UNCORRECTED = Variant("uncorrected", Template("variant.uncorrected", "uncorrected")())
