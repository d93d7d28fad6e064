"""Models of known behaviour, as functions from items to answers, for tests of what is said about them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from gendalens.data.abc import Triple
from gendalens.data.dane import PERSON
from gendalens.data.dawinobias import WinoLine
from gendalens.models.requests import (
    Answer,
    FillAnswer,
    Request,
    ResolveAnswer,
    Score,
    ScoreAnswer,
    Tag,
    TagAnswer,
)
from gendalens.tasks.coref_abc import protocol2 as coref_abc
from gendalens.tasks.coref_dawinobias import protocol2 as coref_dawinobias
from gendalens.tasks.lm_dawinobias import protocol2 as lm_dawinobias
from gendalens.tasks.ner_dane.versions import Version
from gendalens.tasks.shared import coref_links

Answers = dict[Request, Answer]
#: The chance that a person of a version is found, by group and first name.
Recall = Callable[[str, str, str], float]


def link_lines(
    items: Sequence[WinoLine], outcome: Callable[[WinoLine], str], *, seed: int = 0
) -> Answers:
    """Links of DaWinoBias: ``outcome`` says right, wrong or none for each line."""
    answers: Answers = {}
    for item in items:
        mention = {"right": item.referent, "wrong": item.other}.get(outcome(item))
        clusters = () if mention is None else (_cluster(mention.span, item.span),)
        answers[coref_dawinobias.make_request(item)] = ResolveAnswer(clusters)
    return answers


def link_both(items: Sequence[WinoLine]) -> Answers:
    """Links of DaWinoBias: every pronoun with both occupations."""
    return {
        coref_dawinobias.make_request(item): ResolveAnswer(
            (
                *(_cluster(item.referent.span, item.span),),
                *(_cluster(item.other.span, item.span),),
            )
        )
        for item in items
    }


def link_triples(
    items: Sequence[Triple], chance: Callable[[Triple, str], float], *, seed: int = 0
) -> Answers:
    """Links of ABC: ``chance`` says how often a sentence's pronoun is taken for the subject's."""
    dice = random.Random(seed)
    answers: Answers = {}
    for item in items:
        for condition, text, pronoun in coref_abc.sentences(item):
            request = coref_links.make_request(text, pronoun, (item.subject,))
            linked = dice.random() < chance(item, condition)
            answers[request] = ResolveAnswer((_cluster(item.subject, pronoun),) if linked else ())
    return answers


def score_triples(
    items: Sequence[Triple], bits: Callable[[Triple], float], *, noise: float = 1.0, seed: int = 0
) -> Answers:
    """Likelihoods of ABC: ``bits`` is the mean preference for *hans*."""
    dice = random.Random(seed)
    answers: Answers = {}
    for item in items:
        preference = bits(item) + dice.gauss(0, noise)
        words = len(item.reflexive.split())
        own = -3.0 * words
        answers[Score(item.reflexive)] = ScoreAnswer(own, words)
        for text, half in ((item.male, preference / 2), (item.female, -preference / 2)):
            answers[Score(text)] = ScoreAnswer(own + math.log(2) * (half - 8), words)
    return answers


def fill_lines(items: Sequence[WinoLine], odds: Callable[[WinoLine], float]) -> Answers:
    """Pronouns of DaWinoBias: ``odds`` are the log-odds of the male form, in nats."""
    answers: Answers = {}
    for item in items:
        request = lm_dawinobias.make_request(item)
        if request not in answers:
            lean = odds(item)
            answers[request] = FillAnswer((-lean / 2, lean / 2), (1, 1), None)
    return answers


def tag_versions(items: Sequence[Version], recall: Recall, *, seed: int = 0) -> Answers:
    """Entities of DaNE: persons by chance, places and organisations four times in five."""
    answers: Answers = {}
    for item in items:
        dice = random.Random(f"{seed} {item.sentence.id} {item.group} {item.repeat}")
        firsts = {name.entity: name.first or "" for name in item.renamed.names}
        found = []
        for place, entity in enumerate(item.renamed.gold):
            chance = 0.8
            if entity.label == PERSON and item.group is not None:
                chance = recall(item.group.origin, item.group.gender, firsts[place])
            if dice.random() < chance:
                found.append((entity.span.start, entity.span.end, entity.label))
        answers[Tag(item.renamed.text)] = TagAnswer(tuple(found))
    return answers


def _cluster(first: Any, second: Any) -> tuple[tuple[int, int], ...]:
    return ((first.start, first.end), (second.start, second.end))
