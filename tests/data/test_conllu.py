from __future__ import annotations

from pathlib import Path

import pytest
import small_dane
from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.data import conllu
from gendalens.data.conllu import Sentence
from gendalens.data.text import Span, read_lines
from gendalens.errors import UserError

PATH = Path("eksempel.conllu")
HUND = small_dane.block("hund", small_dane.SENTENCES["hund"])


def cut(sentence: Sentence, label: str) -> list[str]:
    return [sentence.text[e.span.start : e.span.end] for e in sentence.entities if e.label == label]


def changed(line: int, text: str) -> list[str]:
    """The first sentence with one line (1-based) replaced."""
    return [*HUND[: line - 1], text, *HUND[line:]]


def row(form: str = "Mette", tag: str = "B-PER", key: str = "1", misc: str = "") -> str:
    return f"{key}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc or f'name={tag}'}"


def test_a_sentence_is_its_words_with_their_places_and_entities() -> None:
    found = small_dane.sentences()["bog"]
    assert found.text == "Søren Bergs bog udkom i Odense hos Æblet og, siger hun."
    assert cut(found, "PER") == ["Søren Bergs"]
    assert cut(found, "LOC") == ["Odense"]
    assert cut(found, "ORG") == ["Æblet og"]
    assert [found.text[t.span.start : t.span.end] for t in found.tokens] == [
        t.text for t in found.tokens
    ]
    assert found.entities[0].tokens == range(2)
    assert found.line == 10


def test_a_genitive_is_marked_by_its_case_or_by_its_apostrophe() -> None:
    words: list[small_dane.Word] = [
        ("Bergs", "O", "Case=Gen|Gender=Com"),
        ("Kaj's", "O"),
        ("H.'s", "O"),
        ("Lars'", "O"),
        ("Lars", "O"),
        ("O'Neill", "O"),
        ("'", "O"),
        ("hos", "O", "Case=Genitive"),
    ]
    (found,) = conllu.read(small_dane.block("x", words), PATH)
    assert [t.genitive for t in found.tokens] == [True] * 4 + [False] * 4


def test_entities_that_touch_are_two() -> None:
    words: list[small_dane.Word] = [
        ("Ida", "B-PER"),
        ("Bo", "B-PER"),
        ("Riis", "I-PER"),
        ("DR", "B-ORG"),
    ]
    (found,) = conllu.read(small_dane.block("x", words), PATH)
    assert [(e.label, e.tokens) for e in found.entities] == [
        ("PER", range(1)),
        ("PER", range(1, 3)),
        ("ORG", range(3, 4)),
    ]


def test_a_multiword_token_replaces_its_words_and_empty_nodes_are_left_out() -> None:
    lines = [
        "# text = Hos Idas sover.",
        row("Hos", "O"),
        "1.1\tder\t_\t_\t_\t_\t_\t_\t_\t_",
        row("Idas", key="2-3", misc="_"),
        row("Ida", "B-PER", "2"),
        row("s", "I-PER", "3"),
        row("sover", "O", "4", misc="name=O|SpaceAfter=No"),
        row(".", "O", "5"),
        "",
    ]
    (found,) = conllu.read(lines, PATH)
    assert [t.text for t in found.tokens] == ["Hos", "Idas", "sover", "."]
    assert cut(found, "PER") == ["Idas"]
    assert found.id == "1"


def test_the_text_comment_may_differ_in_white_space_only() -> None:
    (found,) = conllu.read(changed(2, "# text =  Mette  Lund har\u00a0en hund. "), PATH)
    assert found.text == "Mette Lund har en hund."
    with pytest.raises(UserError, match=r"line 1: the words below do not make up"):
        conllu.read(changed(2, "# text = Mette Lund har en hest."), PATH)


