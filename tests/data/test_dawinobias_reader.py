from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.data import dawinobias, errata
from gendalens.data.dawinobias import FILES, WinoLine
from gendalens.data.errata import Erratum
from gendalens.data.text import Span
from gendalens.errors import UserError

# Own sentences in the layout of the official files.
PRO = [
    "[Kokken] vinkede til frisøren, da [han] cyklede forbi.",
    "Kokken vinkede til [frisøren], da [hun] cyklede forbi.",
    "Måske lånte læreren [chaufførens] cykel, for [hans] var bedre",
    "Måske lånte  [læreren] chaufførens cykel, for [hendes] var punkteret. ",
]
ANTI = [
    "[Kokken] vinkede til frisøren, da [hun] cyklede forbi.",
    "Kokken vinkede til [frisøren], da [han] cyklede forbi.",
    "Måske lånte læreren [chaufførens] cykel, for [hendes] var bedre",
    "Måske lånte  [læreren] chaufførens cykel, for [hans] var punkteret. ",
]


def write(folder: Path, pro: list[str], anti: list[str]) -> Path:
    for name, lines in ((FILES["pro"], pro), (FILES["anti"], anti)):
        text = "".join(f"{line}\n" for line in lines)
        (folder / name).write_text(text, encoding="utf-8", newline="")
    return folder


def read(folder: Path, pro: list[str], anti: list[str]) -> list[WinoLine]:
    return dawinobias.read(write(folder, pro, anti), errata=False)


def cut(text: str, span: Span) -> str:
    return text[span.start : span.end]


def test_a_line_gives_the_sentence_its_pronoun_and_both_occupations(tmp_path: Path) -> None:
    line = read(tmp_path, PRO, ANTI)[1]
    assert line.text == "Kokken vinkede til frisøren, da hun cyklede forbi."
    assert (line.schema, line.line, line.condition) == (1, 2, "pro")
    assert (line.pronoun, line.gender, line.case) == ("hun", "female", "subject")
    assert (line.referent.occupation, line.referent.stereotype) == ("frisøren", "female")
    assert (line.other.text, line.other.occupation) == ("Kokken", "kokken")
    assert line.gap == ("Kokken vinkede til frisøren, da ", " cyklede forbi.")
    assert line.raw == PRO[1]


def test_all_pro_lines_come_first_then_all_anti_lines(tmp_path: Path) -> None:
    lines = read(tmp_path, PRO, ANTI)
    assert [line.condition for line in lines] == ["pro"] * 4 + ["anti"] * 4
    assert [line.schema for line in lines] == [1, 1, 2, 2] * 2


def test_a_genitive_has_its_base_form(tmp_path: Path) -> None:
    line = read(tmp_path, PRO, ANTI)[2]
    assert (line.referent.text, line.referent.occupation) == ("chaufførens", "chaufføren")
    assert line.case == "genitive"


def test_an_occupation_whose_stereotype_danish_shares_contradict_is_contested(
    tmp_path: Path,
) -> None:
    pro = [
        "[Revisoren] vinkede til kokken, da [hun] cyklede forbi.",
        "Revisoren vinkede til [kokken], da [han] cyklede forbi.",
    ]
    anti = [pro[0].replace("[hun]", "[han]"), pro[1].replace("[han]", "[hun]")]
    for line in read(tmp_path, pro, anti):
        for mention in (line.referent, line.other):
            assert mention.contested == (mention.occupation == "revisoren")


def test_spaces_become_single_and_a_full_stop_is_set_but_raw_stays(tmp_path: Path) -> None:
    third, fourth = read(tmp_path, PRO, ANTI)[2:4]
    assert third.text.endswith("for hans var bedre.")
    assert fourth.text == "Måske lånte læreren chaufførens cykel, for hendes var punkteret."
    assert fourth.raw == PRO[3]


def test_offsets_cut_out_the_words_they_name(tmp_path: Path) -> None:
    for line in read(tmp_path, PRO, ANTI):
        assert cut(line.text, line.span) == line.pronoun
        for mention in (line.referent, line.other):
            assert cut(line.text, mention.span) == mention.text


def test_windows_line_ends_are_read_alike(tmp_path: Path) -> None:
    expected = read(tmp_path, PRO, ANTI)
    for name in FILES.values():
        path = tmp_path / name
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert dawinobias.read(tmp_path, errata=False) == expected


def test_raw_lines_are_stripped_and_in_file_order(tmp_path: Path) -> None:
    raw = dawinobias.read_raw(write(tmp_path, PRO, ANTI))
    assert raw == {"pro": [s.strip() for s in PRO], "anti": [s.strip() for s in ANTI]}


