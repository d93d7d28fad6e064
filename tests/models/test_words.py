"""Words are cut as Danish treebanks cut them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.models.huggingface import vocabulary
from gendalens.models.word_spans import split_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hun så Bo.", "Hun|så|Bo|."),
        ("»Nej,« sagde hun (igen)!", "»|Nej|,|«|sagde|hun|(|igen|)|!"),
        ("Anne-Marie Juhl-Jørgensens far", "Anne-Marie|Juhl-Jørgensens|far"),
        ("FN's og 1950'erne", "FN's|og|1950'erne"),
        ("Lars' båd og Marx’ bog", "Lars'|båd|og|Marx’|bog"),
        ("Lars'båd, succes'en, O'Connors hus", "Lars'|båd|,|succes'en|,|O'Connors|hus"),
        ("Han sagde 'Hej Lars' til os", "Han|sagde|'|Hej|Lars|'|til|os"),
        ("H.C. Andersen, Per H. Lind", "H.C.|Andersen|,|Per|H.|Lind"),
        ("H.'s forklaring", "H.'s|forklaring"),
        ("avisen B.T.s chef læser B.T.", "avisen|B.T.s|chef|læser|B.T."),
        ("f.eks. Chr. Lund, kl. 8, ca. 30 pct. af dem", None),
        ("Det koster 8.000 kr..", "Det|koster|8.000|kr.|."),
        ("På TV. Han så det i 1992. Det var 2. Pinsedag.", None),
        ("36,5 grader kl. 17.48.", "36,5|grader|kl.|17.48|."),
        ("A/S Lind & Søn, B&O", "A/S|Lind|&|Søn|,|B&O"),
        ("Nord- og Sydfyn - og Fyn", "Nord-|og|Sydfyn|-|og|Fyn"),
        ("pct.-skatten ...", "pct.-skatten|..."),
        ("Rene\u0301s hund", "Rene\u0301s|hund"),
        ("Ole,Bo", "Ole|,|Bo"),
        ("", ""),
    ],
)
def test_words_of_a_text(text: str, expected: str | None) -> None:
    if expected is None:
        expected = {
            "f": "f.eks.|Chr.|Lund|,|kl.|8|,|ca.|30|pct.|af|dem",
            "P": "På|TV|.|Han|så|det|i|1992|.|Det|var|2.|Pinsedag|.",
        }[text[0]]
    assert "|".join(text[begin:end] for begin, end in split_words(text)) == expected


@settings(deadline=None)
@given(st.text(alphabet="aBøÅ1 .,-'’\"()/&:\n\u0301\u200b"))
def test_words_cover_every_visible_character_once_and_in_order(text: str) -> None:
    found = split_words(text)
    assert all(begin < end for begin, end in found)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(found))
    covered = "".join(text[begin:end] for begin, end in found)
    assert covered == "".join(text.split())


def test_every_byte_has_a_character_in_byte_level_vocabularies() -> None:
    table = vocabulary._byte_table()
    assert sorted(table.values()) == list(range(256))
    # As GPT-2 writes them: a space, a letter, the two bytes of å.
    assert [table[character] for character in "ĠaÃ¥"] == [32, 97, *"å".encode()]
