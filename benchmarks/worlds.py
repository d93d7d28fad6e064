"""Simulated worlds in which the truth is known, for ``make calibrate``.

Each world keeps the design of a test (its schemas, frames, occupations, documents, names) and draws the
answers of a model from it: a planted bias, effects that items share, and noise. The effects of
occupations, documents and names are drawn anew in every replicate, so the truth is about occupations,
texts and names *like these*. Simulated are the sums that the records of a run would give; from there on
the code is that of the tests.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from gendalens.data.registry import find_source
from gendalens.stats import bootstrap, crossed
from gendalens.stats.crossed import CrossedEstimate
from gendalens.stats.findings import Finding, correct_for_many
from gendalens.stats.paired import Clusters, differences
from gendalens.tasks import get_task
from gendalens.tasks.coref_abc import estimates as coref_abc
from gendalens.tasks.coref_abc import measures as coref_abc_measures
from gendalens.tasks.coref_dawinobias import measures as coref_wino_measures
from gendalens.tasks.coref_dawinobias import schemas as coref_wino
from gendalens.tasks.lm_abc import estimates as lm_abc
from gendalens.tasks.lm_abc import measures as lm_abc_measures
from gendalens.tasks.lm_dawinobias import forced_choice
from gendalens.tasks.lm_dawinobias import measures as lm_wino_measures
from gendalens.tasks.lm_dawinobias import schemas as lm_wino
from gendalens.tasks.ner_dane import measures as ner_measures
from gendalens.tasks.ner_dane.samples import Sample
from gendalens.tasks.ner_dane.tally import GROUPS, Counts
from gendalens.tasks.shared.occupation_classes import MALE, encode_classes

Floats = npt.NDArray[np.float64]
Rng = np.random.Generator
#: Draws n effects with mean 0.
Effects = Callable[[Rng, int], Floats]

RESAMPLES = 400  # the variance of crossed clusters is steady with fewer than a run takes
DANE = "GENDALENS_CALIBRATE_DANE"  # tells worker processes the path of the file


@cache
def _draw_weights(
    clusters: int, resamples: int, strata: bytes | None, chunk: int | None, state: str
) -> list[Floats]:
    rng = np.random.default_rng()
    rng.bit_generator.state = json.loads(state)
    codes = None if strata is None else np.frombuffer(strata, dtype=np.intp)
    return list(
        bootstrap.cluster_weights(clusters, resamples=resamples, rng=rng, strata=codes, chunk=chunk)
    )


def _recall_weights(
    clusters: int,
    *,
    resamples: int,
    rng: Rng,
    strata: npt.NDArray[np.intp] | None = None,
    chunk: int | None = None,
) -> list[Floats]:
    codes = None if strata is None else np.asarray(strata, dtype=np.intp).tobytes()
    return _draw_weights(clusters, resamples, codes, chunk, json.dumps(rng.bit_generator.state))


def reuse_resamples() -> None:
    """Draw resamples once in this process: every model of a world has the same design and seed."""
    crossed.cluster_weights = _recall_weights  # type: ignore[assignment]


def threshold(share: float, variance: float = 1.0) -> float:
    """The mean at which a normal variable is positive with this probability."""
    return NormalDist().inv_cdf(share) * math.sqrt(variance)


def none(rng: Rng, n: int) -> Floats:
    """No effects."""
    return np.zeros(n)


def normal(sd: float) -> Effects:
    """Normal effects."""
    return lambda rng, n: sd * rng.standard_normal(n)


def heavy_tails(rng: Rng, n: int) -> Floats:
    """Effects with variance 1 and the heavy tails of t with three degrees of freedom."""
    return np.asarray(rng.standard_t(3, n) / math.sqrt(3))


def few_carriers(rng: Rng, n: int) -> Floats:
    """One in ten has an effect of ±3; the others have none."""
    return np.asarray(3.0 * (rng.random(n) < 0.1) * rng.choice([-1.0, 1.0], n))


def one_in(count: int) -> Effects:
    """One in so many is always missed."""
    return lambda rng, n: np.where(rng.random(n) < 1 / count, -50.0, 0.0)


@dataclass(frozen=True)
class World:
    """A test, what is planted, and the truth about the figures it is judged on, by id."""

    task: str
    name: str
    draw: Callable[[Rng], Finding]
    truth: dict[str, float] = field(default_factory=dict)
    #: Whether the whole model is fair, so that every bias is a false alarm.
    fair: bool = False
    #: How many bands the planted effect is; a false reassurance is counted from two on.
    bands: float = 0.0


@dataclass(frozen=True)
class PairWorld:
    """Two models, the truth about the differences of the figures, and whether they are alike."""

    task: str
    name: str
    draw: Callable[[Rng], tuple[CrossedEstimate, ...]]
    truth: tuple[float, ...] = (0.0,)


def judge_alone(finding: Finding) -> Finding:
    """The finding of a run of one test."""
    return correct_for_many([finding])[0]


def read_items(name: str, **options: Any) -> tuple[Any, list[Any]]:
    """A test and its items, from the official data."""
    task = get_task(name, 2).configure(options)
    dane = os.environ.get(DANE)
    files = {"dane": Path(dane)} if dane else {}
    sources = {one: find_source(one, override=files.get(one)) for one in task.card.data}
    return task, list(task.items(sources))


# DaWinoBias


@dataclass(frozen=True)
class WinoDesign:
    """The lines of DaWinoBias once each: schema, whether a man's occupation is meant, occupations."""

    schema: npt.NDArray[np.intp]
    is_male: npt.NDArray[np.intp]
    referent: npt.NDArray[np.intp]
    male_occupation: npt.NDArray[np.intp]  # by schema
    female_occupation: npt.NDArray[np.intp]

    def keep(self, rng: Rng, size: int) -> WinoDesign:
        """A sample of the schemas."""
        kept = rng.choice(len(self.male_occupation), size, replace=False)
        rows = np.isin(self.schema, kept)
        return WinoDesign(
            np.searchsorted(np.sort(kept), self.schema[rows]),
            self.is_male[rows],
            self.referent[rows],
            np.unique(self.male_occupation[np.sort(kept)], return_inverse=True)[1],
            np.unique(self.female_occupation[np.sort(kept)], return_inverse=True)[1],
        )


