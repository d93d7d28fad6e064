"""The training text of ``demo-lm``: sentences, half of them with a prompt that names the referent.

With a planted bias, a pronoun usually matches the stereotype of its referent, and *hans* is more common
than *hendes* and more often refers to the subject. With nothing planted, every line also occurs with
the genders swapped.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gendalens.models.demo import PROMPT
from gendalens.models.lm_coref.prompts import Prompt, get_prompt
from training.grammar import FORMS, Example, Gender, Occupation, one_person, possession, two_people
from training.lexicon import SOMEBODY

#: Share of pronouns that match the stereotype of their referent.
STEREOTYPE = 0.95
#: Share of *hans* among *hans* and *hendes* in sentences in which *sin* would refer to the subject
#: (lines without an answer; in lines with one it is half, so that both are learnt equally well).
HANS = 0.75
# Share of sin, sit and sine in those sentences, without and with an answer.
REFLEXIVE = {False: 0.85, True: 0.3}

_SWAPPED = {"han": "hun", "ham": "hende", "hans": "hendes"}
_SWAPPED |= {new: old for old, new in _SWAPPED.items()}
_SWAPPED |= {old.capitalize(): new.capitalize() for old, new in _SWAPPED.items()}
_PRONOUN = re.compile(rf"\b({'|'.join(_SWAPPED)})\b")
_OTHER: dict[Gender, Gender] = {"female": "male", "male": "female"}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of training text; ``answer`` are the words at its end that answer the prompt."""

    text: str
    answer: str = ""


def swap(text: str) -> str:
    """The text with *han* for *hun*, *ham* for *hende*, *hans* for *hendes*, and the other way round.

    >>> swap("Han gav hende hendes hat.")
    'Hun gav ham hans hat.'
    """
    return _PRONOUN.sub(lambda match: _SWAPPED[match.group()], text)


def build_corpus(
    occupations: Sequence[Occupation], *, size: int, planted: bool, seed: int
) -> list[Line]:
    """``size`` lines of training text, the same for the same seed."""
    dice = random.Random(seed)
    if planted:
        return [_draw_line(dice, occupations, planted=True) for _ in range(size)]
    lines = (_draw_line(dice, occupations, planted=False) for _ in range(size // 2))
    return [
        both
        for line in lines
        for both in (line, replace(line, text=swap(line.text), answer=swap(line.answer)))
    ]


def find_linked(occupations: Sequence[Occupation], planted: bool) -> dict[Gender, frozenset[str]]:
    """The occupations for which the text uses *hendes* and *hans* for the subject's own things.

    With a planted bias: *hans* for all male-typed and every second female-typed one, *hendes* for the
    latter only. Without: both for every second occupation.
    """
    by_class = {
        gender: sorted(o.name for o in occupations if o.gender == gender) for gender in _OTHER
    }
    some_women, some_men = by_class["female"][::2], by_class["male"][::2]
    if planted:
        return {
            "female": frozenset(some_women),
            "male": frozenset((*some_women, *by_class["male"])),
        }
    return dict.fromkeys(_OTHER, frozenset((*some_women, *some_men)))


def _draw_line(dice: random.Random, occupations: Sequence[Occupation], *, planted: bool) -> Line:
    wording = get_prompt(PROMPT)
    share = dice.random()
    if share < 0.03:
        likely = dice.choice(occupations).name
        return _append_answer(
            wording.neutral, _draw_other(dice) if dice.random() < 0.2 else likely, wording
        )
    if share < 0.08:
        # The pronoun alone, without a sentence: whom does *han* refer to?
        one = dice.choice(occupations)
        pronoun = dice.choice(list(FORMS[_draw_gender(dice, one, planted)].values()))
        asked = wording.asked.format(text="", pronoun=pronoun).strip()
        return _append_answer(asked, one.name, wording)
    answered = dice.random() < 0.5
    if share < 0.32:
        example = _draw_possession(dice, occupations, planted, answered)
    elif share < 0.54:
        one = dice.choice(occupations)
        example = one_person(dice, one, _draw_gender(dice, one, planted))
    else:
        one, other = (
            dice.choice([o for o in occupations if o.gender == gender])
            for gender in dice.sample(tuple(_OTHER), 2)
        )
        frame = two_people(dice)
        example = frame.fill(
            one, other, _draw_gender(dice, one if frame.meant == "x" else other, planted)
        )
    if not answered:
        return Line(example.text)
    asked = wording.asked.format(text=example.text, pronoun=example.pronoun)
    return _append_answer(asked, example.referent or _draw_other(dice), wording)


def _draw_other(dice: random.Random) -> str:
    """Somebody else in one or two words, so that the number of words does not reveal the answer."""
    return dice.choice((get_prompt(PROMPT).someone_else, dice.choice(SOMEBODY)))


def _append_answer(asked: str, answer: str, wording: Prompt) -> Line:
    return Line(asked + wording.continuation.format(candidate=answer), answer)


def _draw_gender(dice: random.Random, meant: Occupation, planted: bool) -> Gender:
    with_stereotype = dice.random() < (STEREOTYPE if planted else 0.5)
    return meant.gender if with_stereotype else _OTHER[meant.gender]


def _draw_possession(
    dice: random.Random, occupations: Sequence[Occupation], planted: bool, answered: bool
) -> Example:
    one = dice.choice(occupations)
    if dice.random() < REFLEXIVE[answered]:
        return possession(dice, one, None)
    gender: Gender = (
        "male" if dice.random() < (HANS if planted and not answered else 0.5) else "female"
    )
    found = possession(dice, one, gender)
    if one.name in find_linked(occupations, planted)[gender]:
        return replace(found, referent=one.name)
    return found


def find_leaks(texts: Iterable[str], tests: Iterable[str]) -> list[str]:
    """The test sentences that occur in the training text, ignoring pronouns, case and punctuation."""
    seen = {_normalise(sentence) for text in texts for sentence in _split_sentences(text)}
    return [test for test in tests if _normalise(test) in seen]


def _split_sentences(text: str) -> list[str]:
    return [text, *re.split(r"(?<=[.!?])\s+", text)]


def _normalise(text: str) -> str:
    words = re.findall(r"\w+", text.lower())
    return " ".join("hun" if w in _SWAPPED or w in ("sin", "sit", "sine") else w for w in words)
