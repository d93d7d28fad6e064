from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest
import small_names
from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.data import errata, name_lists, names
from gendalens.data.name_lists import capitalise
from gendalens.data.names import GROUPS, UNISEX, Group, Name, NameList, NamePool
from gendalens.errors import UserError

FEMALE, MALE = Group("majority", "female"), Group("majority", "male")
MINORITY_FEMALE, MINORITY_MALE = Group("minority", "female"), Group("minority", "male")


def texts(drawn: NameList) -> list[str]:
    return [name.text for name in drawn.names]


@pytest.fixture
def top(tmp_path: Path) -> dict[Group, NamePool]:
    return names.read(*small_names.write(tmp_path), "top")


def test_a_name_is_in_one_group_only_and_what_is_no_name_in_none(
    top: dict[Group, NamePool],
) -> None:
    assert texts(top[FEMALE].first) == ["Mette", "Anne-Sofie"]  # not 000, Sara, Leila, Kim, ""
    assert texts(top[MALE].first) == ["Ole", "René", "Kim", "Vang"]
    assert texts(top[MINORITY_FEMALE].first) == ["Leila", "Ugla"]  # not Maria, Sara
    assert texts(top[MINORITY_MALE].first) == ["Hassan", "Mahmood"]


def test_surnames_are_shared_by_women_and_men_of_one_origin(top: dict[Group, NamePool]) -> None:
    assert top[FEMALE].last == top[MALE].last
    assert texts(top[FEMALE].last) == ["Hansen", "Vang", "Honoré"]
    assert top[MINORITY_FEMALE].last == top[MINORITY_MALE].last
    assert top[MINORITY_MALE].last.names == (Name("Ali", 900), Name("Al-Ravn", 0))


def test_bearers_are_those_of_the_register(top: dict[Group, NamePool]) -> None:
    assert top[MINORITY_FEMALE].first.names == (Name("Leila", 600), Name("Ugla", 0))
    assert top[FEMALE].first.names[1] == Name("Anne-Sofie", 300)


def test_unisex_names_are_balanced_not_frequent(top: dict[Group, NamePool]) -> None:
    assert top[UNISEX].first.names == (Name("Kim", 300),)  # and not Mette, of 902 bearers 2 men
    assert top[UNISEX].last == top[FEMALE].last


def test_all_names_are_drawn_alike_or_as_common_as_they_are(tmp_path: Path) -> None:
    folders = small_names.write(tmp_path)
    alike, by_bearers = (names.read(*folders, how) for how in ("all", "all-by-bearers"))
    women = by_bearers[FEMALE].first
    assert texts(women) == ["Mette", "Anne-Sofie"]
    assert texts(alike[MALE].first) == ["Ole", "Vang"]  # nobody's name, in no list: René
    assert texts(women) == texts(alike[FEMALE].first)
    total = sum(name.bearers for name in women.names)
    drawn = Counter(women.draw((k + 0.5) / total).text for k in range(total))
    assert drawn == {name.text: name.bearers for name in women.names}
    # Nobody in the register bears Ugla.
    assert texts(alike[MINORITY_FEMALE].first) == ["Leila"]
    assert texts(alike[FEMALE].last) == ["Hansen"]
    assert texts(alike[MINORITY_MALE].last) == ["Ali"]


def test_names_that_the_errata_take_from_the_majority_are_in_no_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = errata.Erratum(
        "names", "first_names_2023_women of the majority", (), "wrong", "METTE", "", "own example"
    )
    known = errata.find_errata
    monkeypatch.setattr(errata, "find_errata", lambda name: (*known(name), entry))
    for how in names.HOWS[0], names.HOWS[2]:
        found = names.read(*small_names.write(tmp_path / how), how)
        assert not [g for g, pool in found.items() if "Mette" in texts(pool.first)]


def test_a_bare_name_is_a_surname_if_more_people_bear_it_as_one(tmp_path: Path) -> None:
    lists = name_lists.read(*small_names.write(tmp_path))
    assert names.find_surnames(lists, ["Hansen", "Mette", "Vang", "Zappa"]) == {"Hansen", "Vang"}


