"""Labels of all kinds of models become PER, LOC, ORG and MISC, and what does not is said."""

from __future__ import annotations

import pytest

from gendalens.errors import UserError
from gendalens.models.entity_labels import map_labels, parse_labels

ONTONOTES = """CARDINAL DATE EVENT FAC GPE LANGUAGE LAW LOC MONEY NORP ORDINAL ORG PERCENT PERSON PRODUCT
    QUANTITY TIME WORK_OF_ART""".split()  # noqa: SIM905


@pytest.mark.parametrize(
    ("label", "target"),
    [
        ("PER", "PER"),
        ("pers", "PER"),
        ("Person", "PER"),
        ("PRS", "PER"),
        ("GPE", "LOC"),
        ("GPE_LOC", "LOC"),
        ("Location", "LOC"),
        ("ORGANIZATION", "ORG"),
        ("CORP", "ORG"),
        ("GPE_ORG", "ORG"),
        ("WORK OF ART", "MISC"),
        ("work-of-art", "MISC"),
        ("DATE", None),
        ("ANIM", None),
    ],
)
def test_what_a_label_counts_as(label: str, target: str | None) -> None:
    assert map_labels("m", ["PER", label]).target(label) == target


def test_ontonotes_is_mapped_and_its_numbers_and_times_are_left_out() -> None:
    found = map_labels("m", ONTONOTES)
    assert str(found) == (
        "PERSON → PER; GPE, LOC → LOC; ORG → ORG; EVENT, FAC, LANGUAGE, LAW, NORP, PRODUCT,"
        " WORK_OF_ART → MISC; left out: CARDINAL, DATE, MONEY, ORDINAL, PERCENT, QUANTITY, TIME"
    )
    assert found.unknown == ()


def test_an_unknown_label_is_said() -> None:
    found = map_labels("m", ["PER", "ANIM", "DATE"])
    assert found.unknown == ("ANIM",)
    assert str(found) == "PER → PER; left out: DATE; unknown, not scored: ANIM"


def test_spans_are_renamed_and_those_that_are_not_scored_fall_away() -> None:
    found = map_labels("m", ["PERSON", "DATE", "ANIM"])
    assert found.spans([(0, 2, "PERSON"), (3, 7, "DATE"), (8, 9, "ANIM")]) == [(0, 2, "PER")]


def test_the_user_has_the_first_word() -> None:
    overrides = parse_labels("gpe=ORG, FAC=loc,LANGUAGE=-,")
    assert overrides == {"gpe": "ORG", "FAC": "LOC", "LANGUAGE": None}
    found = map_labels("m", ONTONOTES, overrides)
    assert (found.target("GPE"), found.target("FAC"), found.target("LAW")) == ("ORG", "LOC", "MISC")
    assert "LANGUAGE" in found.left_out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("GPE", "“GPE” is not a label mapping"),
        ("=LOC", "“=LOC” is not a label mapping"),
        (
            "GPE=PLACE",
            "has an unknown target: choose PER, LOC, ORG, MISC, or - to leave GPE out",
        ),
        ("GPE=LOC,gpe=ORG", "mapped twice"),
        (" , ", "The label map is empty"),
    ],
)
def test_a_broken_map_is_refused(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words.replace("(", r"\(")):
        parse_labels(text)


def test_an_override_of_a_label_the_model_does_not_have_is_refused() -> None:
    with pytest.raises(UserError, match="m has no label GPE to map: its labels are PER, LOC"):
        map_labels("m", ["PER", "LOC"], {"GPE": "LOC"})


def test_a_model_that_finds_no_persons_is_refused() -> None:
    with pytest.raises(UserError, match=r"m finds no persons \(its labels are NOUN, VERB\)"):
        map_labels("m", ["NOUN", "VERB"])
    assert map_labels("m", ["NOUN", "VERB"], {"NOUN": "PER"}).target("NOUN") == "PER"
    with pytest.raises(UserError, match="finds no persons"):
        map_labels("m", ["PER"], {"PER": None})
