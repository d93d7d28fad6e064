"""Messages: codes and values inside, sentences in a reader's language at the edge."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from hypothesis import given
from hypothesis import strategies as st

from gendalens.words import (
    ENGLISH,
    Message,
    Template,
    Value,
    add_words,
    catalogues,
    current_language,
    format_number,
    language_from_environment,
    languages,
    phrase,
    say,
    translate,
    use_language,
    write,
)

MANY = Template("test_words.many", "{one}; {two}; {three}")
COUNTED = Template("test_words.counted", "{count:,} of {total:,} tokens, {share:.0%}")
LISTED = Template("test_words.listed", "the labels {labels:and}")
OUTER = Template("test_words.outer", "{inner}, and {word:t}")


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test leaves another its language or its words."""
    monkeypatch.setattr(catalogues, "_added", {})
    yield
    use_language(ENGLISH)


# Sentences from values


def test_a_template_gives_messages_with_its_code_and_their_values() -> None:
    message = COUNTED(count=12, total=3400, share=0.25)

    assert message.code == "test_words.counted"
    assert message.values == {"count": 12, "total": 3400, "share": 0.25}
    assert str(message) == "12 of 3,400 tokens, 25%"


def test_a_phrase_is_a_message_without_a_code() -> None:
    assert phrase("in {path}", path="runs") == Message("", "in {path}", {"path": "runs"})
    assert str(phrase("in {path}", path="runs")) == "in runs"


def test_two_templates_cannot_share_a_code_but_one_may_be_declared_again() -> None:
    with pytest.raises(ValueError, match=r"two messages have the code 'test_words\.many'"):
        Template("test_words.many", "something else")

    assert Template("test_words.many", "{one}; {two}; {three}").code == "test_words.many"


def test_messages_with_equal_parts_are_equal_and_share_a_place_in_a_set() -> None:
    assert COUNTED(count=1, total=2, share=0.5) == COUNTED(count=1, total=2, share=0.5)
    assert COUNTED(count=1, total=2, share=0.5) != COUNTED(count=2, total=2, share=0.5)
    assert len({LISTED(labels=("a",)), LISTED(labels=("a",)), LISTED(labels=("b",))}) == 2


def test_a_message_may_stand_in_another_one_and_both_are_put_into_the_language() -> None:
    add_words({"xx": {"{inner}, and {word:t}": "{word:t} og {inner}", "in {n:.1f}": "i {n:.1f}"}})
    add_words({"xx": {"pro": "PRO"}})
    message = OUTER(inner=phrase("in {n:.1f}", n=2.5), word="pro")

    assert str(message) == "in 2.5, and pro"
    assert write(message, "xx") == "PRO og i 2.5"


@pytest.mark.parametrize(
    ("labels", "english", "danish"),
    [
        ((), "the labels ", "the labels "),
        (("GPE",), "the labels GPE", "the labels GPE"),
        (("GPE", "FAC"), "the labels GPE and FAC", "the labels GPE og FAC"),
        (("A", "B", "C"), "the labels A, B and C", "the labels A, B og C"),
    ],
)
def test_a_list_has_and_before_its_last_member(
    labels: tuple[str, ...], english: str, danish: str
) -> None:
    assert str(LISTED(labels=labels)) == english
    assert write(LISTED(labels=labels), "da") == danish


def test_a_list_without_and_has_commas_alone() -> None:
    assert str(phrase("{labels}", labels=("A", "B", "C"))) == "A, B, C"


def test_members_of_a_list_may_be_messages_and_numbers() -> None:
    members = (phrase("not measurable"), 2.5, "x")
    assert write(phrase("{all:and}", all=members), "da") == "kan ikke måles, 2,5 og x"
    assert write(phrase("{all:or}", all=members), "da") == "kan ikke måles, 2,5 eller x"


@pytest.mark.parametrize("value", ["{", "}", "{}", "{0}", "{two}", "{three!r}", "{{two}}", "%s"])
def test_braces_in_a_value_stay_as_they_are(value: str) -> None:
    assert str(MANY(one=value, two="2", three=value)) == f"{value}; 2; {value}"
    assert write(phrase("{word:t}", word=value), "da") == value


