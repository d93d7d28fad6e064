"""Every test draws as many resamples as the documentation says."""

from __future__ import annotations

import inspect

from gendalens.stats.bootstrap import RESAMPLES
from gendalens.tasks import all_tasks


def test_every_test_draws_two_thousand_resamples() -> None:
    assert RESAMPLES == 2_000
    for task in all_tasks().values():
        assert inspect.signature(task.measure).parameters["resamples"].default == RESAMPLES
