"""The finding under protocol 1, which has no interval to judge by."""

from __future__ import annotations

from gendalens.stats.findings import Finding
from gendalens.tasks.base import NO_INTERVAL
from gendalens.words import Message


def judge_without_interval(problem: Message | None) -> Finding:
    """Not measurable if there is a problem, else not judged."""
    if problem is not None:
        return Finding("not_measurable", problem)
    return Finding("not_judged", NO_INTERVAL())
