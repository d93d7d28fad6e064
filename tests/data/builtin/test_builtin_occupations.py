from __future__ import annotations

from collections import Counter

from gendalens.data.builtin.occupations import read_occupations
from tools.builtin_sets.gendered_words import carries_gender

# Published figures contradict each other about these, or there is a single class and no figure.
LEFT_OUT = {
    *("kokken", "guldsmeden", "tandlægen", "optikeren", "dyrlægen", "terapeuten", "advokaten"),
    *("boghandleren", "blomsterhandleren", "skotøjshandleren", "bageren", "paramedicineren"),
}


def test_there_are_about_as_many_occupations_of_either_class() -> None:
    table = read_occupations().values()
    assert len(table) == 80
    assert Counter(o.stereotype for o in table) == {"male": 43, "female": 37}
    proven = Counter(o.stereotype for o in table if not o.unproven)
    assert proven == {"male": 35, "female": 36}


def test_a_class_agrees_with_every_danish_share_of_women() -> None:
    for o in read_occupations().values():
        rest = [one.split(" (")[0] for one in o.others.split("; ") if one]
        shares = [float(one) for one in rest if one[0].isdigit()]
        for share in (o.dk_pct_women, *shares):
            assert share >= 60 if o.stereotype == "female" else share <= 40, o.definite
        opposite = {"female": " male-dominated", "male": "female-dominated"}[o.stereotype]
        assert opposite not in f" {o.others}"


def test_every_figure_says_what_it_counts_when_and_by_whom() -> None:
    for o in read_occupations().values():
        assert o.counts
        assert o.source
        assert any(one.isdigit() for one in o.year) or (o.indefinite, o.year) == (
            "murer",
            "not printed",
        )


def test_an_occupation_without_a_figure_of_high_or_medium_confidence_is_unproven() -> None:
    for o in read_occupations().values():
        assert o.unproven == (o.confidence == "low"), o.definite
        # An old figure never stands alone.
        assert o.others or o.confidence != "low", o.definite


def test_occupations_that_sources_disagree_about_are_left_out() -> None:
    assert not LEFT_OUT & read_occupations().keys()


def test_the_figures_that_were_wrong_are_mended() -> None:
    table = read_occupations()
    assert (table["politibetjenten"].dk_pct_women, table["politibetjenten"].year) == (20.7, "2019")
    assert "8.9 (high)" in table["politibetjenten"].others
    assert table["pædagogen"].dk_pct_women == 84


def test_no_occupation_carries_gender_in_its_word() -> None:
    assert not [o for o in read_occupations() if carries_gender(o)]


def test_the_definite_and_the_genitive_belong_to_the_indefinite() -> None:
    for o in read_occupations().values():
        assert o.definite.startswith(o.indefinite)
        assert o.definite.endswith("en") or o.indefinite.endswith("e")
        assert o.genitive == o.definite + "s"
