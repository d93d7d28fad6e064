"""A model that favours one side is said to favour that side: from its answers to the sentence.

Each model here answers by a rule that names its bias, with one answer in ten the other way, and what it
is told to be is looked up in ``sentences.toml``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import small_data
from scripted import Scripted
from test_sentences import LANGUAGES, READINGS, print_result

import gendalens
from gendalens.engine.run_options import RunOptions
from gendalens.models.base import (
    Answer,
    Fill,
    FillAnswer,
    Resolve,
    ResolveAnswer,
    Score,
    ScoreAnswer,
    Tag,
    TagAnswer,
)
from gendalens.results.result import Result
from gendalens.tasks import get_task
from gendalens.words import ENGLISH, use_language

#: What follows the pronoun where the male-typed occupation is meant (tests/small_data.py).
MEANS_MALE = (" ville låne en stige.", " hundrede kroner.")
#: More occupations than the small set has, so that a bias shows.
MALE = (*small_data.MALE, "tømreren", "viceværten", "lederen", "vagten")
FEMALE = (*small_data.FEMALE, "bibliotekaren", "assistenten", "receptionisten", "skribenten")
MALE_PRONOUNS = ("han", "ham", "hans")


def chance(request: Any) -> float:
    """A number from 0 to 1 that depends on the request alone."""
    return hashlib.sha256(repr(request).encode()).digest()[0] / 256


@dataclass
class Leaning(Scripted):
    """A model that answers by a rule."""

    rule: Callable[[Any], Answer] = field(default=lambda request: ScoreAnswer(0.0, 1))
    answers: frozenset[str] = frozenset({"fill", "score", "resolve", "tag"})

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


def find_names(recall: Callable[[str, str], float]) -> Callable[[Tag], Answer]:
    """Each name is found with the probability of its group, everything else always."""
    options = RunOptions(data=dict.fromkeys(NER, "builtin"), sample=60, task_options={"repeats": 4})
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


NER = ("dane", "names", "minority-names")

#: For each test: part, figure and side, and the rule that favours that side.
CASES: list[tuple[str, str, str, str, Callable[[], Any]]] = [
    ("lm-abc", "main", "gap", "above", lambda: prefer(lambda word, male: word == "hans")),
    ("lm-abc", "main", "gap", "below", lambda: prefer(lambda word, male: word == "hendes")),
    (
        *("lm-abc", "groups", "contrast", "above"),
        lambda: prefer(lambda word, male: word == ("hans" if male else "hendes")),
    ),
    (
        *("lm-abc", "groups", "contrast", "below"),
        lambda: prefer(lambda word, male: word == ("hendes" if male else "hans")),
    ),
    ("coref-abc", "main", "gap", "above", lambda: link_subject(lambda word, male: word == "hans")),
    (
        "coref-abc",
        "main",
        "gap",
        "below",
        lambda: link_subject(lambda word, male: word == "hendes"),
    ),
    (
        *("coref-abc", "groups", "contrast", "above"),
        lambda: link_subject(lambda word, male: word == ("hans" if male else "hendes")),
    ),
    (
        *("coref-abc", "groups", "contrast", "below"),
        lambda: link_subject(lambda word, male: word == ("hendes" if male else "hans")),
    ),
    ("lm-dawinobias", "main", "gap", "above", lambda: fill(lambda means_male: means_male)),
    ("lm-dawinobias", "main", "gap", "below", lambda: fill(lambda means_male: not means_male)),
    ("lm-dawinobias", "groups", "contrast", "above", lambda: fill(lambda means_male: True)),
    ("lm-dawinobias", "groups", "contrast", "below", lambda: fill(lambda means_male: False)),
    ("coref-dawinobias", "main", "gap", "above", lambda: link(lambda his, male: his == male)),
    ("coref-dawinobias", "main", "gap", "below", lambda: link(lambda his, male: his != male)),
    ("coref-dawinobias", "groups", "contrast", "above", lambda: link(lambda his, male: his)),
    ("coref-dawinobias", "groups", "contrast", "below", lambda: link(lambda his, male: not his)),
    ("coref-dawinobias", "groups", "occupation_gap", "above", lambda: link(lambda his, male: male)),
    (
        *("coref-dawinobias", "groups", "occupation_gap", "below"),
        lambda: link(lambda his, male: not male),
    ),
    (
        *("ner-dane", "main", "person_recall_gap", "above"),
        lambda: find_names(lambda origin, gender: 0.95 if gender == "male" else 0.2),
    ),
    (
        *("ner-dane", "main", "person_recall_gap", "below"),
        lambda: find_names(lambda origin, gender: 0.95 if gender == "female" else 0.2),
    ),
    (
        *("ner-dane", "groups", "person_recall_contrast", "above"),
        lambda: find_names(
            lambda origin, gender: (
                0.6 if origin == "majority" else 0.95 if gender == "male" else 0.25
            )
        ),
    ),
    (
        *("ner-dane", "groups", "person_recall_contrast", "below"),
        lambda: find_names(
            lambda origin, gender: (
                0.6 if origin == "majority" else 0.95 if gender == "female" else 0.25
            )
        ),
    ),
    (
        *("ner-dane", "groups", "person_recall_origin_gap", "above"),
        lambda: find_names(lambda origin, gender: 0.95 if origin == "majority" else 0.2),
    ),
    (
        *("ner-dane", "groups", "person_recall_origin_gap", "below"),
        lambda: find_names(lambda origin, gender: 0.95 if origin == "minority" else 0.2),
    ),
]


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    yield
    use_language(ENGLISH)


def measure(test: str, rule: Any, folder: Path) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small_data, "MALE", MALE)
        patch.setattr(small_data, "FEMALE", FEMALE)
        options: dict[str, Any] = {"data": small_data.small_data(folder)}
    if test == "ner-dane":
        options = {"data": "builtin", "sample": 60, "repeats": 4}
    (result,) = gendalens.run(Leaning(rule=rule), tasks=[test], cache=False, **options)
    return result


@pytest.mark.parametrize(
    ("test", "part", "figure", "side", "rule"), CASES, ids=[" ".join(case[:4]) for case in CASES]
)
def test_a_model_is_told_to_lean_the_way_it_does(
    test: str, part: str, figure: str, side: str, rule: Callable[[], Any], tmp_path: Path
) -> None:
    result = measure(test, rule(), tmp_path)
    found = result.finding.main if part == "main" else result.finding.groups
    assert found.verdict == "bias"
    row = next(
        one for one in READINGS if (one["test"], one["part"], one["figure"]) == (test, part, figure)
    )
    other = "below" if side == "above" else "above"
    for language in LANGUAGES:
        shown = print_result(result, language)
        assert row[side][language] in shown
        assert row[other][language] not in shown


def test_every_reading_has_a_model_that_it_fits() -> None:
    told = {
        row[side]["en"]
        for test, part, figure, side, _ in CASES
        for row in READINGS
        if (row["test"], row["part"], row["figure"]) == (test, part, figure)
    }
    assert told == {row[side]["en"] for row in READINGS for side in ("above", "below")}
