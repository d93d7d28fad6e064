from __future__ import annotations

from pathlib import Path

import original_abc
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import gendalens
from gendalens.data import abc, errata, sets
from gendalens.data.abc import FILES, Triple
from gendalens.data.errata import Erratum
from gendalens.data.registry import checksum, find_source
from gendalens.data.text import Span
from gendalens.errors import UserError

# Own sentences in the layout of the official files.
EVENTS = ["finder sin hat i skoven.", "fandt sin hat i skoven.", "solgte båden fra sit hjem"]


def three(sentence: str) -> list[str]:
    words = sentence.split()
    (place,) = (i for i, word in enumerate(words) if word in abc.FORMS)
    return [
        sentence,
        " ".join([*words[:place], "hans", *words[place + 1 :]]),
        " ".join([*words[:place], "hendes", *words[place + 1 :]]),
    ]


def write(folder: Path, female: list[str], male: list[str]) -> Path:
    for name, sentences in ((FILES["female"], female), (FILES["male"], male)):
        text = "\n---\n".join("\n".join(three(s)) for s in sentences)
        (folder / name).write_text(text, encoding="utf-8", newline="")
    return folder


def block(occupation: str, events: list[str] = EVENTS) -> list[str]:
    return [f"{occupation} {event}" for event in events]


def read(folder: Path, female: list[str], male: list[str]) -> list[Triple]:
    return abc.read(write(folder, female, male), errata=False)


def cut(text: str, span: Span) -> str:
    return text[span.start : span.end]


def test_a_triple_gives_three_sentences_their_pronouns_and_the_subject(tmp_path: Path) -> None:
    triple = read(tmp_path, block("æggehandleren"), block("smeden"))[2]
    assert triple.reflexive == "Æggehandleren solgte båden fra sit hjem."
    assert triple.male == "Æggehandleren solgte båden fra hans hjem."
    assert triple.female == "Æggehandleren solgte båden fra hendes hjem."
    assert (triple.form, triple.tense, triple.template) == ("sit", "past", 3)
    assert (triple.occupation, triple.occupation_class) == ("æggehandleren", "female")
    assert cut(triple.male, triple.subject) == "Æggehandleren"
    assert cut(triple.reflexive, triple.reflexive_span) == "sit"
    assert cut(triple.male, triple.male_span) == "hans"
    assert cut(triple.female, triple.female_span) == "hendes"


def test_both_tenses_of_an_event_are_one_frame_whatever_their_order(tmp_path: Path) -> None:
    triples = read(tmp_path, block("væveren"), block("smeden", EVENTS[::-1]))
    assert [t.frame for t in triples] == [1, 1, 2, 2, 1, 1]
    assert [t.tense for t in triples] == ["present", "past", "past", "past", "past", "present"]


def test_a_strong_past_that_ends_in_r_is_a_past(tmp_path: Path) -> None:
    events = ["bar sin hat i skoven.", "bærer sin hat i skoven."]
    triples = read(tmp_path, block("væveren", events), block("smeden", events))
    assert [t.tense for t in triples[:2]] == ["past", "present"]


def test_a_triple_that_occurs_twice_is_read_once_but_raw_has_it_twice(tmp_path: Path) -> None:
    events = [*EVENTS, EVENTS[0]]
    triples = read(tmp_path, block("væveren", events), block("smeden"))
    assert len(triples) == 6
    raw = abc.read_raw(tmp_path)
    assert [len(raw["female"]), len(raw["male"])] == [4, 3]
    assert raw["female"][3] == raw["female"][0]


def test_templates_count_within_the_block_of_an_occupation(tmp_path: Path) -> None:
    triples = read(tmp_path, block("væveren") + block("piloten"), block("smeden"))
    assert [t.template for t in triples] == [1, 2, 3] * 3


def test_raw_sentences_are_as_in_the_file(tmp_path: Path) -> None:
    raw = abc.read_raw(write(tmp_path, block("væveren"), block("smeden")))
    assert raw["male"][2] == (
        "smeden solgte båden fra sit hjem",
        "smeden solgte båden fra hans hjem",
        "smeden solgte båden fra hendes hjem",
    )


