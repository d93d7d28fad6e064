from __future__ import annotations

from pathlib import Path

import pytest

from gendalens.data.registry import source
from gendalens.tasks import get_task


@pytest.mark.network
@pytest.mark.parametrize(("protocol", "distinct"), [(1, 685), (2, 674)])
def test_dawinobias_asks_each_distinct_input_once(
    official_home: Path, protocol: int, distinct: int
) -> None:
    task = get_task("lm-dawinobias", protocol)
    requests = task.requests(task.items({"dawinobias": source("dawinobias", offline=True)}))
    assert len(requests) == 1348
    assert len(set(requests)) == distinct


@pytest.mark.network
@pytest.mark.parametrize(
    ("protocol", "total", "distinct"), [(1, 13_680, 13_500), (2, 13_500, 13_500)]
)
def test_abc_asks_each_distinct_sentence_once(
    official_home: Path, protocol: int, total: int, distinct: int
) -> None:
    task = get_task("lm-abc", protocol)
    requests = task.requests(task.items({"abc": source("abc", offline=True)}))
    assert len(requests) == total
    assert len(set(requests)) == distinct
