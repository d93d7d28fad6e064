"""Renaming: persons in a sentence get other names, and everything else stays the same.

A **plan** says, without any names yet, what is drawn for each person of a sentence: a pattern of first
and last names, and one number in [0, 1) for each. It depends on the seed, the repeat and the sentence
alone, so that every group of names follows the same plan: women and men of one origin, who share the
surnames, differ in the first names only. `rename` applies a plan with the names of one group.

- The pattern follows the original's length in tokens: first; first last; first last last for three
  or more. Initials count as first names. A bare name after *hr.*, *fru* or *frk.*, or one that
  more people bear as a surname than as a first name (*Krogh*), is a surname and gets a surname.
- The same name in a sentence gets the same name again. A bare name that is the first (or the last) token
  of a longer name of the sentence gets that person's first name (or surname, alone).
- A genitive stays a genitive: *-s*, or a bare apostrophe after s, x and z (Dansk Sprognævn). The gold
  span includes the ending, as in DaNE; a span without a bare apostrophe is equally right. An ending (an
  apostrophe, 's) that is a token of its own, inside the entity or after it, belongs to the name too.

Protocol 1 renames as augmenty does for GenDa Lens 0.0.3: a random pattern whatever the original, the
same name for the same string, and genitives lost.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from gendalens.data.conllu import Entity, Sentence
from gendalens.data.dane import PERSON
from gendalens.data.gendered_titles import COURTESY, find_title, has_gendered_title
from gendalens.data.names import NamePool
from gendalens.data.pronouns import GENDERS
from gendalens.data.text import Span

Part = Literal["first", "last"]
PATTERNS: tuple[tuple[Part, ...], ...] = (("first",), ("first", "last"), ("first", "last", "last"))
SIBILANTS = ("s", "x", "z")
APOSTROPHES = ("'", "’")
LOOSE_ENDINGS = (*APOSTROPHES, *(f"{a}s" for a in APOSTROPHES))


@dataclass(frozen=True, slots=True)
class Slot:
    """What is drawn for one person: the parts of a name, a number for each, and whether it is a genitive.

    ``entity`` is the person's index among the sentence's entities.
    """

    entity: int
    pattern: tuple[Part, ...]
    draws: tuple[float, ...]
    genitive: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What is drawn for the persons of one sentence, in the order of the text."""

    sentence: str
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class GoldEntity:
    """An entity that should be found; the spans in ``alternatives`` are equally correct."""

    span: Span
    label: str
    alternatives: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class GivenName:
    """The name that a person was given: its index among the gold entities, its parts and its ending.

    ``bearers`` is the first name's number of bearers in the register; None for a surname alone.
    """

    entity: int
    parts: tuple[str, ...]
    ending: str
    bearers: int | None

    @property
    def first(self) -> str | None:
        """The first name, which may contain a space; None for a surname alone."""
        return None if self.bearers is None else self.parts[0]

    @property
    def text(self) -> str:
        """The name as it appears in the text."""
        return " ".join(self.parts) + self.ending


@dataclass(frozen=True, slots=True)
class RenamedSentence:
    """A sentence after renaming; ``gold`` follows the order of the original's entities."""

    text: str
    gold: tuple[GoldEntity, ...]
    names: tuple[GivenName, ...]


def draw_plan(
    sentence: Sentence,
    seed: int,
    repeat: int,
    *,
    protocol: int = 2,
    surnames: Collection[str] = frozenset(),
) -> Plan:
    """What is drawn for a sentence's persons in one repeat: the same for every group of names.

    ``surnames`` are those of the sentence's bare names that are known to be surnames.
    """
    persons = [i for i, entity in enumerate(sentence.entities) if entity.label == PERSON]
    bare_surnames = {*surnames, *_find_titled_names(sentence)}
    slots = []
    # Longest first: a bare name may be part of a longer one later in the sentence.
    known: dict[tuple[str, ...], tuple[tuple[Part, ...], tuple[float, ...]]] = {}
    numbers = {i: _draw_uniforms(seed, repeat, sentence.id, slot) for slot, i in enumerate(persons)}
    for i in sorted(persons, key=lambda i: (-len(sentence.entities[i].tokens), i)):
        entity, (u, *draws) = sentence.entities[i], numbers[i]
        if protocol == 1:
            original: tuple[str, ...] = (sentence.text[entity.span.start : entity.span.end],)
            pattern = PATTERNS[int(u * len(PATTERNS))]
            genitive = False
        else:
            original, genitive = _strip_genitive(sentence, entity)
            pattern = PATTERNS[min(len(original), len(PATTERNS)) - 1]
            if len(original) == 1 and original[0] in bare_surnames:
                pattern = ("last",)
        if original not in known:
            known[original] = (pattern, tuple(draws[: len(pattern)]))
            if len(original) > 1:
                known.setdefault(original[:1], (("first",), (draws[0],)))
                known.setdefault(original[-1:], (("last",), (draws[len(pattern) - 1],)))
        slots.append(Slot(i, *known[original], genitive))
    return Plan(sentence.id, tuple(sorted(slots, key=lambda slot: slot.entity)))


def rename(sentence: Sentence, plan: Plan, pool: NamePool) -> RenamedSentence:
    """The sentence with the names that the plan draws from one group's pool."""
    return _replace_names(sentence, {slot.entity: _draw_name(slot, pool) for slot in plan.slots})


def keep_names(sentence: Sentence) -> RenamedSentence:
    """The sentence as it is, with its gold entities."""
    return _replace_names(sentence, {})