def test_a_byte_order_mark_and_windows_line_ends_are_read_over(tmp_path: Path) -> None:
    path = tmp_path / "x.conllu"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join([*HUND, ""]).encode())
    (found,) = conllu.read(read_lines(path), path)
    assert (found.id, found.text) == ("hund", "Mette Lund har en hund.")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (changed(3, row(tag="I-PER")), r"line 3: the tag I-PER does not continue an entity"),
        (changed(4, row("Lund", "I-ORG", "2")), r"line 4: the tag I-ORG does not continue that"),
        (changed(3, row(tag="S-PER")), r"line 3: “name=S-PER” is not a tag"),
        (changed(3, row(tag="B-")), r"line 3: “name=B-” is not a tag"),
        (changed(3, row(misc="name=O|name=O")), r"line 3: “name=O” is not a tag: .* once"),
        (changed(3, row(misc="_")), r"line 3: its last column has no tag"),
        (changed(3, row(misc="name=O|SpaceAfter=Yes")), r"line 3: “SpaceAfter=Yes” should be"),
        (changed(3, "1\tMette"), r"line 3: it has 2 columns instead of 10"),
        (changed(3, row() + "\t_"), r"line 3: it has 11 columns"),
        (changed(3, row(key="0")), r"line 3: “0” is not the number of a word"),
        (changed(3, row(key="x")), r"line 3: “x” is not the number"),
        (changed(3, row(key="١")), r"line 3: “١” is not the number"),
        (changed(4, row("Lund", "I-PER", "3")), r"line 4: word 3 follows word 1"),
        (changed(4, row("Lund", "I-PER", "3-4")), r"line 4: the multiword token 3-4"),
        (changed(7, row("hund", "O", "5-9")), r"line 8: word 6 follows word 4"),
        (changed(3, "2.1" + row()[1:]), r"line 3: the empty node 2\.1"),
        (changed(3, row(form="")), r"line 3: its form is empty"),
        (changed(3, row(form=" Mette")), r"line 3: its form is empty or has white space"),
        (changed(5, "# midt i"), r"line 5: a comment inside a sentence"),
        (HUND[:-1], r"line 8: the last sentence is not followed .* truncated"),
        ([*HUND, ""], r"line 10: an empty line that ends no sentence"),
        ([*HUND, "# sent_id = tom", ""], r"line 10: a sentence without words"),
        ([*HUND, *HUND], r"line 10: a second sentence has the sent_id “hund”"),
        ([], r"eksempel\.conllu holds no sentence"),
        (["x" * 10_000_000], r"eksempel\.conllu is not a CoNLL-U file"),
        (["Mette\tB-PER", "ler\tO", ""], r"eksempel\.conllu is not a CoNLL-U file"),
    ],
)
def test_a_broken_file_is_reported_with_its_line(lines: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        conllu.read(lines, PATH)
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


def test_a_multiword_token_without_its_words_is_reported() -> None:
    lines = [row("Idas", "B-PER", "1-2"), row("Ida", "B-PER"), ""]
    with pytest.raises(UserError, match="line 2: an entity begins inside a multiword token"):
        conllu.read(lines, PATH)
    lines = [row("Idas", "B-PER", "1-2"), row("Ida", "I-PER"), ""]
    with pytest.raises(UserError, match="line 2: its last multiword token lacks words"):
        conllu.read(lines, PATH)


def test_a_file_that_is_not_utf_8_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.conllu"
    path.write_bytes("\n".join(HUND).encode().replace(b"Lund", b"L\xf8nd", 1))
    with pytest.raises(UserError, match="line 2: it is not UTF-8"):
        read_lines(path)


words = st.lists(
    st.tuples(
        st.text("aåæøAÅ'.-é😀", min_size=1, max_size=5),
        st.sampled_from(["O", "B-PER", "B-LOC", "I"]),
        st.booleans(),
    ),
    min_size=1,
    max_size=12,
)


@given(words)
@settings(deadline=None, derandomize=True)
def test_what_is_written_is_read_back(drawn: list[tuple[str, str, bool]]) -> None:
    tags: list[str] = []
    for _, tag, _ in drawn:
        before = tags[-1][2:] if tags and tags[-1] != "O" else ""
        tags.append((f"I-{before}" if before else "O") if tag == "I" else tag)
    written: list[small_dane.Word] = [
        (form + ("_" if glued else ""), tag)
        for (form, _, glued), tag in zip(drawn, tags, strict=True)
    ]
    (found,) = conllu.read(small_dane.block("x", written), PATH)
    assert [t.text for t in found.tokens] == [form for form, _, _ in drawn]
    assert "".join(found.text.split()) == "".join(form for form, _, _ in drawn)
    spelt = ["O"] * len(drawn)
    for entity in found.entities:
        first, *rest = entity.tokens
        spelt[first] = f"B-{entity.label}"
        for i in rest:
            spelt[i] = f"I-{entity.label}"
        last = found.tokens[entity.tokens[-1]]
        assert entity.span == Span(found.tokens[first].span.start, last.span.end)
    assert spelt == tags
    assert all(found.text[t.span.start : t.span.end] == t.text for t in found.tokens)


@given(st.data())
@settings(deadline=None, derandomize=True, max_examples=300)
def test_a_mangled_file_is_read_or_reported_and_never_a_crash(data: st.DataObject) -> None:
    text = "\n".join(small_dane.lines())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        gone = data.draw(st.integers(0, 30))
        new = data.draw(st.text("\t\n #=|-_.19OBIPER\u2028\x00é٣", max_size=5))
        text = text[:at] + new + text[at + gone :]
    try:
        found = conllu.read(text.split("\n"), PATH)
    except UserError:
        return
    assert all(s.tokens for s in found)
