"""Sentences with their entities in brackets become CoNLL-U."""

from __future__ import annotations

from pathlib import Path

import pytest

from gendalens.data import conllu
from gendalens.errors import UserError
from tools.builtin_sets import marked_text


def test_the_shipped_file_is_what_the_marked_text_makes() -> None:
    assert marked_text.TARGET.read_text(encoding="utf-8") == marked_text.build_conllu()


def test_a_mark_becomes_words_tags_and_genitives() -> None:
    line = "Hr. [PER H.C. Lund]s hund så [PER Lars]' kat (kl. 9.30) den 3. maj i [LOC Odense Å]."
    lines = list(marked_text.to_conllu(marked_text.read(["# news", line])))
    (found,) = conllu.read(lines, Path("x"))
    assert found.id == "news-1"
    assert found.text == "Hr. H.C. Lunds hund så Lars' kat (kl. 9.30) den 3. maj i Odense Å."
    assert " ".join(token.text for token in found.tokens) == (
        "Hr. H.C. Lunds hund så Lars' kat ( kl . 9.30 ) den 3. maj i Odense Å ."
    )
    spans = [(found.text[e.span.start : e.span.end], e.label) for e in found.entities]
    assert spans == [("H.C. Lunds", "PER"), ("Lars'", "PER"), ("Odense Å", "LOC")]
    assert [token.text for token in found.tokens if token.genitive] == ["Lunds", "Lars'"]


@pytest.mark.parametrize("line", ["[PER Ida]en sover.", "[PER Ida sover.", "PER Ida] sover."])
def test_a_broken_mark_is_reported(line: str) -> None:
    with pytest.raises(UserError, match=r"inside a word|stray bracket"):
        list(marked_text.to_conllu(marked_text.read(["# news", line])))
