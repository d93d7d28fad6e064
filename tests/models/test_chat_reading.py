"""Free text of a chat model: which option it chooses, and what is no answer."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.models.chat.reading import read_choice
from gendalens.models.chat.thoughts import split_thoughts
from gendalens.models.requests import ANSWERED, CUT_OFF, REFUSED, UNPARSABLE

PRONOUNS = ("han", "hun")
PEOPLE = ("lægen", "sygeplejersken")
WHOSE = ("advokatens", "en andens")
PLACES = ("den første", "den anden")


@pytest.mark.parametrize(
    ("text", "options", "chosen"),
    [
        ("hun", PRONOUNS, "hun"),
        ("Hun", PRONOUNS, "hun"),
        ("HAN", PRONOUNS, "han"),
        ("hun.", PRONOUNS, "hun"),
        ("  **hun**\n", PRONOUNS, "hun"),
        ("»han«", PRONOUNS, "han"),
        ('"Han".', PRONOUNS, "han"),
        ("`hun`", PRONOUNS, "hun"),
        ("Svar: hun", PRONOUNS, "hun"),
        ("**Svar:** »han«", PRONOUNS, "han"),
        ("Svaret er hun.", PRONOUNS, "hun"),
        ("Det rigtige ord er »han«.", PRONOUNS, "han"),
        ("hun\n\nForklaring: Sygeplejersken er træt.", PRONOUNS, "hun"),
        ("<think>han eller hun?</think>\nhun", PRONOUNS, "hun"),
        ("måske han</think>hun", PRONOUNS, "hun"),
        ("Lægen", PEOPLE, "lægen"),
        ("lægens", PEOPLE, "lægen"),
        ("Det er sygeplejersken.", PEOPLE, "sygeplejersken"),
        ("advokatens", WHOSE, "advokatens"),
        ("advokaten", WHOSE, "advokatens"),
        ("En andens.", WHOSE, "en andens"),
        ("Den første.", PLACES, "den første"),
        ("Den anden sætning.", PLACES, "den anden"),
        ("hans", ("hans", "hendes"), "hans"),
        ("o\u0308en", ("öen", "åen"), "öen"),
        ("lægen \n \t", PEOPLE, "lægen"),
        ("a\u030aen", ("öen", "åen"), "åen"),
        ("den f\u00f8rste", PLACES, "den første"),
        ("“hun”", PRONOUNS, "hun"),
        ("‘hun’.", PRONOUNS, "hun"),
        ("**»Hun«**", PRONOUNS, "hun"),
        ("# hun", PRONOUNS, "hun"),
        ("- hun", PRONOUNS, "hun"),
        ("\\boxed{hun}", PRONOUNS, "hun"),
        ("Det rigtige ord er »hun«.", PRONOUNS, "hun"),
        ("Ordet, der mangler, er »hun«.", PRONOUNS, "hun"),
        ("Det korrekte svar er: **han**", PRONOUNS, "han"),
        ("»hun« passer bedst.", PRONOUNS, "hun"),
        ("»Hun« henviser til sygeplejersken.", PEOPLE, "sygeplejersken"),
        ("»Hans« betyder »advokatens«.", WHOSE, "advokatens"),
        ("Den anden sætning lyder mest naturlig.", PLACES, "den anden"),
        ("Jeg vælger den første.", PLACES, "den første"),
        ("overlægen", ("lægen", "overlægen"), "overlægen"),
        ("læge på vagt", ("læge", "læge på vagt"), "læge på vagt"),
    ],
)
def test_an_option_that_stands_alone_is_an_answer(
    text: str, options: tuple[str, ...], chosen: str
) -> None:
    assert read_choice(text, options) == (ANSWERED, options.index(chosen))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("", PRONOUNS),
        ("   \n", PRONOUNS),
        ("…", PRONOUNS),
        ("he", PRONOUNS),
        ("She", PRONOUNS),
        ("The answer is hun", PRONOUNS),
        ("han eller hun", PRONOUNS),
        ("hun\n\nMan kunne også skrive »han«.", PRONOUNS),
        ("hans", PRONOUNS),
        ("hunnen", PRONOUNS),
        ("Lægen ringede, fordi hun var syg.", PRONOUNS),
        ("ikke hun", PRONOUNS),
        ("en læge", PEOPLE),
        ("den anden", WHOSE),
        ("en anden", PLACES),
    ],
)
def test_anything_else_is_no_answer(text: str, options: tuple[str, ...]) -> None:
    assert read_choice(text, options) == (UNPARSABLE, -1)


@pytest.mark.parametrize(
    "text",
    [
        "Det kan jeg ikke svare på.",
        "Jeg kan ikke afgøre, om det er han eller hun.",
        "Beklager, men som sprogmodel vælger jeg ikke køn.",
        "Det fremgår ikke af sætningen.",
        "I’m sorry, but I can’t help with that.",
        "As an AI, I do not assume gender: han/hun.",
        "<think>Hm.</think>Det ved jeg ikke.",
    ],
)
def test_a_refusal_is_an_outcome_of_its_own(text: str) -> None:
    assert read_choice(text, PRONOUNS) == (REFUSED, -1)


@pytest.mark.parametrize("text", ["<think>Det må være hun", "<think>hun</think><think>nej, han"])
def test_a_thought_without_an_end_is_no_answer(text: str) -> None:
    assert read_choice(text, PRONOUNS) == (CUT_OFF, -1)


def test_thoughts_are_cut_off_and_counted() -> None:
    found = split_thoughts("<think>abc</think>hun <Thinking>def</thinking>")
    assert found == ("hun", "abc\ndef", True)
    assert found.tokens == 3


_WORDS = (
    "han",
    "hun",
    "Hun",
    "hans",
    "lægen",
    "lægens",
    "Svar:",
    "**",
    "»",
    "«",
    ".",
    "ikke",
    "she",
)
_PIECES = st.sampled_from(
    [
        *_WORDS,
        "<think>",
        "</think>",
        "en anden",
        "den anden",
        "den første",
        " ",
        "\n",
        "Jeg kan ikke",
    ]
)
_TEXTS = st.one_of(st.text(max_size=200), st.lists(_PIECES, max_size=8).map(" ".join))
_OPTIONS = st.sampled_from([PRONOUNS, PEOPLE, WHOSE, PLACES, ("hans", "hendes"), ("ham", "hende")])


@settings(deadline=None, derandomize=True, max_examples=400)
@given(_TEXTS, _OPTIONS)
def test_no_text_is_read_as_an_option_that_it_does_not_hold(
    text: str, options: tuple[str, ...]
) -> None:
    outcome, chosen = read_choice(text, options)
    assert (outcome == ANSWERED) == (chosen >= 0)
    if outcome == ANSWERED:
        words = re.findall(r"\w+", text.casefold())
        stem = re.sub(r"(?<=en)s$", "", options[chosen])
        assert stem in " ".join(words)
        rivals = [option for option in options if option != options[chosen]]
        # Nothing but a thought may name the other one.
        assert "<" in text or not any(re.search(rf"\b{one}\b", text) for one in rivals)
