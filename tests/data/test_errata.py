from __future__ import annotations

from pathlib import Path

import pytest

from gendalens.data import errata
from gendalens.data.errata import Erratum, apply_errata
from gendalens.errors import UserError

PATH = Path("eksempel.txt")
LINES = ["Ravnen sang ad ræven.", "ræven sang af ravnen.", "Ræv og ræven."]


def fix(old: str, new: str, *lines: int, condition: str = "both") -> Erratum:
    return Erratum("eksempel", condition, lines, "weak", old, new, "own example")


def test_an_erratum_changes_its_words_on_its_lines_only() -> None:
    fixed = apply_errata(LINES, [fix("af", "ad", 2)], condition="pro", path=PATH)
    assert fixed == [LINES[0], "ræven sang ad ravnen.", LINES[2]]


def test_an_erratum_of_the_other_file_is_left_alone() -> None:
    found = [fix("af", "ad", 2, condition="anti")]
    assert apply_errata(LINES, found, condition="pro", path=PATH) == LINES


def test_an_erratum_without_lines_changes_whole_words_everywhere() -> None:
    fixed = apply_errata(LINES, [fix("ræven", "ulven")], condition="pro", path=PATH)
    assert fixed == ["Ravnen sang ad ulven.", "ulven sang af ravnen.", "Ræv og ulven."]
    fixed = apply_errata(["ræv og ræven"], [fix("ræv", "ulv")], condition="pro", path=PATH)
    assert fixed == ["ulv og ræven"]


@pytest.mark.parametrize("entry", [fix("af", "ad", 1), fix("af", "ad", 4), fix("n", "m", 2)])
def test_an_erratum_that_does_not_fit_its_line_is_an_error(entry: Erratum) -> None:
    with pytest.raises(UserError, match=r"eksempel.txt, line \d: the erratum for"):
        apply_errata(LINES, [entry], condition="pro", path=PATH)


def test_an_erratum_that_fits_nowhere_is_an_error() -> None:
    with pytest.raises(UserError, match=r"eksempel.txt does not hold “ørn”"):
        apply_errata(LINES, [fix("ørn", "and")], condition="pro", path=PATH)


@pytest.mark.parametrize(
    ("name", "conditions"),
    [("dawinobias", {"pro", "anti", "both"}), ("abc", {"female", "male", "both"})],
)
def test_every_entry_says_where_what_and_why(name: str, conditions: set[str]) -> None:
    found = errata.find_errata(name)
    assert found
    for entry in found:
        assert entry.condition in conditions
        assert entry.old
        assert entry.old != entry.new
        assert entry.reason
        assert bool(entry.lines) == (name == "dawinobias")


def test_entries_hold_a_few_words_and_no_sentence() -> None:
    entries = errata.find_errata("dawinobias") + errata.find_errata("abc")
    assert max(len(entry.old.split()) for entry in entries) <= 7
    assert not [entry for entry in entries if entry.old.endswith(".") and len(entry.old) > 2]


def test_defects_can_be_chosen_by_severity() -> None:
    by_severity = {one: errata.find_errata("dawinobias", one) for one in errata.SEVERITIES}
    assert all(by_severity.values())
    assert sum(map(len, by_severity.values())) == len(errata.find_errata("dawinobias"))
    assert {number for e in by_severity["wrong"] for number in e.lines} >= {
        *(469, 454, 486, 455, 611, 411, 412, 487, 271)
    }
    with pytest.raises(UserError, match="no severity 'bad': choose one of wrong, weak, polish"):
        errata.find_errata("dawinobias", "bad")


def test_a_set_without_errata_has_none() -> None:
    assert errata.find_errata("fugle") == ()
