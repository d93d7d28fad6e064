from __future__ import annotations

import pytest

from gendalens.data.occupations import read_occupations

# The lists stand in the audit of the official data.
CONTRADICTED = {
    "dawinobias": {"revisoren", "bageren", "advokaten", "lægen", "sælgeren"},
    "abc": {"sælgeren", "specialisten", "advokaten", "bartenderen", "kemikeren", "lægen"},
}
GENDERED = {
    "dawinobias": {
        *("husholdersken", "syersken", "sygeplejersken", "flyttemanden", "landmanden"),
    },
    "abc": {
        *("husholdersken", "syersken", "sygeplejersken", "sundhedsplejersken"),
        *("kassedamen", "jordemoderen", "brandmanden"),
    },
}


@pytest.mark.parametrize(("name", "male", "female"), [("dawinobias", 18, 19), ("abc", 30, 30)])
def test_each_set_has_its_published_number_of_occupations(
    name: str, male: int, female: int
) -> None:
    classes = [o.stereotype for o in read_occupations(name).values()]
    assert (classes.count("male"), classes.count("female")) == (male, female)


@pytest.mark.parametrize("name", ["dawinobias", "abc"])
def test_the_listed_occupations_are_contradicted_and_no_others(name: str) -> None:
    assert {o.danish for o in read_occupations(name).values() if o.contradicted} == CONTRADICTED[
        name
    ]


@pytest.mark.parametrize("name", ["dawinobias", "abc"])
def test_contradicted_means_a_danish_share_on_the_other_side_of_one_half(name: str) -> None:
    for o in read_occupations(name).values():
        against = o.dk_pct_women is not None and (
            (o.dk_pct_women > 50) != (o.stereotype == "female")
        )
        assert o.contradicted == against


@pytest.mark.parametrize("name", ["dawinobias", "abc"])
def test_the_words_that_carry_gender_are_marked(name: str) -> None:
    assert {o.danish for o in read_occupations(name).values() if o.gendered_word} == GENDERED[name]


@pytest.mark.parametrize("name", ["dawinobias", "abc"])
def test_every_figure_is_a_percentage_with_a_source(name: str) -> None:
    for o in read_occupations(name).values():
        for country, share in (("US:", o.us_pct_women), ("DK:", o.dk_pct_women)):
            assert (share is not None) == (country in o.source)
            assert share is None or 0 <= share <= 100


def test_an_unknown_set_has_no_occupations() -> None:
    assert read_occupations("no-such-set") == {}