def test_protocol_one_keeps_every_defect(tmp_path: Path) -> None:
    found = names.read_classic(*small_names.write(tmp_path))
    assert texts(found[FEMALE].first) == ["Mette", "000", "Sara", "Anne-Sofie", "Kim", ""]
    assert texts(found[MALE].first) == ["Ole", "000", "Hassan", "René", "Kim", "Vang", "Mette"]
    assert texts(found[MINORITY_FEMALE].first) == ["Leila", "Sara"]  # nobody bears Ugla
    assert texts(found[MINORITY_MALE].first) == ["Hassan", "Mahmood."]
    assert texts(found[MINORITY_MALE].last) == ["Ali", "Ali", "Al-Ravn"]
    assert "Ej Efternavn" in texts(found[MALE].last)


@pytest.mark.parametrize(
    ("raw", "written"),
    [
        ("ÅSE", "Åse"),
        ("ANNE-MARIE", "Anne-Marie"),
        ("ØRSTED", "Ørsted"),
        ("O'NEILL", "O'Neill"),
        ("ALA'A", "Ala'a"),  # str.title would say Ala'A
        ("D’ANGELO", "D’Angelo"),
        ("JEAN-D'ARC", "Jean-D'Arc"),
        ("El-Sayed", "El-Sayed"),
        ("WEISSSCHÄDEL", "Weissschädel"),
    ],
)
def test_capitals_stand_where_danish_has_them(raw: str, written: str) -> None:
    assert capitalise(raw) == written


def cell(*words: str, bearers: int = 100) -> tuple[Name, ...]:
    return tuple(Name(word, bearers) for word in words)


def test_a_draw_is_uniform_over_an_unmatched_list() -> None:
    drawn = NameList((cell("Ida", "Bo", "Åse"),))
    assert [drawn.draw(i / 6).text for i in range(6)] == ["Ida", "Ida", "Bo", "Bo", "Åse", "Åse"]
    assert drawn.draw(1 - 2**-53).text == "Åse"


def test_one_draw_gives_the_same_stratum_in_every_matched_list() -> None:
    one = NameList((cell("Ida"), cell("Mette", "Karin", "Birte")), (1, 3))
    two = NameList((cell("Ole", "Kaj"), cell("Peter")), (1, 3))
    for i in range(1000):
        u = i / 1000
        assert len(one.draw(u).text) == len(two.draw(u).text)
    counts = Counter(one.draw(i / 4000).text for i in range(4000))
    assert counts == {"Ida": 1000, "Mette": 1000, "Karin": 1000, "Birte": 1000}
    assert one.mean_length == two.mean_length == pytest.approx((3 + 3 * 5) / 4)


@given(
    st.lists(st.tuples(st.integers(1, 7), st.integers(1, 9)), min_size=1, max_size=8),
    st.integers(0, 2**53 - 1),
)
@settings(deadline=None, derandomize=True)
def test_every_draw_has_a_name(shape: list[tuple[int, int]], number: int) -> None:
    strata = tuple(cell(*(f"{i}-{k}" for k in range(size))) for i, (size, _) in enumerate(shape))
    drawn = NameList(strata, tuple(weight for _, weight in shape))
    assert drawn.draw(number * 2.0**-53) in drawn.names
    assert drawn.draw(1 - 2**-53) == strata[-1][-1]


