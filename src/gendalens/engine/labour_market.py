"""The labour market beside the results of every test that has leanings by occupation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gendalens.data.occupation_shares import find_shares
from gendalens.results.result import Extra, Record
from gendalens.tasks.base import Task
from gendalens.tasks.shared.labour_market import measure_labour_market


def compare_with_labour_market(
    task: Task[Any], records: Sequence[Record], builtin: Mapping[str, bool], *, seed: int
) -> list[Extra]:
    """How the leanings follow the share of women in Denmark; nothing for a test without leanings.

    ``builtin`` says of each data set whether it is the built-in one.
    """
    leanings = task.leanings(records)
    if leanings is None or leanings.data not in builtin:
        return []
    shares = find_shares(leanings.data, builtin=builtin[leanings.data])
    return measure_labour_market(leanings, shares, seed=seed)
