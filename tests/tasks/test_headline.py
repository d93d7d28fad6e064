"""Which records a headline rests on, and what is shown beside it."""

from __future__ import annotations

from typing import Any

import pytest

from gendalens.results.result import Record
from gendalens.tasks.shared.headline import choose_headline, keep_headline
from gendalens.tasks.shared.messages import CONTESTED_LABELS_DECIDE


def make(schema: int, **more: Any) -> Record:
    return {"schema": schema, "contested": False, **more}


def test_unproven_occupations_are_out_of_the_headline_and_in_the_variant() -> None:
    rows = [make(1), make(2), make(3, unproven=True)]
    head = choose_headline(rows, CONTESTED_LABELS_DECIDE)
    assert (head.records, head.others) == (rows[:2], rows)
    assert (head.variant.id, head.warning.code) == ("with_unproven", "unproven_classes_decide")
    assert keep_headline(rows) == rows[:2]


def test_contested_occupations_are_in_the_headline_and_out_of_the_variant() -> None:
    rows = [make(1), make(2), make(3, contested=True)]
    head = choose_headline(rows, CONTESTED_LABELS_DECIDE)
    assert (head.records, head.others) == (rows, rows[:2])
    assert (head.variant.id, head.warning) == ("without_contested", CONTESTED_LABELS_DECIDE)
    assert keep_headline(rows) == rows


@pytest.mark.parametrize(
    "rows",
    [
        [make(1), make(2)],
        [make(1), make(2, contested=True)],
        [make(1), make(2, unproven=True)],
        [
            {"occupation_class": "male", "contested": False},
            {"occupation_class": "female", "contested": False, "unproven": True},
        ],
    ],
)
def test_without_enough_that_is_left_there_is_no_variant(rows: list[Record]) -> None:
    head = choose_headline(rows, CONTESTED_LABELS_DECIDE)
    assert (head.records, head.others) == (rows, None)
    assert keep_headline(rows) == rows
