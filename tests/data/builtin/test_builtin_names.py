"""The built-in name lists, and the pools that are drawn from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gendalens.data.builtin import names
from gendalens.data.names import GROUPS, UNISEX, Group
from gendalens.errors import UserError

ROWS = names.read()


def test_names_of_other_origins_are_not_the_majority_s() -> None:
    majority = {row.name for row in ROWS if row.origin == "majority"}
    assert not majority & {"Ayse", "Emine", "Hatice", "Thi", "Nguyen", "Yilmaz", "Ngoc", "Ali"}
    assert {"Anne", "Søren", "Hansen", "Anne-Marie", "Ørsted"} <= majority


def test_top_is_the_most_common_of_the_majority_and_all_of_the_minority() -> None:
    found = names.read_pools("top")
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
    found = names.read_pools("matched")
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
        ("name,bearers\n", "line 1: its columns must be part"),
        ("part,origin,gender,name,bearers\nfirst,majority\n", "line 2: it has 2 columns"),
        ("part,origin,gender,name,bearers\nfirst,x,male,Bo,9\n", "line 2: its part, origin"),
        ("part,origin,gender,name,bearers\nfirst,majority,male,Bo,x\n", "“x” is not a number"),
        ("part,origin,gender,name,bearers\nfirst,majority,male,Bo,9\n", "without names"),
    ],
)
def test_a_broken_list_is_reported(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        names.read_pools("top", path)


def test_there_is_no_other_way_to_draw() -> None:
    with pytest.raises(UserError, match="choose one of top, matched, all, all-by-bearers"):
        names.read_pools("some")  # type: ignore[arg-type]


def test_all_names_are_more_than_the_most_common_ones() -> None:
    top, every = (names.read_pools(how)[Group("majority", "female")] for how in ("top", "all"))
    assert len(top.first) == len(top.last) == 500
    assert (len(every.first), len(every.last)) == (577, 1148)
    assert every.first.names[:500] == top.first.names


def test_a_bare_name_is_a_surname_if_more_people_bear_it_as_one() -> None:
    bare = ("Krogh", "Kromann", "Mette", "Steen", "Bjørn", "Zappa")
    assert names.find_surnames(bare) == {"Krogh", "Kromann"}
