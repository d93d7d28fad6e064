"""Rows that requests share run once over all batches, and change no answer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from types import SimpleNamespace
from typing import Any

import pytest
import tiny
from asking import answer_all
from families import opened

from gendalens.errors import UserError
from gendalens.models.batches import answer_in_batches
from gendalens.models.huggingface.masked import MaskedLM
from gendalens.models.requests import Answer, Fill, Request, Score
from gendalens.models.shared_rows import RowRun

# As in ABC: frames and words in all combinations, so that a masked word leaves many of them alike.
SENTENCES: list[Request] = [
    Score(f"{who} mødte {whose} {whom} ved åen.")
    for who in ("Smeden", "Bageren", "Læreren")
    for whom in ("søn", "kat", "bror")
    for whose in ("hans", "hendes", "sin")
]
MORE: list[Request] = [Score(text) for text in tiny.SENTENCES]


@pytest.fixture
def rows_run(monkeypatch: pytest.MonkeyPatch) -> list[list[Any]]:
    """The rows of every batch."""
    batches: list[list[Any]] = []
    read = MaskedLM.read_rows

    def spy(self: MaskedLM, rows: Sequence[Any]) -> Any:
        batches.append([one.row for one in rows])
        return read(self, rows)

    monkeypatch.setattr(MaskedLM, "read_rows", spy)
    return batches


def test_each_distinct_row_runs_once(rows_run: list[list[Any]]) -> None:
    backend = opened("wordpiece cased").backend
    requests = SENTENCES + MORE
    found: Any = answer_all(backend, requests, batch_tokens=60)
    encoded = backend.encode(requests)
    every = [row for item in encoded for row in item.inputs]
    assert len(rows_run) > 5
    assert sorted(row for batch in rows_run for row in batch) == sorted(set(every))
    assert len(set(every)) < 0.9 * len(every)
    for request in requests:
        (alone,) = backend.answer(backend.encode([request]))
        assert found[request].log_likelihood == pytest.approx(alone.log_likelihood, abs=1e-5)


def test_fills_with_a_first_choice_share_rows_too() -> None:
    backend = opened("wordpiece cased").backend
    pairs = (("han", "hun"), ("hans", "hendes"), ("hun", "sin"))
    fills: list[Request] = [Fill("Smeden så ", " i huset.", pair) for pair in pairs]
    found: Any = answer_all(backend, fills, batch_tokens=20)
    for request in fills:
        (alone,) = backend.answer(backend.encode([request]))
        assert found[request].log_probs == pytest.approx(alone.log_probs, abs=1e-5)
        assert found[request].first == alone.first


@pytest.mark.parametrize("after", [1, 3, 6])
def test_an_interrupted_run_ends_with_the_very_same_numbers(
    after: int, rows_run: list[list[Any]]
) -> None:
    backend = opened("wordpiece cased").backend
    requests = SENTENCES + MORE
    whole: Any = answer_all(backend, requests, batch_tokens=60)
    batches = answer_in_batches(backend, requests, batch_tokens=60)
    known: dict[Request, Answer] = {
        pair[0]: pair[1] for some in islice(batches, after) for pair in some
    }
    batches.close()
    rows_run.clear()
    rest = dict(
        pair
        for some in answer_in_batches(backend, requests, known=known, batch_tokens=60)
        for pair in some
    )
    assert known.keys() | rest.keys() == set(requests)
    assert not known.keys() & rest.keys()
    assert known | rest == {request: whole[request] for request in known | rest}


def test_requests_that_are_linked_by_rows_are_neighbours() -> None:
    """Otherwise an interruption would cost the rows that all remaining requests share with others."""
    encoded = [
        SimpleNamespace(inputs=inputs)
        for inputs in (((1, 2), (3, 4)), ((5, 6),), ((7, 8),), ((3, 4), (7, 8)), ((5, 6), (9, 9)))
    ]
    run = RowRun(opened("wordpiece cased").backend, 60, encoded)
    assert run._find_askers() == {
        (1, 2): [0],
        (3, 4): [0, 3],
        (7, 8): [2, 3],
        (5, 6): [1, 4],
        (9, 9): [4],
    }
    assert list(run._find_askers()) == [(1, 2), (3, 4), (7, 8), (5, 6), (9, 9)]


def test_readings_are_given_up_when_nobody_needs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = opened("wordpiece cased").backend
    kept: list[int] = []
    conclude = MaskedLM.conclude

    def spy(self: MaskedLM, item: Any, readings: Any) -> Answer:
        kept.append(len(readings))
        return conclude(self, item, readings)

    monkeypatch.setattr(MaskedLM, "conclude", spy)
    answer_all(backend, MORE, batch_tokens=60)
    rows = sum(item.rows for item in backend.encode(MORE))
    assert max(kept) < rows / 3


def test_rows_that_do_not_fit_into_memory_run_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = opened("wordpiece cased").backend
    whole: Any = answer_all(backend, MORE)
    read = MaskedLM.read_rows
    most = 2

    def tight(self: MaskedLM, rows: Sequence[Any]) -> Any:
        if len(rows) > most:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return read(self, rows)

    monkeypatch.setattr(MaskedLM, "read_rows", tight)
    found: Any = answer_all(backend, MORE)
    for request in MORE:
        assert found[request].log_likelihood == pytest.approx(
            whole[request].log_likelihood, abs=1e-5
        )
    most = 0
    with pytest.raises(UserError, match="does not fit into memory"):
        answer_all(backend, MORE)


def test_a_text_without_tokens_is_answered_without_rows() -> None:
    backend = opened("wordpiece cased").backend
    found: Any = answer_all(backend, [Score(""), *MORE])
    assert found[Score("")].tokens == 0
