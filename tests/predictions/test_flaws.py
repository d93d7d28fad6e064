"""What is wrong with a file of answers, as codes with their counts and places."""

from __future__ import annotations

from gendalens.models.answer_fields import WRONG, quote_value
from gendalens.predictions.flaws import Flaws
from gendalens.predictions.reading import BLANK
from gendalens.words import Message, phrase


def test_a_kind_of_flaw_is_a_code_with_its_count_and_first_places() -> None:
    flaws = Flaws()
    assert not flaws
    for number in range(2, 7):
        flaws.add(BLANK, phrase("line {number}", number=number))
    message = flaws.message
    assert isinstance(message, Message)
    clause = message.values["flaws"]
    assert isinstance(clause, Message)
    kind = clause.values["kind"]
    assert isinstance(kind, Message)
    assert (kind.code, clause.values["count"]) == ("answers.blank_line", 5)
    assert str(message) == "blank lines: 5 (line 2; line 3; line 4; …)."


def test_every_kind_is_a_sentence_of_its_own() -> None:
    flaws = Flaws()
    flaws.add(WRONG, "line 3")
    flaws.add(BLANK, "line 4")
    assert str(flaws.message) == (
        "answers with a wrong field: 1 (line 3). blank lines: 1 (line 4)."
    )


def test_a_quoted_value_is_short_and_printable() -> None:
    assert quote_value("\x1b[31m\ud800") == r"\x1b[31m\ud800"
    assert quote_value("x" * 100) == "x" * 60 + "…"
    deep: list[object] = []
    for _ in range(10_000):
        deep = [deep]
    assert len(quote_value(deep)) < 70
