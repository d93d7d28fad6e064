"""Which records a headline rests on, and what is shown beside it."""

from __future__ import annotations

from typing import Any

import pytest

from gendalens.data import registry
from gendalens.models.control import Control
from gendalens.results.result import Record
from gendalens.tasks import get_task
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


@pytest.mark.parametrize(
    ("test", "data"),
    [
        ("lm-dawinobias", "dawinobias"),
        ("coref-dawinobias", "dawinobias"),
        ("lm-abc", "abc"),
        ("coref-abc", "abc"),
        ("chat-abc", "abc"),
    ],
)
def test_models_are_compared_on_what_the_headline_rests_on(test: str, data: str) -> None:
    task = get_task(test, 2)
    items = task.items({data: registry.find_source(data, override="builtin")})
    some = task.sample(items, 120, seed=0)
    records = task.records(some, task.plant(some, Control("fair", 0.0, seed=1)))
    kept = keep_headline(records)
    assert len(kept) < len(records)
    of_all, of_kept = task.clusters(records), task.clusters(kept)
    assert of_all is not None
    assert of_kept is not None
    assert of_all.names == of_kept.names
    measures = task.measure(records, seed=0, resamples=50)
    alone = task.measure(kept, seed=0, resamples=50)
    assert measures.gap.value == alone.gap.value
    assert measures.conditions == alone.conditions
    assert measures.nuance == alone.nuance
    assert "with_unproven" in " ".join(extra.id for extra in measures.extra)
