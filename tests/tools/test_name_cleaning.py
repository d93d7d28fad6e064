"""The built-in names are the official ones, cleaned; the validator finds what is wrong with a list."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from gendalens.data import name_lists
from gendalens.data.builtin import names
from gendalens.data.builtin.names import Row
from tools.builtin_sets import name_cleaning
from tools.builtin_sets.ner_validator import find_name_problems

CARD = Path(__file__).parents[2] / "docs" / "builtin-ner.md"
ROWS = names.read()
FIRST = Row("first", "majority", "female", "Anne", 44143)
LAST = Row("last", "majority", "both", "Nielsen", 232807)


def test_the_shipped_names_have_no_problem_and_are_small() -> None:
    assert find_name_problems(ROWS) == []
    assert names.FILE.stat().st_size < 200_000


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([replace(FIRST, name="ANNE")], "capitals are wrong"),
        ([replace(FIRST, name="000")], "not a name"),
        ([replace(FIRST, bearers=0)], "0 bearers"),
        ([FIRST, replace(FIRST, gender="male")], "2 times among the first names"),
        ([LAST, replace(LAST, origin="minority")], "2 times among the last names"),
        ([replace(LAST, gender="female")], "a surname is of both genders"),
        ([replace(FIRST, bearers=10), replace(FIRST, name="Mette")], "order"),
    ],
)
def test_a_planted_defect_is_found(rows: list[Row], message: str) -> None:
    assert any(message in problem for problem in find_name_problems(rows))
    assert find_name_problems([FIRST, LAST]) == []


def test_the_card_counts_right() -> None:
    text = CARD.read_text(encoding="utf-8")
    said = {
        (part, group): int(count.replace(",", ""))
        for part, group, count in re.findall(
            r"^\| (first|last) \| (.+) \| ([\d,]+) \|$", text, re.M
        )
    }
    counted: dict[tuple[str, str], int] = {}
    for row in ROWS:
        key = (row.part, f"{row.origin} {row.gender}")
        counted[key] = counted.get(key, 0) + 1
    assert said == counted
    wrong = (name_cleaning.NOT_MAJORITY, name_cleaning.NOT_MINORITY)
    danish, muslim = ({part: len(out[part].split()) for part in out} for out in wrong)
    assert f"{danish['first']} first names and {danish['last']} surnames" in text
    assert f"{muslim['first']} and {muslim['last']} that it calls Muslim" in text


@pytest.mark.network
def test_the_shipped_names_are_the_official_ones_cleaned(official_cache: Path) -> None:
    data = official_cache / "data"
    lists = name_lists.read(data / "names", data / "minority-names")
    assert name_cleaning.clean_names(lists) == ROWS
    # Every name that is left out by hand stands in the lists: the reading was of these.
    known = {name for listed in lists.listed.values() for name in listed}
    known |= lists.first["female"].keys() & lists.first["male"].keys() | {"ZHANG"}
    for out in (name_cleaning.NOT_MAJORITY, name_cleaning.NOT_MINORITY):
        assert {name for part in out.values() for name in part.split()} <= known
