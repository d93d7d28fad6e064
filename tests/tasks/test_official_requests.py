from __future__ import annotations

from pathlib import Path

import pytest

from gendalens.data.registry import find_source
from gendalens.models.requests import Resolve
from gendalens.tasks import get_task


@pytest.mark.network
@pytest.mark.parametrize(("protocol", "distinct"), [(1, 685), (2, 674)])
def test_dawinobias_asks_each_distinct_input_once(
    official_home: Path, protocol: int, distinct: int
) -> None:
    task = get_task("lm-dawinobias", protocol)
    requests = task.requests(task.items({"dawinobias": find_source("dawinobias", offline=True)}))
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
    requests = task.requests(task.items({"abc": find_source("abc", offline=True)}))
    assert len(requests) == total
    assert len(set(requests)) == distinct


@pytest.mark.network
@pytest.mark.parametrize(
    ("name", "data", "total"),
    [("coref-dawinobias", "dawinobias", 1348), ("coref-abc", "abc", 13_500)],
)
def test_coreference_is_asked_about_every_sentence_by_whole_words(
    official_home: Path, name: str, data: str, total: int
) -> None:
    task = get_task(name, 2)
    requests = task.requests(task.items({data: find_source(data, offline=True)}))
    assert len(requests) == len(set(requests)) == total
    for request in requests:
        assert isinstance(request, Resolve)
        assert {request.pronoun, *request.candidates} <= set(request.tokens)