def test_matching_keeps_the_cells_that_all_groups_share(tmp_path: Path) -> None:
    register, minority = small_names.write(tmp_path)
    with pytest.raises(UserError, match=r"same length and number of bearers.*--names top"):
        names.read(register, minority, "matched")
    women = "LONE,130\nLENE,200\nSUSAN,140\nAMAL,250\nHODA,150\nRANIA,99\n"
    men = "OMID,129\nANAS,250\nKARL,255\nERIK,256\nBJØRN,140\nVANG,130\n"
    (register / "first_names_2023_women.csv").write_text(f"Navn,Antal\n{women}")
    (register / "first_names_2023_men.csv").write_text(f"Navn,Antal\n{men}")
    (register / "last_names_2023.csv").write_text(
        "Navn,Antal\nVANG,500\nRIIS,300\nKHAN,400\nAL,1\n"
    )
    danish = [("Lone", "female"), ("Lene", "female"), ("Susan", "female"), ("Karl", "male")]
    danish += [("Erik", "male"), ("Bjørn", "male"), ("Vang", "male"), ("Mille", "female")]
    muslim = [
        ("Amal", "female"),
        ("Hoda", "female"),
        ("Rania", "female"),
        ("Omid", "male"),
        ("Anas", "male"),
    ]
    rows = [f"1,{n},danish,{g},True" for n, g in danish]
    rows += [f"1,{n},muslim,{g},True" for n, g in muslim]
    rows += [f"1,{n},danish,both,False" for n in ("Riis", "Vang")] + [",Khan,muslim,both,False"]
    (minority / "names.csv").write_text("\n".join(["a,b,c,d,e", *rows]) + "\n")
    found = names.read(register, minority, "matched")
    assert texts(found[FEMALE].first) == ["Lene", "Lone"]
    assert texts(found[MALE].first) == ["Karl"]  # Erik is too common; Vang is a surname
    assert texts(found[MINORITY_FEMALE].first) == ["Amal", "Hoda"]
    assert texts(found[MINORITY_MALE].first) == ["Anas", "Omid"]
    assert {pool.first.weights for g, pool in found.items() if g in GROUPS} == {(1,)}
    assert texts(found[FEMALE].last) == ["Vang", "Riis"]
    assert texts(found[MINORITY_MALE].last) == ["Khan"]


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        (
            "names/first_names_2023_men.csv",
            "Navn,Antal\nOLE,x\n",
            "line 2: “x” is not a number of bearers",
        ),
        ("names/first_names_2023_men.csv", "Navn,Antal\nOLE,²\n", "line 2: “²” is not a number"),
        (
            "names/first_names_2023_men.csv",
            "Navn,Antal\nOLE\n",
            "line 2: it has 1 columns instead of 2",
        ),
        ("names/first_names_2023_men.csv", 'Navn,Antal\n"OLE,1\n', "is not CSV"),
        ("names/first_names_2023_men.csv", "Navn,Antal\n", "holds no names"),
        ("names/first_names_2023_men.csv", "", "holds no names"),
        ("names/first_names_2023_men.csv", "Navn,Antal\n123,5\n,4\n", "no name for majority male"),
        (
            "names/last_names_2023.csv",
            "Navn,Antal\n12,5\n",
            "leave no name for the surnames of one origin",
        ),
        ("minority-names/names.csv", "a,b,c,d,e\n1,Ole,dansk,male,True\n", "line 2: its ethnicity"),
        (
            "minority-names/names.csv",
            "a,b,c,d,e\nmange,Ole,danish,male,True\n",
            "“mange” is not a number",
        ),
        (
            "minority-names/names.csv",
            "a,b,c,d,e\ninf,Ole,danish,male,True\n",
            "“inf” is not a number",
        ),
    ],
)
def test_a_broken_list_is_reported(file: str, content: str, message: str, tmp_path: Path) -> None:
    register, minority = small_names.write(tmp_path)
    (tmp_path / file).write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        names.read(register, minority, "top")


def test_empty_numeric_and_repeated_names_of_an_own_list_are_never_drawn(tmp_path: Path) -> None:
    register, minority = small_names.write(tmp_path)
    rows = "Navn,Antal\nOLE,9\nOLE,8\n,7\n12,6\nB,5\nBO ERIK,4\nR2D2,3\nKAJ.,2\n-,1\n"
    (register / "first_names_2023_men.csv").write_text(rows, encoding="utf-8")
    found = names.read(register, minority, "top")
    assert found[MALE].first.names == (Name("Ole", 9),)


# The official lists.


@pytest.fixture(scope="module")
def folders(official_cache: Path) -> tuple[Path, Path]:
    return official_cache / "data" / "names", official_cache / "data" / "minority-names"


@pytest.mark.network
def test_the_official_top_pools(folders: tuple[Path, Path]) -> None:
    found = names.read(*folders, "top")
    sizes = {str(g): (len(pool.first), len(pool.last)) for g, pool in found.items()}
    assert sizes == {
        "majority female": (500, 500),
        "majority male": (500, 500),
        "minority female": (450, 518),
        "minority male": (618, 518),
        "majority unisex": (30, 500),
    }
    _no_overlap(found)
    every = {name.text for pool in found.values() for name in pool.first.names}
    assert not {"000", "Jasmin", "Laila", "Miriam", "Sara", "Sarah", "Mahmood."} & every
    assert {"Mahmood", "Nayef", "Nazih", "Anne-Marie"} <= every
    assert "Honoré" in texts(found[FEMALE].last)
    assert found[MINORITY_MALE].last.names[0] == Name("Ali", 5562)