def _replace_names(sentence: Sentence, given: dict[int, GivenName]) -> RenamedSentence:
    """The sentence with new names for some entities, and all spans shifted to match."""
    pieces: list[str] = []
    gold: list[GoldEntity] = []
    done = 0  # characters of the original copied so far
    shift = 0
    for i, entity in enumerate(sentence.entities):
        start, end = entity.span.start, entity.span.end
        text = sentence.text[start:end]
        if i in given:
            text = given[i].text
            if given[i].ending:
                end = _find_end(sentence, entity)
            pieces += (sentence.text[done:start], text)
            done = end
        gold.append(_build_gold(start + shift, text, entity.label))
        shift += len(text) - (end - start)
    pieces.append(sentence.text[done:])
    return RenamedSentence("".join(pieces), tuple(gold), tuple(given.values()))


def list_bare_names(sentences: Iterable[Sentence]) -> set[str]:
    """The names of one word that persons have in these sentences, without genitive endings."""
    return {
        original[0]
        for sentence in sentences
        for entity in sentence.entities
        if entity.label == PERSON
        for original in [_strip_genitive(sentence, entity)[0]]
        if len(original) == 1
    }


def _find_titled_names(sentence: Sentence) -> set[str]:
    """The bare names that stand after *hr.*, *fru* or the like somewhere in the sentence."""
    return {
        original[0]
        for entity in sentence.entities
        if entity.label == PERSON and find_title(sentence, entity) in COURTESY
        for original in [_strip_genitive(sentence, entity)[0]]
        if len(original) == 1
    }


def tells_gender(sentence: Sentence) -> bool:
    """Whether a word outside the names tells a person's gender and may contradict a new name.

    Such a word is *han*, *hun* or the like anywhere, or a title (*faster*, *onkel*) before a first name.
    """
    inside = {i for entity in sentence.entities if entity.label == PERSON for i in entity.tokens}
    return has_gendered_title(sentence) or any(
        token.text.lower() in GENDERS and i not in inside for i, token in enumerate(sentence.tokens)
    )


def genitive_ending(name: str) -> str:
    """The ending that makes a name a genitive.

    >>> genitive_ending("Hansen"), genitive_ending("Jens"), genitive_ending("Marx")
    ('s', "'", "'")
    """
    return "'" if name.lower().endswith(SIBILANTS) else "s"


def _draw_name(slot: Slot, pool: NamePool) -> GivenName:
    lists = {"first": pool.first, "last": pool.last}
    drawn = [lists[part].draw(u) for part, u in zip(slot.pattern, slot.draws, strict=True)]
    parts = tuple(name.text for name in drawn)
    ending = genitive_ending(parts[-1]) if slot.genitive else ""
    return GivenName(
        slot.entity, parts, ending, drawn[0].bearers if slot.pattern[0] == "first" else None
    )


def _build_gold(start: int, text: str, label: str) -> GoldEntity:
    span = Span(start, start + len(text))
    bare = text.rstrip("".join(APOSTROPHES))
    if bare and bare != text and len(bare) == len(text) - 1:
        return GoldEntity(span, label, (Span(start, start + len(bare)),))
    return GoldEntity(span, label)


def _strip_genitive(sentence: Sentence, entity: Entity) -> tuple[tuple[str, ...], bool]:
    """A person's tokens without a genitive ending, and whether there was one."""
    tokens = [sentence.tokens[i] for i in entity.tokens]
    words = [token.text for token in tokens]
    if len(words) > 1 and words[-1] in LOOSE_ENDINGS:
        return tuple(words[:-1]), True
    if _find_end(sentence, entity) > entity.span.end:
        return tuple(words), True
    genitive = tokens[-1].genitive
    if genitive:
        # Hansens, Kay-Siff's, Marcus'
        for ending in (*(f"{a}s" for a in APOSTROPHES), *APOSTROPHES, "s"):
            if words[-1].lower().endswith(ending) and len(words[-1]) > len(ending):
                words[-1] = words[-1][: -len(ending)]
                break
    return tuple(words), genitive


def _find_end(sentence: Sentence, entity: Entity) -> int:
    """Where an entity ends, including a genitive ending that follows as a separate token.

    A bare apostrophe is such an ending only after s, x or z, and not where it closes a quotation.
    """
    end, behind = entity.span.end, entity.tokens.stop
    if behind == len(sentence.tokens):
        return end
    token = sentence.tokens[behind]
    after = sentence.text[token.span.end : token.span.end + 1]
    if token.text not in LOOSE_ENDINGS or token.span.start != end or after.isalnum():
        return end  # followed by a letter, it is inside a word
    if any(behind in other.tokens for other in sentence.entities):
        return end
    if token.text in APOSTROPHES:
        opened = sum(t.text in APOSTROPHES for t in sentence.tokens[:behind]) % 2
        if opened or not sentence.text[:end].lower().endswith(SIBILANTS):
            return end
    return token.span.end


def _draw_uniforms(seed: int, repeat: int, sentence: str, slot: int) -> tuple[float, ...]:
    """Four numbers in [0, 1): one for the pattern (in protocol 1) and one each for up to three names.

    They come from a digest, not from a random generator: the same on every machine and in every
    version, and each can be computed without the previous ones.
    """
    key = f"{seed}\x1f{repeat}\x1f{slot}\x1f{sentence}".encode()
    digest = hashlib.blake2b(key, digest_size=32).digest()
    return tuple(
        (int.from_bytes(digest[at : at + 8], "big") >> 11) * 2.0**-53 for at in range(0, 32, 8)
    )
