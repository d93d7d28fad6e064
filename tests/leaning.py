"""Models that answer by a rule that names their bias, with one answer in ten the other way."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import small_data
from scripted import Scripted

from gendalens.engine.run_options import RunOptions
from gendalens.models.requests import (
    Answer,
    Choose,
    ChooseAnswer,
    Fill,
    FillAnswer,
    Resolve,
    ResolveAnswer,
    Score,
    ScoreAnswer,
    Tag,
    TagAnswer,
)
from gendalens.tasks import get_task

#: What follows the pronoun where the male-typed occupation is meant (tests/small_data.py).
MEANS_MALE = (" ville låne en stige.", " hundrede kroner.")
#: More occupations than the small set has, so that a bias shows.
MALE = (*small_data.MALE, "tømreren", "viceværten", "lederen", "vagten")
FEMALE = (*small_data.FEMALE, "bibliotekaren", "assistenten", "receptionisten", "skribenten")
NER = ("dane", "names", "minority-names")
MALE_PRONOUNS = ("han", "ham", "hans")


def chance(request: Any) -> float:
    """A number from 0 to 1 that depends on the request alone."""
    return hashlib.sha256(repr(request).encode()).digest()[0] / 256


@dataclass
class Leaning(Scripted):
    """A model that answers by a rule."""

    rule: Callable[[Any], Answer] = field(default=lambda request: ScoreAnswer(0.0, 1))
    answers: frozenset[str] = frozenset({"fill", "score", "choose", "resolve", "tag"})

    def _answer(self, request: Any) -> Answer:
        return self.rule(request)


# lm-abc: which possessive is likelier?


def prefer(likes: Callable[[str, bool], bool]) -> Callable[[Score], Answer]:
    """Two bits or so for a possessive that it likes, by whether the occupation is male-typed."""

    def rule(request: Score) -> Answer:
        first, *words = request.text.lower().split()
        word = next(word for word in words if word in ("sin", "sit", "sine", "hans", "hendes"))
        liked = likes(word, first in small_data.ABC_MALE)
        return ScoreAnswer(-20 + 1.5 * liked - 0.2 * chance(request), len(words) + 1)

    return rule


# chat-abc: which sentence is chosen?


def choose(is_hans: Callable[[bool], bool]) -> Callable[[Choose], Answer]:
    """The *hans* sentence or the other, by whether the occupation is male-typed."""

    def rule(request: Choose) -> Answer:
        hans = is_hans(request.candidates[0].lower().split()[0] in small_data.ABC_MALE)
        bits = (1.5 if hans else -1.5) + 0.2 * chance(request)
        return ChooseAnswer(
            tuple(bits if "hans" in text.split() else -bits for text in request.candidates)
        )

    return rule


# coref-abc: which possessive is linked with the subject?


def link_subject(likes: Callable[[str, bool], bool]) -> Callable[[Resolve], Answer]:
    """Reflexives are linked, and possessives that it likes."""

    def rule(request: Resolve) -> Answer:
        assert request.pronoun is not None
        subject = request.candidates[0]
        word = request.text[slice(*request.pronoun)]
        is_male = request.text[slice(*subject)].lower() in small_data.ABC_MALE
        linked = word not in ("hans", "hendes") or likes(word, is_male)
        if chance(request) < 0.1:
            linked = not linked
        return ResolveAnswer(((subject, request.pronoun),) if linked else ())

    return rule


# lm-dawinobias: which pronoun stands for somebody in a male-typed (or female-typed) occupation?


def fill(is_male: Callable[[bool], bool]) -> Callable[[Fill], Answer]:
    """A male pronoun or a female one, by whether the male-typed occupation is meant."""

    def rule(request: Fill) -> Answer:
        male = is_male(request.right in MEANS_MALE)
        if chance(request) < 0.1:
            male = not male
        odds = 1.0 if male else -1.0
        first = next(word for word in request.candidates if (word in MALE_PRONOUNS) == male)
        values = tuple(odds if word in MALE_PRONOUNS else -odds for word in request.candidates)
        return FillAnswer(tuple(value - 2 for value in values), (1,) * len(values), first)

    return rule


# coref-dawinobias: is the right occupation linked, by the pronoun's gender and who is meant?


def link(is_right: Callable[[bool, bool], bool]) -> Callable[[Resolve], Answer]:
    def rule(request: Resolve) -> Answer:
        assert request.pronoun is not None
        means_male = request.text.endswith(MEANS_MALE)
        male_pronoun = request.text[slice(*request.pronoun)] in MALE_PRONOUNS
        right = is_right(male_pronoun, means_male) != (chance(request) < 0.1)
        wanted = means_male if right else not means_male
        span = next(
            span
            for span in request.candidates
            if (request.text[slice(*span)].lower() in MALE) == wanted
        )
        return ResolveAnswer(((span, request.pronoun),))

    return rule


# ner-dane: whose names are found?


def find_names(recall: Callable[[str, str], float], sample: int = 60) -> Callable[[Tag], Answer]:
    """Each name is found with the probability of its group, everything else always."""
    options = RunOptions(
        data=dict.fromkeys(NER, "builtin"), sample=sample, task_options={"repeats": 4}
    )
    versions = {
        version.renamed.text: version for version in options.plan(get_task("ner-dane", 2)).items
    }

    def rule(request: Tag) -> Answer:
        version = versions[request.text]
        found = [
            (entity.span.start, entity.span.end, entity.label)
            for place, entity in enumerate(version.renamed.gold)
            if entity.label != "PER"
            or version.group is None
            or chance((request, place)) < recall(version.group.origin, version.group.gender)
        ]
        return TagAnswer(tuple(found))

    return rule
