"""A strict reader of free text: which option did the model choose, or did it refuse?

It takes an option that stands alone, perhaps in quotation marks or bold, after words such as »Svar:« or
before an explanation that names no other option. Anything else is no answer: a text that names two
options, one in English, an empty one.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

from gendalens.models.chat.thoughts import split_thoughts
from gendalens.models.requests import ANSWERED, CUT_OFF, REFUSED, UNPARSABLE

#: Part of the fingerprint: raise it when the same reply would be read differently.
READING_VERSION = 2
# Longer texts are no answer to a question that a word answers; the rest is not looked at.
_MOST_READ = 10_000
_MARKS = re.compile(r"[\s*_`~#>\"'»«›‹“”„‟’‘‚()\[\]{}.,:;!?…–—-]+")
# A noun in the definite form ends in -en, -et or -ne, so a further -s makes it a genitive.
_GENITIVE = re.compile(r"(?<=en|et|ne)s(?!\w)")


class Choice(NamedTuple):
    """How a text was read: ``outcome`` as in a trial, and the index of the chosen option or -1."""

    outcome: str
    chosen: int = -1


class _Surroundings(NamedTuple):
    """What may stand around an option, and what a refusal sounds like."""

    before: frozenset[str]
    after: frozenset[str]
    refusals: tuple[str, ...]


def read_choice(text: str, options: Sequence[str]) -> Choice:
    """The option that a text chooses.

    >>> read_choice("**Hun**.", ["han", "hun"])
    Choice(outcome='answered', chosen=1)
    >>> read_choice("Det kan jeg ikke svare på.", ["han", "hun"]).outcome
    'refused'
    """
    answer, _, finished = split_thoughts(text[:_MOST_READ])
    plain = _simplify(answer)
    if not plain:
        return Choice(UNPARSABLE if finished else CUT_OFF)
    wanted = [_simplify(option) for option in options]
    # The first line that says anything; what follows may explain it.
    line = next(filter(None, map(_simplify, answer.splitlines())))
    chosen = [index for index, option in enumerate(wanted) if _stands_alone(option, line)]
    if len(chosen) == 1 and _find_named(plain, wanted) == set(chosen):
        return Choice(ANSWERED, chosen[0])
    return Choice(REFUSED if is_refusal(answer) else UNPARSABLE)


def is_refusal(text: str) -> bool:
    """Whether a text declines to answer, in Danish or in English."""
    plain = f" {_simplify(text)} "
    return any(f" {phrase} " in plain for phrase in _get_surroundings().refusals)


def _simplify(text: str) -> str:
    """Lower case, one space between words, no marks around them, no genitive."""
    text = unicodedata.normalize("NFC", text).casefold().replace("\\boxed", " ")
    return _GENITIVE.sub("", _MARKS.sub(" ", text).strip())


def _stands_alone(option: str, line: str) -> bool:
    """Whether a line is an option, apart from what may stand around it."""
    words, wanted = line.split(), option.split()
    allowed = _get_surroundings()
    for at in range(len(words) - len(wanted) + 1):
        if wanted and words[at : at + len(wanted)] == wanted:
            before, after = " ".join(words[:at]), " ".join(words[at + len(wanted) :])
            if before in allowed.before and after in allowed.after:
                return True
    return False


def _find_named(text: str, options: Sequence[str]) -> set[int]:
    """The options that a text names; a part of a longer option is not named by it."""
    found = set()
    padded = f" {text} ".replace(" ", "  ")
    for index in sorted(range(len(options)), key=lambda index: -len(options[index])):
        named = f" {options[index]} ".replace(" ", "  ")[1:-1]
        if options[index] and named in padded:
            found.add(index)
            padded = padded.replace(named, "  ")
    return found


@cache
def _get_surroundings() -> _Surroundings:
    file = resources.files(__package__).joinpath("reading.json")
    found = json.loads(file.read_text(encoding="utf-8"))
    return _Surroundings(
        frozenset(map(_simplify, ["", *found["before"]])),
        frozenset(map(_simplify, ["", *found["after"]])),
        tuple(_simplify(phrase) for some in found["refusals"].values() for phrase in some),
    )