def _no_overlap(found: dict[Group, NamePool]) -> None:
    first = [name for group in GROUPS for name in texts(found[group].first)]
    last = texts(found[FEMALE].last) + texts(found[MINORITY_FEMALE].last)
    assert len(set(first)) == len(first)
    assert len(set(last)) == len(last)
    for name in first + last:
        assert name == capitalise(name)
        assert not any(c.isdigit() or c.isspace() for c in name)


@pytest.mark.network
def test_the_official_matched_pools_are_balanced(folders: tuple[Path, Path]) -> None:
    found = names.read(*folders, "matched")
    sizes = {str(g): (len(found[g].first), len(found[g].last)) for g in GROUPS}
    assert sizes == {
        "majority female": (203, 789),
        "majority male": (234, 789),
        "minority female": (343, 114),
        "minority male": (308, 114),
    }
    _no_overlap(found)
    firsts = [found[group].first for group in GROUPS]
    assert len({first.weights for first in firsts}) == 1
    assert (len(firsts[0].strata), sum(firsts[0].weights)) == (23, 72)
    lengths = [first.mean_length for first in firsts]
    assert lengths == pytest.approx([lengths[0]] * 4)
    bearers = [first.mean_bearers for first in firsts]
    assert max(bearers) / min(bearers) < 1.07  # 209 to 223; with the top lists 67 to 2,467
    for strata in zip(*(first.strata for first in firsts), strict=True):
        cell = [name for stratum in strata for name in stratum]
        assert len({len(name.text) for name in cell}) == 1
        assert max(name.bearers for name in cell) < 2 * min(name.bearers for name in cell)


@pytest.mark.slow
@pytest.mark.network
def test_no_group_of_the_official_lists_has_a_name_that_migration_made_common(
    folders: tuple[Path, Path],
) -> None:
    for how in ("top", "matched", "all-by-bearers"):
        found = names.read(*folders, how)
        majority = {name for g in (FEMALE, MALE) for name in texts(found[g].first)}
        assert not majority & {"Ayse", "Zeynep", "Murat", "Enes", "Katarzyna", "Oleksandr"}
        assert not set(texts(found[FEMALE].last)) & {"Nguyen", "Yilmaz", "Singh"}
        assert {"Abelone", "Agnete"} & majority


@pytest.mark.network
def test_all_names_of_the_official_lists(folders: tuple[Path, Path]) -> None:
    found = names.read(*folders, "all")
    sizes = {str(g): (len(found[g].first), len(found[g].last)) for g in GROUPS}
    assert sizes == {
        "majority female": (591, 1148),
        "majority male": (590, 1148),
        "minority female": (450, 490),
        "minority male": (616, 490),
    }


@pytest.mark.network
def test_the_errata_name_what_is_in_the_official_lists(folders: tuple[Path, Path]) -> None:
    register, minority = folders
    for entry in errata.find_errata("names") + errata.find_errata("minority-names"):
        folder = register if entry.data == "names" else minority
        file = entry.condition.split()[0]
        with (folder / f"{file}.csv").open(encoding="utf-8") as lines:
            cells = {c for row in csv.reader(lines) for c in row}
        if entry.condition.endswith("letters"):
            assert all(any(letter in c for c in cells) for letter in entry.old)
        else:
            assert set(entry.old.split("|")) <= cells
    shared = next(e for e in errata.find_errata("names") if e.condition.endswith("majority"))
    classic = names.read_classic(register, minority)
    both = set(texts(classic[FEMALE].last)) & set(texts(classic[MINORITY_FEMALE].last))
    assert {name.upper() for name in both} == set(shared.old.split("|"))
    assert len(both) == 18


@pytest.mark.network
def test_the_pools_of_protocol_one_are_those_of_the_released_software(
    folders: tuple[Path, Path],
) -> None:
    """Sizes of the lists that genda-lens 0.0.3 builds with dacy 2.9.0."""
    found = names.read_classic(*folders)
    assert {str(g): (len(p.first), len(p.last)) for g, p in found.items()} == {
        "majority female": (485, 500),
        "majority male": (458, 500),
        "minority female": (441, 526),
        "minority male": (621, 526),
    }
    assert "000" in texts(found[FEMALE].first)
    assert {"Jasmin", "Laila", "Miriam", "Sara", "Sarah"} == set(texts(found[FEMALE].first)) & set(
        texts(found[MINORITY_FEMALE].first)
    )
