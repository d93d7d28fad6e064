"""What protocol 1 can say in the end: GenDa Lens 0.0.3 gives no interval to judge by."""

from __future__ import annotations

from gendalens.stats.findings import Finding
from gendalens.tasks.base import NO_INTERVAL
from gendalens.words import Message


def judge_without_interval(problem: Message | None) -> Finding:
    """Not judged, or not measurable where there is a problem."""
    if problem is not None:
        return Finding("not_measurable", problem)
    return Finding("not_judged", NO_INTERVAL())