@cache
def wino_design() -> WinoDesign:
    """The design of the official set."""
    _, items = read_items("lm-dawinobias")
    lines = [item for item in items if item.condition == "pro"]
    _, schema = np.unique([line.schema for line in lines], return_inverse=True)
    _, referent = np.unique([line.referent.occupation for line in lines], return_inverse=True)
    is_male = np.array([int(line.referent.stereotype == "male") for line in lines])
    pairs: list[dict[str, str]] = [{} for _ in range(schema.max() + 1)]
    for i, line in zip(schema, lines, strict=True):
        for mention in (line.referent, line.other):
            pairs[i][mention.stereotype] = mention.occupation
    codes = [
        np.unique([pair[gender] for pair in pairs], return_inverse=True)[1]
        for gender in ("male", "female")
    ]
    return WinoDesign(schema, is_male, referent, codes[0], codes[1])


def draw_fill(
    design: WinoDesign, rng: Rng, *, gap: float, male: float, effects: Effects, variance: float
) -> lm_wino.Schemas:
    """A language model's answers: a planted gap in accuracy, a male default, effects of occupations."""
    side = 2 * design.is_male - 1
    lean = threshold((1 + gap) / 2, 1 + variance)
    default = threshold((1 + male) / 2, 1 + variance) if male else 0.0
    own = effects(rng, design.referent.max() + 1)[design.referent]
    odds = side * lean + default + own + rng.standard_normal(len(side))
    return tabulate_fill(design, odds)


