from __future__ import annotations

from gendalens.data.builtin.occupations import read_occupations
from tools.builtin_sets.gendered_words import carries_gender


def test_there_are_about_as_many_occupations_of_either_class() -> None:
    classes = [o.stereotype for o in read_occupations().values()]
    assert (classes.count("female"), classes.count("male")) == (20, 21)


def test_a_class_agrees_with_the_danish_share_of_women() -> None:
    for o in read_occupations().values():
        if o.dk_pct_women is not None:
            assert o.dk_pct_women >= 60 if o.stereotype == "female" else o.dk_pct_women <= 40


def test_every_class_has_a_danish_source_that_agrees() -> None:
    for o in read_occupations().values():
        assert o.source.startswith("DK: ")
        assert f"{o.stereotype}-dominated" in o.source or o.dk_pct_women is not None
        opposite = {"female": " male-dominated", "male": "female-dominated"}[o.stereotype]
        assert opposite not in o.source


def test_no_occupation_carries_gender_in_its_word() -> None:
    assert not [o for o in read_occupations() if carries_gender(o)]


def test_the_definite_and_the_genitive_belong_to_the_indefinite() -> None:
    for o in read_occupations().values():
        assert o.definite.startswith(o.indefinite)
        assert o.definite.endswith("en") or o.indefinite.endswith("e")
        assert o.genitive == o.definite + "s"
