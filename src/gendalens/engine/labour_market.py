"""The labour market beside the results of every test that has leanings by occupation."""

from __future__ import annotations

from collections.abc import Sequence

from gendalens.data.occupation_shares import find_shares
from gendalens.engine.request_plan import RequestPlan
from gendalens.results.result import Extra, Record
from gendalens.tasks.shared.labour_market import measure_labour_market


def compare_with_labour_market(
    plan: RequestPlan, records: Sequence[Record], *, seed: int
) -> list[Extra]:
    """How the leanings follow the share of women in Denmark; nothing for a test without leanings."""
    leanings = plan.task.leanings(records)
    if leanings is None or leanings.data not in plan.sets:
        return []
    shares = find_shares(leanings.data, builtin=plan.sets[leanings.data].builtin)
    return measure_labour_market(leanings, shares, seed=seed)