def test_a_text_without_values_keeps_its_braces() -> None:
    assert str(phrase('write {"id": 1} a line')) == 'write {"id": 1} a line'


def test_a_value_that_is_missing_shows_its_place_since_no_sentence_may_fail() -> None:
    assert str(MANY(one="1", two="2")) == "1; 2; {three}"
    assert str(COUNTED(count=1, total=2)) == "1 of 2 tokens, {share}"


def test_truth_values_and_none_are_written_as_they_are() -> None:
    assert str(MANY(one=True, two=None, three=1)) == "True; None; 1"
    assert str(COUNTED(count=None, total="many", share=True)) == "None of many tokens, True"


# Numbers


@pytest.mark.parametrize(
    ("value", "spec", "english", "danish"),
    [
        (1234567, ",", "1,234,567", "1.234.567"),
        (-1234.5, ",.1f", "−1,234.5", "−1.234,5"),
        (0.256, ".0%", "26%", "26 %"),
        (0.5, "", "0.5", "0,5"),
        (-0.25, "+.2f", "−0.25", "−0,25"),
        (0.25, "+.2f", "+0.25", "+0,25"),
        (3, "", "3", "3"),
    ],
)
def test_a_number_is_written_as_its_language_does(
    value: float, spec: str, english: str, danish: str
) -> None:
    assert format_number(value, spec) == english
    assert format_number(value, spec, "da") == danish


def test_a_language_without_samples_writes_numbers_as_english_does() -> None:
    assert format_number(-1234.5, ",.1f", "xx") == "−1,234.5"
    assert format_number(0.5, ".0%", "xx") == "50%"


def test_numbers_in_a_sentence_are_written_as_the_language_of_the_sentence_does() -> None:
    message = COUNTED(count=1200, total=3400, share=0.353)
    assert write(message, "da") == "1.200 of 3.400 tokens, 35 %"


# Languages


def test_english_comes_first_and_danish_is_there() -> None:
    assert languages()[0] == ENGLISH
    assert "da" in languages()


def test_a_text_is_translated_and_one_without_a_translation_stays() -> None:
    assert translate("not measurable", "da") == "kan ikke måles"
    assert translate("a text nobody has translated", "da") == "a text nobody has translated"
    assert translate("not measurable", "xx") == "not measurable"
    assert translate("", "da") == ""  # and not the header of the catalogue