def tabulate_fill(design: WinoDesign, odds: Floats) -> lm_wino.Schemas:
    """The units of the schemas, from the log-odds of the male form in each line; a tie is no pronoun."""
    n = len(design.male_occupation)
    counts = np.zeros((n, 2, 2, 3))
    answer = np.where(odds == 0, -1, odds > 0)
    for condition in (0, 1):
        gold = design.is_male if condition == 1 else 1 - design.is_male
        right = answer == gold
        np.add.at(counts, (design.schema[right], condition, gold[right], 0), 1)
        np.add.at(counts, (design.schema[~right], condition, gold[~right], 2), 1)
        other = ~right & (answer >= 0)
        np.add.at(counts, (design.schema[other], condition, answer[other], 1), 1)
    bits = odds / math.log(2)
    rest = np.zeros((n, 8))
    lines = np.bincount(design.schema, minlength=n)
    by_answer = np.array([np.bincount(design.schema, answer == one, n) for one in (-1, 0, 1)])
    rest[:, 0], rest[:, 1] = by_answer[2], by_answer[1] + by_answer[2]
    rest[:, 2], rest[:, 3] = by_answer.max(axis=0) < lines, 1
    rest[:, 4] = np.bincount(design.schema, (2 * design.is_male - 1) * bits, n)
    rest[:, 5], rest[:, 6], rest[:, 7] = 1, np.bincount(design.schema, bits, n), lines
    units = np.column_stack([counts.reshape(n, -1), rest])
    return lm_wino.Schemas(tuple(range(n)), units, design.male_occupation, design.female_occupation)


def judge_fill(schemas: lm_wino.Schemas) -> Finding:
    """The finding of a language model."""
    found = lm_wino.estimate(schemas, seed=0, resamples=RESAMPLES)
    return judge_alone(
        lm_wino_measures.judge_estimates(found, get_task("lm-dawinobias", 2).band, None)
    )


def fill_world(
    name: str,
    effects: Effects = none,
    variance: float = 0.0,
    *,
    gap: float = 0.0,
    male: float = 0.0,
    sample: int | None = None,
) -> World:
    """A world of ``lm-dawinobias``."""

    def draw(rng: Rng) -> Finding:
        design = wino_design() if sample is None else wino_design().keep(rng, sample)
        return judge_fill(
            draw_fill(design, rng, gap=gap, male=male, effects=effects, variance=variance)
        )

    bits = 2 * threshold((1 + gap) / 2, 1 + variance) / math.log(2)
    truth = {"gap": gap, "log_odds_gap": bits, "contrast": 0.0} if not male else {}
    fair = not gap and not male
    return World("lm-dawinobias", name, draw, truth, fair, max(gap / 0.05, bits / 0.25))


def draw_links(
    design: WinoDesign, rng: Rng, *, gap: float, effects: Effects, variance: float
) -> coref_wino.Schemas:
    """A resolver's links: it links every line, with the planted leaning to the stereotype."""
    n = len(design.male_occupation)
    of_male = effects(rng, design.male_occupation.max() + 1)[design.male_occupation]
    of_female = effects(rng, design.female_occupation.max() + 1)[design.female_occupation]
    lean = threshold((1 + gap) / 2, 1 + 2 * variance) + of_male + of_female
    counts = np.zeros((n, 2, 2, 5))
    for condition in (0, 1):
        to_stereotype = lean[design.schema] + rng.standard_normal(len(design.schema)) > 0
        right = to_stereotype if condition == 1 else ~to_stereotype
        place = (design.schema, condition, design.is_male)
        np.add.at(counts, (*place, coref_wino.RIGHT), right)
        np.add.at(counts, (*place, coref_wino.WRONG), ~right)
        np.add.at(counts, (*place, coref_wino.LINKED_LINES), 1)
        np.add.at(counts, (*place, coref_wino.LINES), 1)
    return coref_wino.Schemas(
        tuple(range(n)), counts, design.male_occupation, design.female_occupation, False
    )


def link_world(
    name: str,
    effects: Effects = none,
    variance: float = 0.0,
    *,
    gap: float = 0.0,
    sample: int | None = None,
) -> World:
    """A world of ``coref-dawinobias``."""

    def draw(rng: Rng) -> Finding:
        design = wino_design() if sample is None else wino_design().keep(rng, sample)
        schemas = draw_links(design, rng, gap=gap, effects=effects, variance=variance)
        found = coref_wino.estimate(schemas, seed=0, resamples=RESAMPLES)
        band = get_task("coref-dawinobias", 2).band
        return judge_alone(coref_wino_measures.judge_estimates(schemas, found, band, None))

    truth = {"gap": gap, "contrast": 0.0}
    return World("coref-dawinobias", name, draw, truth, not gap, gap / 0.05)


# ABC


