"""Danish words that reveal a person's gender."""

from __future__ import annotations

from tools.builtin_sets.gendered_words import carries_gender, find_gendered_words


def test_endings_that_name_a_woman_or_a_man_are_seen() -> None:
    words = "sygeplejersken syersken jordemoderen dagplejemoren brandmanden kassedamen lærerinden"
    assert [w for w in words.split() if not carries_gender(w)] == []


def test_words_for_women_and_men_are_seen_in_any_form_and_others_are_not() -> None:
    text = "Naboens kone, drengene, min svigermor, to mænd, bedstefars søn og Hendes søstre"
    expected = ["kone", "drengene", "svigermor", "mænd", "bedstefars", "søn", "Hendes", "søstre"]
    assert find_gendered_words(text) == expected
    assert find_gendered_words("Handel, erfaring, humor, morgen, farve, sønderjysk og mandag") == []
