"""What a run could see: the smallest effect it would find, and the smallest band it would acquit in.

Both follow from the standard error, which is estimated before a run with control models that answer by
chance, in two worlds: one where items are independent, and one where items of the same schema, frame,
occupation or sentence share effects as large as the noise of a single item.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal, TypeAlias

from gendalens.comparison.gate import PARTS, Part
from gendalens.errors import UserError
from gendalens.models.control import Control
from gendalens.results.result import Record
from gendalens.stats.evidence import Evidence
from gendalens.stats.findings import Finding
from gendalens.tasks.base import Task
from gendalens.words import Message

World: TypeAlias = Literal["independent", "clustered"]
#: The size of the shared effects in each world, in units of the item noise.
WORLDS: dict[World, float] = {"independent": 0.0, "clustered": 1.0}
SEEDS = 5
RESAMPLES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What a run could see by one figure in one world; medians over the seeds of control models.

    ``seen`` is the smallest true effect that is distinguished from 0 in 80% of cases, and ``acquitted``
    the smallest band within which a model without bias is placed in 80% of cases. Both are None if
    control models do not give the figure an interval.
    """

    part: Part
    id: str
    name: Message
    unit: str
    band: float
    world: World
    seen: float | None
    acquitted: float | None

    @property
    def can_acquit(self) -> bool:
        """Whether a model without bias is acquitted within the band in 80% of cases."""
        return self.acquitted is not None and self.acquitted <= self.band

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        return {
            "part": self.part,
            "figure": self.id,
            "name": self.name.to_dict(),
            "unit": self.unit,
            "band": self.band,
            "world": self.world,
            "seen": self.seen,
            "acquitted": self.acquitted,
            "can_acquit": self.can_acquit,
        }


def compute_power(
    task: Task[Any], items: Sequence[Any], *, seeds: int = SEEDS, resamples: int = RESAMPLES
) -> list[Power]:
    """What a run of a test on these items could see, for each figure that it is judged on.

    The figures are in the order of the finding, each in both worlds.
    """
    if not task.has_controls:
        raise UserError(
            "{test} has no answers for control models, so what it could see is not known before a run: "
            "run it, and read it in its result.",
            test=task.card.id,
        )
    findings = {
        world: [
            _measure(task, items, Control("fair", 0.0, seed=seed, clustered=size), resamples)
            for seed in range(seeds)
        ]
        for world, size in WORLDS.items()
    }
    found = []
    for part in PARTS:
        for place in range(len(_list_figures(findings["independent"][0], part))):
            for world, measured in findings.items():
                figures = [_list_figures(one, part)[place] for one in measured]
                found.append(_summarize(part, world, figures))
    return found


def _measure(task: Task[Any], items: Sequence[Any], control: Control, resamples: int) -> Finding:
    fitted = task.fit(control)
    records: list[Record] = []
    for portion in fitted.portions(items):
        records += fitted.records(portion, fitted.plant(portion, control))
    return fitted.measure(records, seed=task.seed, resamples=resamples).finding


def _list_figures(finding: Finding, part: Part) -> tuple[Evidence, ...]:
    figures: tuple[Evidence, ...] = getattr(finding, part).evidence
    return figures


def _summarize(part: Part, world: World, figures: Sequence[Evidence]) -> Power:
    first = figures[0]
    return Power(
        part=part,
        id=first.id,
        name=first.name,
        unit=first.unit,
        band=first.band,
        world=world,
        seen=_find_median([one.seen for one in figures]),
        acquitted=_find_median([one.acquitted for one in figures]),
    )


def _find_median(values: Sequence[float | None]) -> float | None:
    """The median; None if half of the values or more are undefined."""
    defined = [value for value in values if value is not None]
    return median(defined) if 2 * len(defined) > len(values) else None