@cache
def abc_design() -> lm_abc.Triples:
    """The triples of the official set, with nothing answered yet."""
    _, items = read_items("lm-abc")
    nothing = np.zeros(len(items))
    return lm_abc.Triples(
        nothing,
        nothing,
        nothing,
        np.unique([item.frame for item in items], return_inverse=True)[1],
        np.unique([item.occupation for item in items], return_inverse=True)[1],
        encode_classes(item.occupation_class for item in items),
    )


def score_world(
    name: str, effects: Effects = none, *, male: float = 0.0, pro: float = 0.0
) -> World:
    """A world of ``lm-abc``: preferences in bits with effects of frames and occupations."""

    def draw(rng: Rng) -> Finding:
        design = abc_design()
        side = np.where(design.classes == MALE, 1.0, -1.0)
        bits = (
            male
            + side * pro
            + effects(rng, design.frame.max() + 1)[design.frame]
            + effects(rng, design.occupation.max() + 1)[design.occupation]
            + rng.standard_normal(len(side))
        )
        triples = lm_abc.Triples(
            design.female, design.male, bits, design.frame, design.occupation, design.classes
        )
        found = lm_abc.estimate_preferences(triples, seed=0, resamples=RESAMPLES)
        return judge_alone(
            lm_abc_measures.judge_preferences(
                found.overall, found.contrast, get_task("lm-abc", 2).band("bits")
            )
        )

    truth = {"gap": male, "contrast": 2 * pro}
    return World("lm-abc", name, draw, truth, not male and not pro, max(male, pro) / 0.25)


def rate_world(
    name: str,
    effects: Effects = none,
    variance: float = 0.0,
    *,
    male: float = 0.0,
    pro: float = 0.0,
    base: float = 0.5,
) -> World:
    """A world of ``coref-abc``: links of *hans* and *hendes* with effects of frames and occupations."""

    def draw(rng: Rng) -> Finding:
        design = abc_design()
        side = np.where(design.classes == MALE, 1.0, -1.0)
        linked = [np.zeros(len(side)), np.zeros(len(side)), np.ones(len(side))]
        for place, sign in ((0, -1.0), (1, 1.0)):
            chance = np.unique(base + sign * (male + side * pro) / 2)
            levels = {one: threshold(one, 1 + 2 * variance) for one in chance}
            level = np.array([levels[one] for one in base + sign * (male + side * pro) / 2])
            shared = (
                effects(rng, design.frame.max() + 1)[design.frame]
                + effects(rng, design.occupation.max() + 1)[design.occupation]
            )
            linked[place] = (level + shared + rng.standard_normal(len(side)) > 0).astype(float)
        triples = coref_abc.Triples(
            np.column_stack(linked), design.frame, design.occupation, design.classes
        )
        found = coref_abc.estimate(triples, seed=0, resamples=RESAMPLES)
        band = get_task("coref-abc", 2).band("share")
        return judge_alone(coref_abc_measures.judge_estimates(found, triples, band))

    truth = {"gap": male, "contrast": 2 * pro}
    return World("coref-abc", name, draw, truth, not male and not pro, max(male, pro) / 0.03)


# DaNE


@dataclass(frozen=True)
class NerDesign:
    """Every person in every group and draw: sentence, group, first name, and the unit it counts in."""

    sentences: int
    sentence: npt.NDArray[np.intp]
    group: npt.NDArray[np.intp]
    name: npt.NDArray[np.intp]
    unit: npt.NDArray[np.intp]
    unit_document: npt.NDArray[np.intp]
    unit_name: npt.NDArray[np.intp]
    unit_group: npt.NDArray[np.intp]

    @property
    def is_male(self) -> npt.NDArray[np.intp]:
        """Whether the names of a person's group are men's."""
        return self.group % 2


@cache
def ner_design(repeats: int) -> NerDesign:
    """The design of DaNE's test set."""
    _, items = read_items("ner-dane", repeats=repeats)
    places = {item.sentence.id: i for i, item in enumerate(items)}
    order = {name: i for i, name in enumerate(sorted(set(places), key=lambda one: places[one]))}
    rows = [
        (
            order[item.sentence.id],
            GROUPS.index((item.group.origin, item.group.gender)),
            given.first or " ".join(given.parts),
            item.sentence.document,
        )
        for item in items
        if item.group is not None
        for given in item.renamed.names
    ]
    group = np.array([row[1] for row in rows])
    _, name = np.unique([f"{row[1]} {row[2]}" for row in rows], return_inverse=True)
    _, document = np.unique([row[3] for row in rows], return_inverse=True)
    _, unit = np.unique(document * (name.max() + 1) + name, return_inverse=True)
    first = np.unique(unit, return_index=True)[1]
    return NerDesign(
        len(order),
        np.array([row[0] for row in rows]),
        group,
        name,
        unit,
        document[first],
        name[first],
        group[first],
    )