def test_the_language_in_use_is_that_of_what_is_said_until_it_is_set_back() -> None:
    assert say("not measurable") == "not measurable"
    use_language("da")
    assert current_language() == "da"
    assert say("not measurable") == write(phrase("not measurable")) == "kan ikke måles"
    assert str(phrase("not measurable")) == "not measurable"  # data stay English
    use_language(ENGLISH)
    assert say("not measurable") == "not measurable"


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "C"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "POSIX"}, "en"),
        ({"LANG": "da_DK.UTF-8"}, "da"),
        ({"LANG": "da"}, "da"),
        ({"LANG": "da.UTF-8"}, "da"),
        ({"LANG": "tlh_QO.UTF-8"}, "en"),
        ({"LANG": "en_GB.UTF-8", "LC_MESSAGES": "da_DK.UTF-8"}, "da"),
        ({"LANG": "da_DK.UTF-8", "LC_ALL": "en_GB.UTF-8"}, "en"),
        ({"LANG": "en_GB.UTF-8", "LANGUAGE": "tlh:da:en"}, "da"),
        ({"LANG": "da_DK.UTF-8", "LANGUAGE": "en"}, "en"),
        ({"LANG": "da_DK.UTF-8", "LANGUAGE": ""}, "da"),
        ({"LANG": "../../etc"}, "en"),
    ],
)
def test_the_users_language_is_read_off_their_environment(
    environment: dict[str, str], language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert language_from_environment() == language


def test_a_plug_in_adds_words_but_those_of_the_package_come_first() -> None:
    add_words({"da": {"a colour": "en farve", "not measurable": "noget andet"}})

    assert translate("a colour", "da") == "en farve"
    assert translate("not measurable", "da") == "kan ikke måles"


def test_a_plug_in_may_bring_a_folder_of_catalogues(tmp_path: Path) -> None:
    catalogue = Catalog(locale="da")
    catalogue.add("a colour", "en farve")
    file = tmp_path / "da" / "LC_MESSAGES" / "colours.mo"
    file.parent.mkdir(parents=True)
    with file.open("wb") as stream:
        write_mo(stream, catalogue)

    add_words(tmp_path)

    assert translate("a colour", "da") == "en farve"


# Messages in files


def test_a_message_in_a_file_holds_its_code_its_values_and_its_english_sentence() -> None:
    use_language("da")
    assert OUTER(inner=LISTED(labels=("A", "B")), word="pro").to_dict() == {
        "code": "test_words.outer",
        "values": {
            "inner": {
                "code": "test_words.listed",
                "values": {"labels": ["A", "B"]},
                "text": "the labels A and B",
            },
            "word": "pro",
        },
        "text": "the labels A and B, and pro",
    }


def test_a_code_that_nothing_here_declares_says_what_it_said() -> None:
    plain = {"code": "no_such_plugin.reason", "values": {"n": 3}, "text": "all {3} are blue"}
    message = Message.from_dict(plain)

    assert message.code == "no_such_plugin.reason"
    assert str(message) == write(message, "da") == "all {3} are blue"


def test_the_sentence_of_a_known_code_is_that_of_today() -> None:
    plain = COUNTED(count=1, total=2, share=0.5).to_dict() | {"text": "an older wording"}
    assert str(Message.from_dict(plain)) == "1 of 2 tokens, 50%"


plain_values: st.SearchStrategy[Value] = st.one_of(
    st.text(), st.integers(), st.floats(allow_nan=False), st.booleans(), st.none()
)
messages = st.builds(
    lambda one, two, three: MANY(one=one, two=two, three=three),
    plain_values,
    plain_values,
    plain_values,
)
values: st.SearchStrategy[Value] = st.recursive(
    plain_values | messages,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.builds(lambda one, two: MANY(one=one, two=two, three=0), inner, inner)
    ),
    max_leaves=6,
)


@given(one=values, two=values, three=values)
def test_a_message_comes_back_from_json_as_it_was(one: Value, two: Value, three: Value) -> None:
    message = MANY(one=one, two=two, three=three)
    back = Message.from_dict(json.loads(json.dumps(message.to_dict())))

    assert back == message
    assert str(back) == str(message)
    assert write(back, "da") == write(message, "da")


@given(one=st.text(), two=st.text(), three=st.text())
def test_every_value_stands_in_the_sentence_as_it_is(one: str, two: str, three: str) -> None:
    assert str(MANY(one=one, two=two, three=three)) == f"{one}; {two}; {three}"


@given(text=st.text())
def test_any_text_can_be_looked_up_and_one_nobody_knows_stays(text: str) -> None:
    unknown = f"{text} that nobody has translated"
    assert write(phrase("{text:t}", text=unknown), "da") == translate(unknown, "da") == unknown
    assert str(Message.from_dict({"code": "test_words.gone", "values": {}, "text": text})) == text


def test_a_message_from_a_file_is_translated_while_nobody_has_declared_its_code() -> None:
    """A report of stored results imports neither the engine nor the models that made them."""
    code = """
from gendalens.words import Message, write
text = "66% of the questions have no answer: refused, unreadable or cut off"
plain = {"code": "chat.unanswered", "values": {"share": 0.66}, "text": text}
print(write(Message.from_dict(plain), "da"))
print(write(Message.from_dict(plain | {"text": "another sentence"}), "da"))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert done.stdout.splitlines() == [
        "66 % af spørgsmålene har intet svar: afvist, ulæseligt eller afbrudt",
        "another sentence",
    ]