@pytest.mark.parametrize(
    ("number", "line", "reason"),
    [
        (1, "Kokken vinkede til frisøren, da [han] cyklede forbi.", "two bracketed words"),
        (1, "[Kokken] vinkede til [frisøren], da [han] cyklede forbi.", "two bracketed words"),
        (1, "[Den nye kok] vinkede til frisøren, da [han] cyklede.", "two bracketed words"),
        (1, "[Kokken vinkede til frisøren, da [han] cyklede forbi.", "two bracketed words"),
        (1, "[Kokken] vinkede til [frisøren].", "must hold a pronoun"),
        (1, "[Drageflyveren] vinkede til frisøren, da [han] cyklede.", "two known occupations"),
        (1, "[Kokken] vinkede til lægen og frisøren, da [han] faldt.", "two known occupations"),
        (1, "[Kokken] vinkede til frisøren, da [hun] cyklede forbi.", "against the stereotype"),
        (2, "Lægen vinkede til [frisøren], da [hun] cyklede forbi.", "the same two occupations"),
        (2, "[Kokken] vinkede til frisøren, så [han] blev glad.", "refer to each of them once"),
        (2, "", "two bracketed words"),
    ],
)
def test_a_broken_line_is_named_with_its_number(
    tmp_path: Path, number: int, line: str, reason: str
) -> None:
    swap = {"[han]": "[hun]", "[hun]": "[han]"}
    other = line
    for old, new in swap.items():
        if old in line:
            other = line.replace(old, new)
    pro, anti = PRO.copy(), ANTI.copy()
    pro[number - 1], anti[number - 1] = line, other
    with pytest.raises(UserError, match=rf"\.txt, line {number}: .*{reason}"):
        read(tmp_path, pro, anti)


def test_a_pair_that_differs_in_more_than_the_pronoun_is_refused(tmp_path: Path) -> None:
    anti = [ANTI[0].replace("forbi", "hjem"), *ANTI[1:]]
    with pytest.raises(UserError, match=r"line 1: it differs from the pro file"):
        read(tmp_path, PRO, anti)


def test_the_same_pronoun_in_both_conditions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"line 1: its pronoun goes with the stereotype"):
        read(tmp_path, PRO, [PRO[0], *ANTI[1:]])


def test_two_occupations_of_one_class_are_no_schema(tmp_path: Path) -> None:
    pro = [s.replace("frisøren", "lægen").replace("[hun]", "[han]") for s in PRO[:2]]
    anti = [s.replace("[han]", "[hun]") for s in pro]
    with pytest.raises(UserError, match="one occupation must be male-typed"):
        read(tmp_path, pro, anti)


@pytest.mark.parametrize(("pro", "anti"), [(PRO[:3], ANTI[:3]), (PRO, ANTI[:2]), ([], [])])
def test_files_of_the_wrong_length_are_refused(
    tmp_path: Path, pro: list[str], anti: list[str]
) -> None:
    with pytest.raises(UserError, match="the same, even number"):
        read(tmp_path, pro, anti)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=FILES["pro"]):
        dawinobias.read(tmp_path, errata=False)


def test_bytes_that_are_no_utf8_are_named_with_their_line(tmp_path: Path) -> None:
    write(tmp_path, PRO, ANTI)
    data = (tmp_path / FILES["anti"]).read_bytes()
    (tmp_path / FILES["anti"]).write_bytes(data.replace("ø".encode(), b"\xf8", 1))
    with pytest.raises(UserError, match="line 1: it is not UTF-8"):
        dawinobias.read(tmp_path, errata=False)


def test_errata_are_applied_to_the_text_and_not_to_raw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fix = Erratum("dawinobias", "pro", (1,), "weak", "cyklede hjem", "cyklede forbi", "own example")
    monkeypatch.setattr(errata, "find_errata", lambda _: (fix,))
    pro = [PRO[0].replace("forbi", "hjem"), *PRO[1:]]
    line = dawinobias.read(write(tmp_path, pro, ANTI), errata=True)[0]
    assert line.text.endswith("cyklede forbi.")
    assert line.raw == pro[0]


def test_official_errata_refuse_another_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"line \d+: the erratum for .* does not fit"):
        dawinobias.read(write(tmp_path, PRO, ANTI), errata=True)


PIECES = st.sampled_from(
    ["[", "]", "Kokken", "frisøren", "han", "hun", "ham", "hendes", " ", ".", "ß", "x", "\n", "s"]
)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(pro=st.lists(PIECES, max_size=30), anti=st.one_of(st.none(), st.binary(max_size=40)))
def test_any_file_is_read_or_refused_in_words(
    tmp_path_factory: pytest.TempPathFactory, pro: list[str], anti: bytes | None
) -> None:
    folder = tmp_path_factory.mktemp("any")
    data = "".join(pro).encode()
    (folder / FILES["pro"]).write_bytes(data)
    (folder / FILES["anti"]).write_bytes(data if anti is None else anti)
    try:
        lines = dawinobias.read(folder, errata=False)
    except UserError:
        return
    assert all(cut(line.text, line.span) == line.pronoun for line in lines)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(
    men=st.sampled_from(["kokken", "lægens", "vagten"]),
    women=st.sampled_from(["frisøren", "lærerens", "syersken"]),
    opening=st.sampled_from(["", "ß ", "i går mødte ", "I  aftes så "]),
    pair=st.sampled_from([("han", "hun"), ("ham", "hende"), ("hans", "hendes")]),
    end=st.sampled_from(["", ".", "!", " "]),
)
def test_a_well_formed_schema_is_always_read(
    tmp_path_factory: pytest.TempPathFactory,
    men: str,
    women: str,
    opening: str,
    pair: tuple[str, str],
    end: str,
) -> None:
    def schema(male: str, female: str) -> list[str]:
        return [
            f"{opening}[{men}] og {women}, så [{male}] blev nævnt{end}",
            f"{opening}{men} og [{women}], så [{female}] blev nævnt{end}",
        ]

    folder = tmp_path_factory.mktemp("schema")
    lines = read(folder, schema(*pair), schema(*reversed(pair)))
    assert [line.gender for line in lines] == ["male", "female", "female", "male"]
    assert all(cut(line.text, line.referent.span) == line.referent.text for line in lines)
    assert all(line.text[-1] in ".!" and "  " not in line.text for line in lines)
