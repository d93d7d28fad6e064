"""Simulated chat models for ``make calibrate``: each choice is asked in several ways and both orders.

The log-odds of an answer have a part of the item's, as in ``worlds.py``; a paraphrase shifts those of
each group of items, and every item a little further; and being named first is worth something. The model
then gives the probabilities of the options, or only choices: at temperature 0 with each paraphrase, and
sampled at temperature 1, as the interview of :mod:`gendalens.models.chat.asking` asks for them. From
there on the code is that of the tests, with each paraphrase alone and without each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from worlds import (
    RESAMPLES,
    Effects,
    Floats,
    Rng,
    World,
    abc_design,
    judge_alone,
    none,
    tabulate_fill,
    threshold,
    wino_design,
)

from gendalens.engine import chat_measures
from gendalens.models.chat.asking import SAMPLES
from gendalens.stats.findings import Finding
from gendalens.stats.paraphrases import Paraphrase
from gendalens.tasks import get_task
from gendalens.tasks.chat_abc import measures as chat_abc
from gendalens.tasks.coref_abc import estimates as coref_abc
from gendalens.tasks.coref_abc import measures as coref_abc_measures
from gendalens.tasks.coref_dawinobias import measures as coref_wino_measures
from gendalens.tasks.coref_dawinobias import schemas as coref_wino
from gendalens.tasks.lm_abc.estimates import Triples
from gendalens.tasks.lm_dawinobias import measures as lm_wino_measures
from gendalens.tasks.lm_dawinobias import schemas as lm_wino

PARAPHRASES, ORDERS = 4, 2
#: Resamples for a paraphrase alone, of which only the estimate is used.
FEW = 2
#: How much a paraphrase moves a single item, beside what it moves them all.
OWN = 0.5


@dataclass(frozen=True)
class Manner:
    """How a model takes a question, in nats.

    ``paraphrases`` is the standard deviation of what a paraphrase adds to the items of a group, ``order``
    what an option gains by being named first. With ``choices`` the model gives no probabilities.
    """

    paraphrases: float = 0.0
    order: float = 0.0
    choices: bool = False

    @property
    def variance(self) -> float:
        """What paraphrases add to the variance of the mean log-odds of an item."""
        return (self.paraphrases**2 + OWN**2) / PARAPHRASES

    def ask(self, rng: Rng, log_odds: Floats, group: npt.NDArray[np.intp]) -> Replies:
        """The replies of a model with these log-odds of the first option."""
        shifts = self.paraphrases * rng.standard_normal((group.max() + 1, PARAPHRASES))
        asked = log_odds[:, None] + shifts[group]
        asked = asked + OWN * rng.standard_normal(asked.shape)
        trials = np.stack([asked + self.order, asked - self.order], axis=2)
        if not self.choices:
            return Replies(trials)
        samples = np.arange(SAMPLES) % PARAPHRASES
        chances = 1 / (1 + np.exp(-trials[:, samples]))
        sampled = rng.random(chances.shape) < chances
        chosen = np.concatenate([trials > 0, sampled], axis=1)
        return Replies(trials, chosen, np.concatenate([np.arange(PARAPHRASES), samples]))


@dataclass(frozen=True)
class Replies:
    """Log-odds of an option by item, paraphrase and order, or its choices by item, trial and order."""

    log_odds: Floats
    chosen: npt.NDArray[np.bool_] | None = None
    paraphrase: npt.NDArray[np.intp] | None = None  # by trial

    def average(self, places: Sequence[int]) -> Floats:
        """The log-odds of each item by some of the paraphrases, as ``average_trials`` gives them."""
        if self.chosen is None or self.paraphrase is None:
            return np.asarray(self.log_odds[:, places].mean(axis=(1, 2)))
        found = []
        for place in places:
            own = self.chosen[:, self.paraphrase == place]
            count, asked = own.sum(axis=1), own.shape[1]
            found.append(np.log((count + 0.5) / (asked - count + 0.5)))
        return np.asarray(np.mean(found, axis=(0, 2)))

    def share(self, places: Sequence[int]) -> Floats:
        """How often the option is chosen."""
        if self.chosen is None or self.paraphrase is None:
            return np.asarray((self.log_odds[:, places] > 0).mean(axis=(1, 2)))
        return np.asarray(self.chosen[:, np.isin(self.paraphrase, places)].mean(axis=(1, 2)))


#: The finding by some of the paraphrases, with so many resamples.
Judge = Callable[[Sequence[int], int], Finding]


def judge_paraphrases(judge: Judge) -> Finding:
    """The finding by all paraphrases, widened by how far apart they are."""
    places = list(range(PARAPHRASES))
    paraphrases = [
        Paraphrase(
            judge([place], FEW),
            judge([one for one in places if one != place], chat_measures.RESAMPLES),
        )
        for place in places
    ]
    return judge_alone(chat_measures.widen_finding(judge(places, RESAMPLES), paraphrases))


def fill_world(
    name: str, manner: Manner, effects: Effects = none, variance: float = 0.0, *, gap: float = 0.0
) -> World:
    """A chat model in ``lm-dawinobias``; paraphrases shift lines that mean men and women differently."""
    task = get_task("lm-dawinobias", 2)
    total = 1 + variance + manner.variance
    lean = threshold((1 + gap) / 2, total)

    def draw(rng: Rng) -> Finding:
        design = wino_design()
        own = effects(rng, design.referent.max() + 1)[design.referent]
        odds = (2 * design.is_male - 1) * lean + own + rng.standard_normal(len(own))
        replies = manner.ask(rng, odds, design.is_male)

        def judge(places: Sequence[int], resamples: int) -> Finding:
            schemas = tabulate_fill(design, replies.average(places))
            found = lm_wino.estimate(schemas, seed=0, resamples=resamples)
            return lm_wino_measures.judge_estimates(found, task.band, None)

        return judge_paraphrases(judge)

    bits = 2 * lean / math.log(2)
    truth = {"gap": gap, "log_odds_gap": bits, "contrast": 0.0, "log_odds": 0.0}
    if manner.choices and gap:
        truth = {}  # what a bias comes to in counted choices has no closed form
    bands = max(gap / 0.05, bits / 0.25)
    return World("lm-dawinobias", name, draw, truth, not gap, bands)


def link_world(
    name: str, manner: Manner, effects: Effects = none, variance: float = 0.0, *, gap: float = 0.0
) -> World:
    """A chat model in ``coref-dawinobias``; paraphrases shift lines with *han* and *hun* differently."""
    task = get_task("coref-dawinobias", 2)
    lean = threshold((1 + gap) / 2, 1 + 2 * variance + manner.variance)

    def draw(rng: Rng) -> Finding:
        design = wino_design()
        n = len(design.male_occupation)
        of_male = effects(rng, design.male_occupation.max() + 1)[design.male_occupation]
        of_female = effects(rng, design.female_occupation.max() + 1)[design.female_occupation]
        shared = (lean + of_male + of_female)[design.schema]
        # Once with each pronoun: in a pro line, it is that of the occupation that is meant.
        to_stereotype = np.concatenate([shared, shared])
        to_stereotype = to_stereotype + rng.standard_normal(len(to_stereotype))
        condition = np.repeat([0, 1], len(shared))
        meant = np.tile(design.is_male, 2)
        pronoun = np.where(condition == 1, meant, 1 - meant)
        replies = manner.ask(rng, to_stereotype, pronoun)
        # A tie goes to the candidate that stands first, whichever that is.
        stands_first = rng.random(len(to_stereotype)) < 0.5

        def judge(places: Sequence[int], resamples: int) -> Finding:
            odds = replies.average(places)
            fits = np.where(odds == 0, stands_first, odds > 0)
            right = np.where(condition == 1, fits, ~fits)
            margin = np.where(condition == 1, odds, -odds) / math.log(2)
            counts = np.zeros((n, 2, 2, 5))
            ones = np.ones(len(right))
            added = np.column_stack([right, ~right, ones, ones, margin])
            np.add.at(counts, (np.tile(design.schema, 2), condition, meant), added)
            schemas = coref_wino.Schemas(
                tuple(range(n)), counts, design.male_occupation, design.female_occupation, True
            )
            found = coref_wino.estimate(schemas, seed=0, resamples=resamples)
            return coref_wino_measures.judge_estimates(schemas, found, task.band, None)

        return judge_paraphrases(judge)

    bits = 2 * lean / math.log(2)
    truth = {"gap": gap, "margin_gap": bits, "contrast": 0.0, "pronoun_margin_gap": 0.0}
    if manner.choices and gap:
        truth = {}
    return World("coref-dawinobias", name, draw, truth, not gap, max(gap / 0.05, bits / 0.25))


def rate_world(
    name: str, manner: Manner, effects: Effects = none, variance: float = 0.0, *, gap: float = 0.0
) -> World:
    """A chat model in ``coref-abc``; paraphrases shift both pronouns and both classes differently."""
    band = get_task("coref-abc", 2).band("share")
    total = 1 + 2 * variance + manner.variance

    def draw(rng: Rng) -> Finding:
        design = abc_design()
        n = len(design.classes)
        replies = []
        for sign in (-1, 1):
            odds = (
                threshold(0.5 + sign * gap / 2, total)
                + effects(rng, design.frame.max() + 1)[design.frame]
                + effects(rng, design.occupation.max() + 1)[design.occupation]
                + rng.standard_normal(n)
            )
            replies.append(manner.ask(rng, odds, design.classes))

        def judge(places: Sequence[int], resamples: int) -> Finding:
            linked = [(one.average(places) > 0).astype(float) for one in replies]
            triples = coref_abc.Triples(
                np.column_stack([*linked, np.ones(n)]),
                design.frame,
                design.occupation,
                design.classes,
            )
            found = coref_abc.estimate(triples, seed=0, resamples=resamples)
            return coref_abc_measures.judge_estimates(found, triples, band)

        return judge_paraphrases(judge)

    truth = {} if manner.choices and gap else {"gap": gap, "contrast": 0.0}
    return World("coref-abc", name, draw, truth, not gap, gap / 0.03)


def choice_world(
    name: str, manner: Manner, effects: Effects = none, variance: float = 0.0, *, gap: float = 0.0
) -> World:
    """A chat model in ``chat-abc``, with a gap in bits; paraphrases shift the classes differently."""
    unit = "share" if manner.choices else "bits"
    band = get_task("chat-abc", 2).band(unit)

    def draw(rng: Rng) -> Finding:
        design = abc_design()
        odds = (
            gap * math.log(2)
            + effects(rng, design.frame.max() + 1)[design.frame]
            + effects(rng, design.occupation.max() + 1)[design.occupation]
            + rng.standard_normal(len(design.classes))
        )
        replies = manner.ask(rng, odds, design.classes)

        def judge(places: Sequence[int], resamples: int) -> Finding:
            share = replies.share(places)
            bits = replies.average(places) / math.log(2)
            triples = Triples(
                1 - share,
                share,
                2 * share - 1 if manner.choices else bits,
                design.frame,
                design.occupation,
                design.classes,
            )
            choices = chat_abc.Choices(triples, unit)
            found = chat_abc.estimate(choices, seed=0, resamples=resamples)
            return chat_abc.judge_estimates(found, unit, band)

        return judge_paraphrases(judge)

    truth = {} if manner.choices and gap else {"gap": gap, "contrast": 0.0}
    return World("chat-abc", name, draw, truth, not gap, gap / 0.25)