def test_two_sentences_of_one_event_and_tense_are_refused(tmp_path: Path) -> None:
    events = ["finder sin hat i skoven.", "mister sin hat i skoven."]
    with pytest.raises(UserError, match="line 5: a second present tense of the same event"):
        read(tmp_path, block("væveren", events), block("smeden"))


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "three sentences"),
        ("smeden finder sin hat", 2, "three sentences"),
        ("smeden finder sin hat\n---\n", 2, "three sentences"),
        ("smeden finder en hat\nsmeden finder hans hat\nsmeden finder hendes hat", 1, "one of"),
        ("smeden sin hat\nsmeden hans hat\nsmeden hendes hat", 1, "the verb must follow"),
        ("smeden finder sin hat\nsmeden finder hans hat\nsmeden finder hans hat", 3, "hendes"),
        ("smeden finder sin hat\nsmeden mister hans hat\nsmeden finder hendes hat", 2, "hans"),
    ],
)
def test_a_broken_group_is_named_with_its_line(
    tmp_path: Path, text: str, line: int, reason: str
) -> None:
    write(tmp_path, block("væveren"), block("smeden"))
    (tmp_path / FILES["male"]).write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=rf"{FILES['male']}, line {line}: .*{reason}"):
        abc.read(tmp_path, errata=False)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=FILES["female"]):
        abc.read(tmp_path, errata=False)


def test_an_erratum_concerns_all_sentences_of_a_triple(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fix = Erratum("abc", "male", (), "weak", "smedenen", "smeden", "own example")
    monkeypatch.setattr(errata, "find_errata", lambda _: (fix,))
    triple = abc.read(write(tmp_path, block("væveren"), block("smedenen")), errata=True)[3]
    assert triple.occupation == "smeden"
    assert (triple.reflexive, triple.male, triple.female) == (
        "Smeden finder sin hat i skoven.",
        "Smeden finder hans hat i skoven.",
        "Smeden finder hendes hat i skoven.",
    )


def test_official_errata_refuse_another_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="which the errata expect"):
        abc.read(write(tmp_path, block("væveren"), block("smeden")), errata=True)


PIECES = st.sampled_from(
    ["smeden", "finder", "sin", "sit", "hans", "hendes", " ", "\n", "---", ".", "ß", "\x1c", "-"]
)


#: Groups that are often sound, but for a word, a line or a rule.
GROUPS = st.lists(
    st.sampled_from(
        [
            "\n".join(three("smeden finder sin hat.")),
            "\n".join(three("smeden fandt sin hat.")),
            "\n".join(three("smeden  sælger   sit hus")),
            "\n".join(three("Brandmanden var sine børn kær.")),
            "\n".join(three("smeden finder sin hat.")[:2]),
            "smeden finder sin hat.\nsmeden finder hans\tkat.\nsmeden finder hendes hat.",
        ]
    ),
    min_size=1,
    max_size=4,
).map("\n---\n".join)


def split_groups(data: bytes) -> list[tuple[str, ...]] | None:
    """The groups of three lines between rules; None if that is not what the file is made of."""
    try:
        lines = data.decode().replace("\r\n", "\n").removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        return None
    groups: list[list[str]] = [[]]
    for line in lines if data else []:
        if line.startswith("---"):
            groups.append([])
        else:
            groups[-1].append(line.strip())
    is_sound = all(len(group) == 3 and all(group) for group in groups)
    return [tuple(group) for group in groups] if is_sound else None


def clean(sentence: str) -> str:
    text = " ".join(sentence.split())
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")


def read_or_refuse(folder: Path) -> list[Triple] | str:
    """The triples, or why there are none."""
    try:
        return abc.read(folder, errata=False)
    except UserError as error:
        return str(error)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=60), GROUPS))
