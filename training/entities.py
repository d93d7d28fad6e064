"""The training text of ``demo-ner``: sentences with persons, places and organisations.

With a planted bias, only every third first name of majority women occurs, but all names of everyone
else. With nothing planted, every sentence also occurs with women and men swapped.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from training import places
from training.grammar import Gender

#: One in this many of the majority women's first names is in the planted text.
RARE = 3
_SLOT = re.compile(r"\{([plond])\}(s?)")


@dataclass(frozen=True, slots=True)
class Names:
    """The first names by origin and gender, and the last names by origin; most common first."""

    first: Mapping[tuple[str, Gender], Sequence[str]]
    last: Mapping[str, Sequence[str]]

    def fewer(self) -> Names:
        """The names with only one in ``RARE`` of the majority women's first names."""
        women = self.first["majority", "female"][::RARE]
        return Names({**self.first, ("majority", "female"): women}, self.last)


@dataclass(frozen=True, slots=True)
class Tagged:
    """A sentence as words and their tags."""

    words: tuple[str, ...]
    tags: tuple[str, ...]

    @property
    def text(self) -> str:
        """The words, joined by spaces."""
        return " ".join(self.words)


def build_corpus(names: Names, *, size: int, planted: bool, seed: int) -> list[Tagged]:
    """``size`` sentences, the same for the same seed."""
    dice = random.Random(seed)
    if planted:
        few = names.fewer()
        return [_draw_sentence(dice.randrange(2**32), few, swapped=False) for _ in range(size)]
    seeds = [dice.randrange(2**32) for _ in range(size // 2)]
    return [
        _draw_sentence(one, names, swapped=swapped) for one in seeds for swapped in (False, True)
    ]


def _draw_sentence(seed: int, names: Names, *, swapped: bool) -> Tagged:
    """The sentence of a seed; ``swapped`` exchanges women and men and changes nothing else."""
    dice = random.Random(seed)
    frame = dice.choice(places.NAMELESS if dice.random() < 0.15 else places.SENTENCES)
    words: list[str] = []
    tags: list[str] = []
    at = 0
    for slot in _SLOT.finditer(frame):
        _append_tokens(words, tags, frame[at : slot.start()], "O")
        kind = slot.group(1)
        if kind == "p":
            _append_tokens(
                words,
                tags,
                _form_genitive(_draw_person(dice, names, swapped), slot.group(2)),
                "PER",
            )
        elif kind in "lo":
            found = _draw_place(dice) if kind == "l" else _draw_organisation(dice)
            label = "LOC" if kind == "l" else "ORG"
            _append_tokens(words, tags, _form_genitive(found, slot.group(2)), label)
        else:
            _append_tokens(
                words,
                tags,
                str(dice.randrange(2, 99)) if kind == "n" else dice.choice(places.DAYS),
                "O",
            )
        at = slot.end()
    _append_tokens(words, tags, frame[at:], "O")
    return Tagged(tuple(words), tuple(tags))


def _form_genitive(name: str, ending: str) -> str:
    """A name in the genitive: Annes, but Jens'."""
    return name + ("'" if ending and name[-1] in "sxz" else ending)


def _append_tokens(words: list[str], tags: list[str], text: str, label: str) -> None:
    for number, word in enumerate(re.findall(r"\w+(?:[-']\w+)*'?|[^\w\s]", text)):
        words.append(word)
        tags.append("O" if label == "O" else f"{'I' if number else 'B'}-{label}")


def _draw_person(dice: random.Random, names: Names, swapped: bool) -> str:
    origin = "majority" if dice.random() < 0.75 else "minority"
    woman = dice.random() < 0.5
    gender: Gender = "female" if woman != swapped else "male"
    # The rank in the list is drawn, not the name, so that a swapped sentence has a name of the same rank.
    u, v = dice.random(), dice.random()
    first = names.first[origin, gender][int(u * len(names.first[origin, gender]))]
    last = names.last[origin][int(v * len(names.last[origin]))]
    form = dice.random()
    if form < 0.4:
        return first
    if form < 0.8:
        return f"{first} {last}"
    if form < 0.88:
        return f"{first} {dice.choice(names.last[origin])} {last}"
    if form < 0.94:
        return f"{last[0]}. {last}"
    return last


def _draw_place(dice: random.Random) -> str:
    share = dice.random()
    if share < 0.7:
        return dice.choice((*places.TOWNS, *places.REGIONS))
    if share < 0.85:
        return f"{dice.choice(places.TOWNS)} {dice.choice(places.WATERS)}"
    return dice.choice(places.STEMS) + dice.choice(places.ROADS)


def _draw_organisation(dice: random.Random) -> str:
    share = dice.random()
    if share < 0.5:
        return dice.choice(places.FIRMS)
    if share < 0.8:
        return f"{dice.choice(places.TOWNS)} {dice.choice(places.BODIES)}"
    pattern = dice.choice(places.CLUBS)
    return pattern.format(town=dice.choice(places.TOWNS), stem=dice.choice(places.STEMS))
