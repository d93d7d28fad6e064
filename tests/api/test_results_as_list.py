"""Results are a list, as they always were, and stay results when sliced or added."""

from __future__ import annotations

from pathlib import Path

import pytest

import gendalens


@pytest.fixture(scope="module")
def results(small_run: Path) -> gendalens.Results:
    return gendalens.load(small_run)


def test_results_are_indexed_unpacked_and_compared_as_a_list(results: gendalens.Results) -> None:
    assert isinstance(results, list)
    first, *rest = results
    assert isinstance(results[0], gendalens.Result)
    assert [first, *rest] == results
    assert results == list(results)
    assert len(results) == 10
    assert repr(results[:1]) == f"[{first!r}]"


def test_a_slice_and_a_sum_of_results_are_results(results: gendalens.Results) -> None:
    part = results[2:4]
    assert type(part) is gendalens.Results
    assert part == [results[2], results[3]]
    both = results[:1] + results[3:4]
    assert type(both) is gendalens.Results
    assert len(both.to_frame()) == len(results[:1].to_frame()) + len(results[3:4].to_frame())
