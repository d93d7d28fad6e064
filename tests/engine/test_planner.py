"""Batches of like length, and smaller ones at the end for those who work side by side."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gendalens.engine.planner import tapered

BATCHES = st.lists(st.lists(st.integers(), min_size=1, max_size=5), min_size=1, max_size=6)


def test_the_last_batch_of_each_worker_is_halved() -> None:
    assert tapered([[0, 1], [2, 3, 4], [5, 6]], 2) == [[0, 1], [2, 3], [4], [5], [6]]
    assert tapered([[0, 1], [2]], 1) == [[0, 1], [2]]


@given(BATCHES, st.integers(1, 4))
def test_tapering_keeps_every_request_in_its_place(batches: list[list[int]], workers: int) -> None:
    found = tapered(batches, workers)
    assert [i for batch in found for i in batch] == [i for batch in batches for i in batch]
    assert all(found)
    assert found[: -2 * workers] == batches[: len(found[: -2 * workers])]
