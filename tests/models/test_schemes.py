"""Label schemes are told from a model's whole list of labels, and read leniently."""

from __future__ import annotations

import pytest

from gendalens.models.huggingface.label_schemes import (
    Mark,
    Place,
    join_entities,
    join_run_on_entities,
    list_types,
    read_labels,
)


def decoded(labels: str, known: str = "O B-PER I-PER B-LOC I-LOC") -> str:
    """Entities as ``first-last:type``, counted in words."""
    marks = dict(zip(known.split(), read_labels(known.split()), strict=True))
    found = join_entities(
        [marks[label] for label in labels.split()],
        [(at, at + 1) for at in range(99)][: len(labels.split())],
    )
    return " ".join(f"{begin}-{end - 1}:{kind}" for begin, end, kind in found)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("O B-PER I-PER O", "1-2:PER"),
        ("B-PER B-PER I-PER", "0-0:PER 1-2:PER"),
        ("I-PER I-PER O I-LOC", "0-1:PER 3-3:LOC"),
        ("B-PER I-LOC", "0-0:PER 1-1:LOC"),
        ("O O", ""),
    ],
)
def test_iob_is_read_leniently(labels: str, expected: str) -> None:
    assert decoded(labels) == expected


@pytest.mark.parametrize(
    ("labels", "known", "expected"),
    [
        ("I-PER B-PER I-PER", "O I-PER B-PER I-LOC", "0-0:PER 1-2:PER"),
        ("B-PER L-PER U-PER I-PER", "O B-PER I-PER L-PER U-PER", "0-1:PER 2-2:PER 3-3:PER"),
        ("B_PER M_PER E_PER S_PER", "O B_PER M_PER E_PER S_PER", "0-2:PER 3-3:PER"),
        ("PER PER O GPE", "O PER GPE", "0-1:PER 3-3:GPE"),
        ("PER-B PER-I O", "O PER-B PER-I", "0-1:PER"),
        ("b-pers i-pers o", "o b-pers i-pers", "0-1:pers"),
        ("B-GPE_LOC I-GPE_LOC", "O B-GPE_LOC I-GPE_LOC B-PER I-PER", "0-1:GPE_LOC"),
    ],
)
def test_other_schemes(labels: str, known: str, expected: str) -> None:
    assert decoded(labels, known) == expected


def test_a_type_that_looks_like_a_mark_is_left_alone_among_plain_types() -> None:
    assert list_types(read_labels(["O", "PER", "LOC", "S-TOG"])) == ("PER", "LOC", "S-TOG")
    assert list_types(read_labels(["O", "PER", "E-MAIL"])) == ("PER", "E-MAIL")


def test_outside_labels_are_no_types() -> None:
    assert list_types(read_labels(["[PAD]", "X", "O", "B-PER", "I-PER"])) == ("PER",)
    assert read_labels(["O"]) == [None]


def test_spacy_wrap_runs_entities_of_different_types_together() -> None:
    marks = [Mark("PER", Place.BEGIN), Mark("LOC", Place.INSIDE), None, Mark("ORG", Place.INSIDE)]
    places = [(0, 2), (3, 5), (6, 8), (9, 11)]
    assert join_run_on_entities(marks, places) == [(0, 5, "LOC"), (9, 11, "ORG")]
