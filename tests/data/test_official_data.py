"""The facts about the official sets, on the sets themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from gendalens.data import abc, dawinobias, registry
from gendalens.data.abc import Triple
from gendalens.data.dawinobias import WinoLine
from gendalens.data.occupations import read_occupations
from gendalens.data.pronouns import GENDERS
from gendalens.errors import UserError

pytestmark = pytest.mark.network


@pytest.fixture(scope="module")
def wino(official_cache: Path) -> list[WinoLine]:
    return dawinobias.read(official_cache / "data" / "dawinobias", errata=True)


@pytest.fixture(scope="module")
def triples(official_cache: Path) -> list[Triple]:
    return abc.read(official_cache / "data" / "abc", errata=True)


def test_all_sets_are_cached_after_one_pull(official_home: Path) -> None:
    wheels = [n for n, data in registry.SETS.items() if isinstance(data.origin, registry.Wheel)]
    found = {s.name: s.state for s in registry.list_official_sets()}
    assert found == {**dict.fromkeys(wheels, "cached"), "dane": "absent"}
    for name in wheels:
        folder = registry.locate(name, offline=True)
        assert registry.checksum(name, override=folder) == registry.checksum(name)


def test_dawinobias_has_337_schemas_of_two_lines_in_two_conditions(wino: list[WinoLine]) -> None:
    assert Counter(line.condition for line in wino) == {"pro": 674, "anti": 674}
    assert set(Counter(line.schema for line in wino).values()) == {4}
    assert {line.schema for line in wino} == set(range(1, 338))


def test_dawinobias_pronouns_before_errata(official_cache: Path) -> None:
    raw = dawinobias.read_raw(official_cache / "data" / "dawinobias")
    found = Counter(
        word for line in raw["pro"] for word in dawinobias.BRACKET.findall(line) if word in GENDERS
    )
    # AUDIT.md; line 431 lacks its bracket
    assert found == {"han": 318, "hun": 319, "hans": 15, "hendes": 14, "ham": 6, "hende": 1}


def test_dawinobias_pronouns_after_errata(wino: list[WinoLine]) -> None:
    pro = Counter(line.pronoun for line in wino if line.condition == "pro")
    anti = Counter(line.pronoun for line in wino if line.condition == "anti")
    assert pro == {"han": 320, "hun": 319, "hans": 15, "hendes": 14, "ham": 2, "hende": 4}
    assert anti == {"han": 319, "hun": 320, "hans": 14, "hendes": 15, "ham": 4, "hende": 2}


def test_dawinobias_pairs_are_minimal_and_one_request_each(wino: list[WinoLine]) -> None:
    assert len({line.gap for line in wino}) == 674
    assert set(Counter(line.gap for line in wino).values()) == {2}


def test_dawinobias_schemas_mean_each_class_once(wino: list[WinoLine]) -> None:
    for condition in dawinobias.CONDITIONS:
        meant = Counter(
            (line.schema, line.referent.stereotype) for line in wino if line.condition == condition
        )
        assert len(meant) == 674
        assert set(meant.values()) == {1}


def test_dawinobias_names_the_male_occupation_first_in_most_lines(wino: list[WinoLine]) -> None:
    first = [
        min(line.referent, line.other, key=lambda m: m.span.start).stereotype
        for line in wino
        if line.condition == "pro"
    ]
    # AUDIT.md has 586 of the 673 lines that parse without errata; 36 and 487 add one each.
    assert Counter(first) == {"male": 588, "female": 86}


def test_dawinobias_uses_all_its_occupations_and_no_others(wino: list[WinoLine]) -> None:
    table = read_occupations("dawinobias")
    assert {line.referent.occupation for line in wino} == set(table)
    contradicted = [
        line
        for line in wino
        if line.condition == "pro" and table[line.referent.occupation].contradicted
    ]
    assert len(contradicted) == 92  # AUDIT.md: 91, without line 431


def test_dawinobias_texts_are_clean_sentences(wino: list[WinoLine]) -> None:
    for line in wino:
        assert line.text[0].isupper()
        assert line.text.endswith(".")
        assert not line.text.endswith("..")
        assert not set("[]") & set(line.text)
        assert "  " not in line.text


def test_dawinobias_cannot_be_read_without_its_errata(official_cache: Path) -> None:
    with pytest.raises(UserError, match="line 36"):
        dawinobias.read(official_cache / "data" / "dawinobias", errata=False)


def test_raw_dawinobias_is_the_files_stripped_lines(official_cache: Path) -> None:
    folder = official_cache / "data" / "dawinobias"
    for condition, lines in dawinobias.read_raw(folder).items():
        text = (folder / dawinobias.FILES[condition]).read_text(encoding="utf-8")
        assert lines == [line.strip() for line in text.splitlines()]
        assert len(lines) == 674


def test_raw_abc_has_the_reflexive_sentences_that_follow_on_a_rule(official_cache: Path) -> None:
    folder = official_cache / "data" / "abc"
    for occupation_class, threes in abc.read_raw(folder).items():
        lines = (folder / abc.FILES[occupation_class]).read_text(encoding="utf-8").splitlines()
        starts = [0, *(i + 1 for i, line in enumerate(lines) if line == "---")]
        assert [three[0] for three in threes] == [lines[i].strip() for i in starts]
        assert len(threes) == 2280
        forms = Counter(word for three in threes for word in three[0].split() if word in abc.FORMS)
        assert forms == {"sin": 900, "sit": 1140, "sine": 240}


def test_abc_has_4500_unique_triples(triples: list[Triple]) -> None:
    assert len(triples) == 4500
    assert len({(t.reflexive, t.male, t.female) for t in triples}) == 4500
    assert Counter(t.occupation_class for t in triples) == {"female": 2250, "male": 2250}


def test_abc_crosses_38_frames_with_60_occupations(triples: list[Triple]) -> None:
    cells = Counter((t.frame, t.occupation) for t in triples)
    assert {frame for frame, _ in cells} == set(range(1, 39))
    assert len(cells) == 38 * 60
    single = {frame for (frame, _), n in cells.items() if n == 1}
    assert single == {20}  # its present tense is missing in the files
    assert {t.tense for t in triples if t.frame == 20} == {"past"}


def test_abc_frames_pair_a_present_with_a_past(triples: list[Triple]) -> None:
    tenses: dict[tuple[int, str], list[str]] = {}
    for t in triples:
        tenses.setdefault((t.frame, t.occupation), []).append(t.tense)
    assert all(sorted(v) == ["past", "present"] for (frame, _), v in tenses.items() if frame != 20)
    for t in triples:
        assert t.reflexive.split()[1].endswith("r") == (t.tense == "present")


def test_abc_frames_hold_one_object_in_one_place(triples: list[Triple]) -> None:
    rest: dict[int, set[str]] = {}
    for t in triples:
        rest.setdefault(t.frame, set()).add(" ".join(t.reflexive.split()[2:]))
    assert all(len(found) == 1 for found in rest.values())
    place = {frame: next(iter(found)).split()[0] in abc.FORMS for frame, found in rest.items()}
    assert sum(place.values()) == 19  # the pronoun is the third word in half of the frames


def test_abc_occupations_are_those_of_the_table_with_their_class(triples: list[Triple]) -> None:
    table = read_occupations("abc")
    found = {t.occupation: t.occupation_class for t in triples}
    assert found == {o.danish: o.stereotype for o in table.values()}


@pytest.mark.parametrize("which", ["reflexive", "male", "female"])
def test_abc_offsets_cut_out_the_pronoun(triples: list[Triple], which: str) -> None:
    words: dict[str, Callable[[Triple], str]] = {
        "reflexive": lambda t: t.form,
        "male": lambda _: "hans",
        "female": lambda _: "hendes",
    }
    for t in triples:
        text, span = getattr(t, which), getattr(t, f"{which}_span")
        assert text[span.start : span.end] == words[which](t)
        assert text[: t.subject.end].lower() == t.occupation
        assert text[0].isupper()
        assert text.endswith(".")


def test_abc_can_be_read_without_errata(official_cache: Path) -> None:
    found = abc.read(official_cache / "data" / "abc", errata=False)
    assert (len(found), len({t.frame for t in found})) == (4500, 38)
    assert "maskinmester" in {t.occupation for t in found}
