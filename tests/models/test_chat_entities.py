"""Names that a chat model lists, found again in the text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.models.chat.entities import LABELS, SCHEMA, Named, align_names, parse_names


def said(*names: tuple[str, str]) -> list[Named]:
    return [Named(name, label) for name, label in names]


@pytest.mark.parametrize(
    "text",
    [
        '{"navne": [{"navn": "Anna", "type": "PER"}]}',
        '[{"navn": "Anna", "type": "PER"}]',
        '```json\n[{"navn": "Anna", "type": "person"}]\n```',
        'Her er navnene:\n```\n{"navne": [{"navn": "Anna", "type": "Person"}]}\n```\nGod dag.',
        'Svar: {"names": [{"name": "Anna", "label": "PERSON"}]}',
    ],
)
def test_a_list_of_names_is_read_with_or_without_fences(text: str) -> None:
    assert parse_names(text) == [Named("Anna", "PER")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Anna (PER)",
        '[{"navn": "Anna", "type": "PER"',
        '{"navn": "Anna", "type": "PER"}',
        '["Anna"]',
        '[{"navn": "Anna"}]',
        '[{"navn": 3, "type": "PER"}]',
        '[{"navn": " ", "type": "PER"}]',
        "[" * 100_000 + "]" * 100_000,
        "[" + "9" * 5000 + "]",
        "}{",
    ],
)
def test_a_list_of_another_form_is_no_answer(text: str) -> None:
    assert parse_names(text) is None


def test_an_empty_list_is_an_answer() -> None:
    assert parse_names('{"navne": []}') == []


@pytest.mark.parametrize(
    ("kind", "label"),
    [
        ("sted", "LOC"),
        ("By", "LOC"),
        ("GPE", "LOC"),
        ("organisation", "ORG"),
        ("firma", "ORG"),
        ("personer", "PER"),
        ("MISC", ""),
        ("dato", ""),
    ],
)
def test_kinds_are_known_in_danish_and_english(kind: str, label: str) -> None:
    assert parse_names(json.dumps([{"navn": "X", "type": kind}])) == [Named("X", label)]


def test_a_repeated_name_takes_the_next_place() -> None:
    text = "Anna ringede til Anna."
    assert align_names(text, said(("Anna", "PER"), ("Anna", "PER"))).entities == (
        (0, 4, "PER"),
        (17, 21, "PER"),
    )
    once = align_names(text, said(("Anna", "PER")))
    assert once.entities == ((0, 4, "PER"),)
    thrice = align_names(text, said(*[("Anna", "PER")] * 3))
    assert len(thrice.entities) == 2
    assert thrice.invented == 0


def test_a_longer_name_goes_first() -> None:
    text = "Anna Hansen og Hansen bor i Nørre Nebel."
    names = said(
        ("Hansen", "PER"), ("Anna Hansen", "PER"), ("Nebel", "LOC"), ("Nørre Nebel", "LOC")
    )
    assert align_names(text, names) == (((0, 11, "PER"), (15, 21, "PER"), (28, 39, "LOC")), 0)


def test_a_name_covers_its_genitive_ending() -> None:
    text = "Annas bil, Jens' hus og Nils’ båd."
    names = said(("Anna", "PER"), ("Jens", "PER"), ("Nils", "PER"))
    spans = [text[start:end] for start, end, _ in align_names(text, names).entities]
    assert spans == ["Annas", "Jens'", "Nils’"]


def test_a_name_that_the_text_does_not_hold_is_invented() -> None:
    found = align_names("Anna bor på Annavej.", said(("Peter", "PER"), ("Anna", "PER")))
    assert found == (((0, 4, "PER"),), 1)
    assert align_names("Annavej", said(("Anna", "PER"))).invented == 1


def test_case_and_line_breaks_do_not_hide_a_name() -> None:
    assert align_names("ANNA\nHANSEN", said(("Anna Hansen", "PER"))).entities == ((0, 11, "PER"),)


def test_a_name_is_found_however_its_letters_and_marks_are_written() -> None:
    text = "Åse O’Hara bor i Ny-Ålesund."
    names = said(("A\u030ase O'Hara", "PER"), ("Ny‑A\u030alesund", "LOC"))
    assert align_names(text, names) == (((0, 10, "PER"), (17, 27, "LOC")), 0)
    decomposed = "A\u030ase bor her."
    assert align_names(decomposed, said(("Åse", "PER"))) == (((0, 4, "PER"),), 0)


def test_a_name_of_another_kind_is_left_out_but_keeps_its_place() -> None:
    text = "Den danske Hansen."
    found = align_names(text, said(("danske Hansen", ""), ("Hansen", "PER")))
    assert found == ((), 0)


def test_the_schema_asks_for_the_labels() -> None:
    kinds = json.loads(SCHEMA)["properties"]["navne"]["items"]["properties"]["type"]["enum"]
    assert tuple(kinds) == LABELS


_TEXT = st.text(alphabet="Anax HsØ'’\n.", max_size=40)
_LISTS = st.lists(st.tuples(_TEXT.filter(str.strip), st.sampled_from([*LABELS, ""])), max_size=6)


@settings(deadline=None, derandomize=True)
@given(_TEXT, _LISTS)
def test_places_lie_in_the_text_and_never_overlap(text: str, names: list[tuple[str, str]]) -> None:
    found = align_names(text, said(*((name.strip(), label) for name, label in names)))
    assert 0 <= found.invented <= len(names)
    ends = [0]
    for start, end, label in found.entities:
        assert ends[-1] <= start < end <= len(text)
        assert label
        ends.append(end)


@pytest.mark.slow
@settings(deadline=None, derandomize=True)
@given(st.one_of(st.text(), st.recursive(st.text(), st.lists).map(json.dumps)))
def test_no_text_makes_the_reader_of_names_fail(text: str) -> None:
    assert parse_names(text) is None or isinstance(parse_names(text), list)