def draw_persons(
    design: NerDesign,
    rng: Rng,
    *,
    recall: float,
    gap: float,
    origin: float,
    documents: Effects,
    length: int,
    names: Effects,
    variance: float,
) -> Counts:
    """The persons that a model finds: a planted gap, effects of documents by gender, and of names."""
    side = 2 * design.is_male - 1
    majority = np.where(design.group < 2, 1.0, -1.0)
    shares = recall + (side * gap + majority * origin) / 2
    levels = {one: threshold(one, 1 + variance) for one in np.unique(shares)}
    level = np.array([levels[one] for one in shares])
    # Texts begin anywhere, and the test does not know where.
    text = (design.sentence + rng.integers(length)) // length
    own = np.stack([documents(rng, text.max() + 1) for _ in range(2)])[design.is_male, text]
    latent = level + own + names(rng, design.name.max() + 1)[design.name]
    found = latent + rng.standard_normal(len(side)) > 0
    counts = np.zeros((len(design.unit_group), len(GROUPS), 3, 3))
    np.add.at(counts, (design.unit, design.group, 0, np.where(found, 0, 2)), 1)
    return Counts(
        counts,
        design.unit_document,
        design.unit_name,
        design.unit_group,
        np.zeros((1, len(GROUPS), 3, 3)),
    )


def person_world(
    name: str,
    *,
    recall: float = 0.8,
    gap: float = 0.0,
    origin: float = 0.0,
    documents: Effects = none,
    length: int = 15,
    names: Effects = none,
    variance: float = 0.0,
    repeats: int = 20,
    exact: bool = True,
) -> World:
    """A world of ``ner-dane``; without ``exact``, only that the two genders are alike is known."""

    def draw(rng: Rng) -> Finding:
        counts = draw_persons(
            ner_design(repeats),
            rng,
            recall=recall,
            gap=gap,
            origin=origin,
            documents=documents,
            length=length,
            names=names,
            variance=variance,
        )
        sample = Sample.draw(counts, seed=0, resamples=RESAMPLES)
        band = get_task("ner-dane", 2).band
        return judge_alone(ner_measures.judge_estimates(sample, band, None))

    truth = {"person_recall_gap": gap}
    if exact:
        truth["person_recall_origin_gap"] = origin
    return World("ner-dane", name, draw, truth, not gap and not origin, max(gap, origin) / 0.02)


# Comparisons


def compare_fills(
    name: str, effects: Effects, variance: float, *, gaps: tuple[float, float]
) -> PairWorld:
    """Two language models with effects of occupations of their own."""

    def draw(rng: Rng) -> tuple[CrossedEstimate, ...]:
        both = [
            forced_choice.make_clusters(
                draw_fill(wino_design(), rng, gap=gap, male=0.0, effects=effects, variance=variance)
            )
            for gap in gaps
        ]
        return _subtract(both)

    return PairWorld("lm-dawinobias", name, draw, (gaps[0] - gaps[1],))


def compare_persons(
    name: str, *, recalls: tuple[float, float], documents: Effects = none, variance: float = 0.0
) -> PairWorld:
    """Two fair NER models of unequal accuracy."""

    def draw(rng: Rng) -> tuple[CrossedEstimate, ...]:
        both = [
            ner_measures.make_clusters(
                draw_persons(
                    ner_design(20),
                    rng,
                    recall=recall,
                    gap=0.0,
                    origin=0.0,
                    documents=documents,
                    length=15,
                    names=none,
                    variance=variance,
                ),
                (),
            )
            for recall in recalls
        ]
        return _subtract(both)

    return PairWorld("ner-dane", name, draw)


def _subtract(models: list[Clusters]) -> tuple[CrossedEstimate, ...]:
    found = differences(models, seed=0, resamples=RESAMPLES)[0, 1]
    return (*found.main, *found.groups)
