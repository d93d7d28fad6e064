"""No translation exchanges the sides: women and men, *hans* and *hendes*, majority and minority."""

from __future__ import annotations

import gettext
import re
from typing import Any

import pytest

from gendalens.words.catalogues import DOMAIN, LOCALE

#: How each side is spelled, in English and in Danish (there also within compounds).
SIDES = {
    "hans": ("hans", "hans"),
    "hendes": ("hendes", "hendes"),
    "men": ("males?|m[ae]n|M", "mands?|mænds?|mande\\w*|mandlig\\w*|mænd\\w*|M"),
    "women": ("females?|wom[ae]n|F", "kvinde\\w*|K"),
    "majority": ("majority", "majoritet\\w*"),
    "minority": ("minority", "minoritet\\w*?"),
    "pro": ("pro", "pro|prostereotyp\\w*"),
    "anti": ("anti", "anti|antistereotyp\\w*"),
}
#: Where Danish names a side that English leaves to the reader, or names it in another place.
ELSEWHERE = {
    "{model} leans further to the male or pro-stereotypical side": ["men"],
    "leans most to female / anti": ["women"],
    "A dot is an occupation.": ["men", "women", "women"],
    "Gender is taken as binary": ["women", "men"],
    "Positive: the grammar is broken more readily for hans.": ["hans", "hendes"],
    "log2 ratio of PER recall": ["men", "women"],
    "Minority names shift the model’s balance towards men,": ["majority", "minority", "men"],
    "Minority names shift the model’s balance towards women,": ["majority", "minority", "women"],
}


def _list_sides(text: str, language: int) -> list[str]:
    """The sides that a text names, in their order."""
    plain = re.sub(r"\{.*?\}|`.*?`|'minority-names'|\banti-?re", "", text)
    if language == 1:  # compounds whose second part names a side
        plain = re.sub(r"(minoritets|majoritets)(?=mænd|kvinder)", r"\1 ", plain)
    word = r"[^\W\d_]+|_[A-Z](?![a-z])"
    found = []
    for match in re.finditer(word, plain):
        one = match[0].lstrip("_")
        is_subscript = match[0][0] == "_"
        for side, spelled in SIDES.items():
            letters = "|".join(
                p for p in spelled[language].split("|") if (len(p) == 1) == is_subscript
            )
            if letters and re.fullmatch(letters, one if is_subscript else one.lower()):
                found.append(side)
                break
    return found


def messages() -> dict[str, str]:
    catalogue: Any = gettext.translation(DOMAIN, LOCALE, languages=["da"])
    return {english: danish for english, danish in catalogue._catalog.items() if english}


def test_danish_names_the_sides_in_the_order_of_the_english() -> None:
    checked = 0
    for english, danish in messages().items():
        expected = _list_sides(english, 0)
        for start, sides in ELSEWHERE.items():
            if english.startswith(start):
                expected = sides
        assert _list_sides(danish, 1) == expected, f"{english}\n{danish}"
        checked += bool(expected)
    assert checked > 150


def test_every_exception_is_needed() -> None:
    for start, sides in ELSEWHERE.items():
        found = [english for english in messages() if english.startswith(start)]
        assert found, start
        assert all(_list_sides(english, 0) != sides for english in found)


@pytest.mark.parametrize(
    ("text", "language", "sides"),
    [
        ("preference for hans over hendes", 0, ["hans", "hendes"]),
        ("FPR_M - FPR_F, P_M", 0, ["men", "women", "men"]),
        ("FPR_M − FPR_K: F1 og F-score", 1, ["men", "women"]),
        ("»Hans«, mandeerhverv og minoritetskvinder", 1, ["hans", "men", "minority", "women"]),
        ("manden, mange mennesker", 1, ["men"]),
    ],
)
def test_sides_are_recognised(text: str, language: int, sides: list[str]) -> None:
    assert _list_sides(text, language) == sides
