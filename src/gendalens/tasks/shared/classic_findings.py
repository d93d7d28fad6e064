"""The finding under protocol 1, which has no interval to judge by."""

from __future__ import annotations

from gendalens.stats.findings import Finding, judge
from gendalens.tasks.base import NO_INTERVAL
from gendalens.words import Message


def judge_without_interval(problem: Message | None) -> Finding:
    """Not measurable if there is a problem, else not judged."""
    if problem is not None:
        return judge((), problem=problem)
    return Finding(not_judged=NO_INTERVAL())
