"""Batches of like length, and smaller ones at the end for those who work side by side."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import Question

from gendalens.models.batch_run import halve_last_batches, plan_batches
from gendalens.models.requests import Score

BATCHES = st.lists(st.lists(st.integers(), min_size=1, max_size=5), min_size=1, max_size=6)


@settings(deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 40), max_size=60), st.integers(1, 200), st.integers(1, 20))
def test_a_plan_holds_every_request_once_and_keeps_to_its_budget(
    lengths: list[int], budget: int, positions: int
) -> None:
    encoded = [Question(Score("x" * n)) for n in lengths]
    batches = list(plan_batches(encoded, batch_tokens=budget, max_positions=positions))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[i] for i in batch)
        assert len(batch) == 1 or (len(batch) * longest <= budget and len(batch) <= positions)
    flat = [lengths[i] for batch in batches for i in batch]
    assert flat == sorted(flat, reverse=True)


def test_the_last_batch_of_each_worker_is_halved() -> None:
    assert halve_last_batches([[0, 1], [2, 3, 4], [5, 6]], 2) == [[0, 1], [2, 3], [4], [5], [6]]
    assert halve_last_batches([[0, 1], [2]], 1) == [[0, 1], [2]]


@given(BATCHES, st.integers(1, 4))
def test_halving_keeps_every_request_in_its_place(batches: list[list[int]], workers: int) -> None:
    found = halve_last_batches(batches, workers)
    assert [i for batch in found for i in batch] == [i for batch in batches for i in batch]
    assert all(found)
    assert found[: -2 * workers] == batches[: len(found[: -2 * workers])]
