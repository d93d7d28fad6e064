from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from gendalens.data import name_lists
from gendalens.data.builtin import names
from gendalens.data.builtin.names import Row
from gendalens.data.names import GROUPS, UNISEX
from gendalens.errors import UserError
from tools.builtin_sets import name_cleaning
from tools.builtin_sets.ner_validator import name_problems

CARD = Path(__file__).resolve().parents[2] / "docs" / "builtin-ner.md"
ROWS = names.read()
FIRST = Row("first", "majority", "female", "Anne", 44143)
LAST = Row("last", "majority", "both", "Nielsen", 232807)


def test_the_shipped_names_have_no_problem_and_are_small() -> None:
    assert name_problems(ROWS) == []
    assert names.FILE.stat().st_size < 200_000


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([replace(FIRST, name="ANNE")], "capitals are wrong"),
        ([replace(FIRST, name="000")], "no name"),
        ([replace(FIRST, bearers=0)], "0 bearers"),
        ([FIRST, replace(FIRST, gender="male")], "2 times among the first names"),
        ([LAST, replace(LAST, origin="minority")], "2 times among the last names"),
        ([replace(LAST, gender="female")], "a surname is of both genders"),
        ([replace(FIRST, bearers=10), replace(FIRST, name="Mette")], "order"),
    ],
)
def test_a_planted_defect_is_found(rows: list[Row], message: str) -> None:
    assert any(message in problem for problem in name_problems(rows))
    assert name_problems([FIRST, LAST]) == []


def test_names_of_other_origins_are_not_the_majority_s() -> None:
    majority = {row.name for row in ROWS if row.origin == "majority"}
    assert not majority & {"Ayse", "Emine", "Hatice", "Thi", "Nguyen", "Yilmaz", "Ngoc", "Ali"}
    assert {"Anne", "Søren", "Hansen", "Anne-Marie", "Ørsted"} <= majority


def test_top_is_the_most_common_of_the_majority_and_all_of_the_minority() -> None:
    found = names.pools("top")
    sizes = {str(g): (len(pool.first), len(pool.last)) for g, pool in found.items()}
    assert sizes == {
        "majority female": (500, 500),
        "majority male": (500, 500),
        "minority female": (358, 397),
        "minority male": (377, 397),
        "majority unisex": (13, 500),
    }
    assert [name.text for name in found[GROUPS[0]].first.names[:2]] == ["Anne", "Mette"]
    assert found[GROUPS[0]].last == found[GROUPS[1]].last == found[UNISEX].last


def test_matched_names_are_equally_common_and_long_in_all_groups() -> None:
    found = names.pools("matched")
    firsts = [found[group].first for group in GROUPS]
    assert [len(first) for first in firsts] == [194, 228, 292, 279]
    assert [len(found[group].last) for group in GROUPS] == [784, 784, 111, 111]
    assert len({first.weights for first in firsts}) == 1
    assert [f.mean_length for f in firsts] == pytest.approx([firsts[0].mean_length] * 4)
    for strata in zip(*(first.strata for first in firsts), strict=True):
        cell = [name for stratum in strata for name in stratum]
        assert max(name.bearers for name in cell) < 2 * min(name.bearers for name in cell)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,bearers\n", "line 1: its columns should be part"),
        ("part,origin,gender,name,bearers\nfirst,majority\n", "line 2: it has 2 columns"),
        ("part,origin,gender,name,bearers\nfirst,x,male,Bo,9\n", "line 2: its part, origin"),
        ("part,origin,gender,name,bearers\nfirst,majority,male,Bo,x\n", "“x” is no number"),
        ("part,origin,gender,name,bearers\nfirst,majority,male,Bo,9\n", "without names"),
    ],
)
def test_a_broken_list_is_reported(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        names.pools("top", path)


def test_there_is_no_third_way_to_draw() -> None:
    with pytest.raises(UserError, match="choose one of top, matched"):
        names.pools("all")  # type: ignore[arg-type]


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
    assert name_cleaning.cleaned(lists) == ROWS
    # Every name that is left out by hand stands in the lists: the reading was of these.
    known = {name for listed in lists.listed.values() for name in listed}
    known |= lists.first["female"].keys() & lists.first["male"].keys() | {"ZHANG"}
    for out in (name_cleaning.NOT_MAJORITY, name_cleaning.NOT_MINORITY):
        assert {name for part in out.values() for name in part.split()} <= known