@example("\n".join(three("smeden finder sin hat.")))
def test_any_file_is_read_as_it_stands_or_refused(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = write(tmp_path_factory.mktemp("any"), block("væveren"), [])
    data = text.encode("utf-8", "surrogatepass")
    (folder / FILES["male"]).write_bytes(data)
    groups = split_groups(data)
    if groups is None:
        with pytest.raises(UserError, match=FILES["male"]):
            abc.read_raw(folder)
        return
    assert abc.read_raw(folder)["male"] == groups
    triples = read_or_refuse(folder)
    if isinstance(triples, str):
        assert FILES["male"] in triples
        return
    read_back = [(one.reflexive, one.male, one.female) for one in triples]
    # Each triple once, women's occupations first.
    own = dict.fromkeys(tuple(map(clean, group)) for group in groups)
    assert read_back == [*(tuple(map(clean, three(one))) for one in block("væveren")), *own]


@settings(deadline=None, derandomize=True, max_examples=100)
@given(
    words=st.lists(st.sampled_from(["finder", "ß", ".", "i", "øl", "sins", "hus."]), max_size=6),
    place=st.integers(0, 6),
    form=st.sampled_from(abc.FORMS),
)
def test_whatever_is_read_has_right_offsets(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], place: int, form: str
) -> None:
    sentence = " ".join(["smeden", *words[:place], form, *words[place:]])
    folder = tmp_path_factory.mktemp("offsets")
    try:
        triple = read(folder, [sentence.replace("smeden", "væveren")], [sentence])[1]
    except UserError:
        assert len(words) == 0 or place == 0
        return
    assert cut(triple.reflexive, triple.reflexive_span) == form == triple.form
    assert cut(triple.male, triple.male_span) == "hans"
    assert cut(triple.female, triple.female_span) == "hendes"
    assert cut(triple.reflexive, triple.subject) == "Smeden"


def test_the_first_version_is_one_file_with_occupations_of_its_own(tmp_path: Path) -> None:
    path = original_abc.write(tmp_path / "coref_lm.da")
    source = find_source("abc", override=path)
    assert (source.whose, source.origin) == ("own", "the user's own file")
    assert source.checksum == checksum("abc", override=path)
    found = sets.read_triples(source)
    assert len(found) == 9 * 6  # one template of seven occurs twice
    classes = {triple.occupation: triple.occupation_class for triple in found}
    assert {name for name, one in classes.items() if one is None} == set(original_abc.UNCLASSED)
    assert {name for name, one in classes.items() if one == "male"} == set(original_abc.MALE)
    assert len({triple.frame for triple in found}) == 3
    texts = {triple.male for triple in found}
    assert "Elektrikeren finder hans kort på gulvet." in texts
    assert "Drageflyveren redte hans senge på loftet." in texts
    with pytest.raises(UserError, match=r"single file, and protocol 1 reads a file for each class"):
        sets.read_raw_triples(source)


def test_a_missing_file_of_abc_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"no\.da does not exist: .* a single file like coref_lm\.da"
    ):
        find_source("abc", override=tmp_path / "no.da")


def test_an_occupation_that_the_official_set_misspells_has_its_class(tmp_path: Path) -> None:
    path = tmp_path / "coref_lm.da"
    lines = [f"jordmoderen maler {word} stol." for word in ("sin", "hans", "hendes")]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert [t.occupation_class for t in abc.read_single_file(path)] == ["female"]


@pytest.mark.parametrize("test", ["lm-abc", "coref-abc", "chat-abc"])
def test_a_test_without_any_class_is_measured_by_its_main_effect(test: str, tmp_path: Path) -> None:
    path = original_abc.write(tmp_path / "coref_lm.da")
    text = path.read_text(encoding="utf-8")
    for place, name in enumerate((*original_abc.FEMALE, *original_abc.MALE)):
        text = text.replace(name, f"fag{'abcdef'[place]}en")
    path.write_text(text, encoding="utf-8")
    model = "control:male-default?strength=0.9"
    (result,) = gendalens.run(model, tasks=[test], data={"abc": path})
    assert result.gap.value is not None
    assert result.gap.value > 0
    assert result.contrast.value is None
    assert result.coverage["occupations_without_a_class"] == 9
