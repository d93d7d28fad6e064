"""What is said about models of known behaviour, on the official data: finding, gate and comparison.

Each row is a model whose behaviour is known exactly, and what a careful reader would say about it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import known_models as known
import pytest

from gendalens.comparison.gate import Decision, Limits, judge
from gendalens.data.registry import find_source
from gendalens.models.control import Control
from gendalens.results.model_info import ModelInfo
from gendalens.results.result import Measures, Result
from gendalens.stats.findings import correct_for_many
from gendalens.stats.paired import differences
from gendalens.tasks import get_task
from gendalens.words import phrase

DANE = Path(__file__).parents[2] / "shared" / "data" / "dane" / "ddt.test.conllu"
PASSES, FAILS, CANNOT_TELL = Decision.PASSES, Decision.FAILS, Decision.CANNOT_TELL
Behaviour = Callable[[Sequence[Any]], known.Answers]

pytestmark = pytest.mark.network


@pytest.fixture(scope="module")
def read_items(official_cache: Path) -> Callable[[str], tuple[Any, Sequence[Any]]]:
    """A test with its items, read once for all models."""
    found: dict[str, tuple[Any, Sequence[Any]]] = {}

    def read(name: str) -> tuple[Any, Sequence[Any]]:
        if name not in found:
            task = get_task(name, 2)
            if name == "ner-dane" and not DANE.exists():
                pytest.skip("no DaNE beside the checkout")
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("GENDALENS_HOME", str(official_cache))
                files = {"dane": DANE}
                sources = {one: find_source(one, override=files.get(one)) for one in task.card.data}
                found[name] = (task, list(task.items(sources)))
        return found[name]

    return read


def measure(task: Any, items: Sequence[Any], answers: known.Answers) -> Result:
    """The result of a run of one test."""
    measures = task.measure(task.records(items, answers), seed=0, resamples=500)
    values = {one.name: getattr(measures, one.name) for one in fields(Measures)}
    [values["finding"]] = correct_for_many([measures.finding])
    card = task.card
    return Result(
        task=card.name,
        protocol=card.protocol,
        model=ModelInfo("known", phrase("known model"), "1", "none"),
        data={},
        signature=f"{card.id}|seed:0|sample:all|tests:{card.name}|gendalens:0",
        harms={},
        sources={},
        **values,
    )


def plant(task: str, name: str) -> Behaviour:
    """The answers of a control model."""
    return partial(get_task(task, 2).plant, control=Control.parse(name))


def find_one_in_ten(origin: str, gender: str, first: str) -> float:
    """A tenth of the first names, whoever bears them, is always missed."""
    digest = hashlib.sha256(f"{origin} {gender} {first}".encode()).digest()
    return 0.0 if digest[0] < 26 else 1.0


def resolve(outcome: Callable[[Any], str]) -> Behaviour:
    return lambda items: known.link_lines(items, outcome)


def tag(recall: known.Recall) -> Behaviour:
    return lambda items: known.tag_versions(items, recall)


def say_han_but_for_three_occupations(items: Sequence[Any]) -> known.Answers:
    female = {item.referent.occupation for item in items if item.referent.stereotype == "female"}
    exceptions = sorted(female)[:3]
    # A little noise, since a model that gives every line the same odds would be called broken.
    return known.fill_lines(
        items,
        lambda item: (-2 if item.referent.occupation in exceptions else 2) + item.line / 10_000,
    )


#: The first table of the verdicts: test, behaviour, headline, in groups only, gate by the bands.
KNOWN: dict[str, tuple[str, Behaviour, str, bool, Decision]] = {
    "coreference that resolves male pronouns only": (
        "coref-dawinobias",
        resolve(lambda line: "right" if line.gender == "male" else "none"),
        *("bias", True, FAILS),
    ),
    "coreference that finds people in male-typed occupations only": (
        "coref-dawinobias",
        resolve(lambda line: "right" if line.referent.stereotype == "male" else "none"),
        *("bias", True, FAILS),
    ),
    "coreference without a mistake": (
        "coref-dawinobias",
        resolve(lambda line: "right"),
        *("negligible", False, PASSES),
    ),
    "coreference that always follows the stereotype": (
        "coref-dawinobias",
        resolve(lambda line: "right" if line.condition == "pro" else "wrong"),
        *("bias", False, FAILS),
    ),
    "coreference that links every pronoun with both occupations": (
        "coref-dawinobias",
        lambda items: known.link_both(items),
        *("not_measurable", False, CANNOT_TELL),
    ),
    "coref-abc without a mistake": (
        "coref-abc",
        lambda items: known.link_triples(items, lambda _, condition: condition == "reflexive"),
        *("negligible", False, PASSES),
    ),
    "always han, by the same odds in every sentence": (
        "lm-dawinobias",
        lambda items: known.fill_lines(items, lambda item: 1.5),
        *("bias", True, FAILS),
    ),
    "NER that misses half of the minority women and nobody else": (
        "ner-dane",
        tag(lambda origin, gender, _: 0.5 if (origin, gender) == ("minority", "female") else 1.0),
        *("bias", True, FAILS),
    ),
    "NER that misses half of the minority, women and men alike": (
        "ner-dane",
        tag(lambda origin, *_: 0.5 if origin == "minority" else 1.0),
        *("bias", True, FAILS),
    ),
    "NER, women missed 30%, men 10%": (
        "ner-dane",
        tag(lambda _, gender, __: 0.7 if gender == "female" else 0.9),
        *("bias", False, FAILS),
    ),
    "NER that misses one first name in ten, blind to gender": (
        "ner-dane",
        tag(find_one_in_ten),
        *("undecided", False, CANNOT_TELL),
    ),
    "NER that finds everyone": (
        "ner-dane",
        tag(lambda *_: 1.0),
        *("negligible", False, PASSES),
    ),
    "lm-abc, ±5 bits by occupation class": (
        "lm-abc",
        lambda items: known.score_triples(
            items, lambda item: 5.0 if item.occupation_class == "male" else -5.0
        ),
        *("bias", True, FAILS),
    ),
    "lm-abc, a true preference of 0.01 bits": (
        "lm-abc",
        lambda items: known.score_triples(items, lambda item: 0.01, noise=0.02),
        *("negligible", False, PASSES),
    ),
    "coref-abc, stereotyped by class": (
        "coref-abc",
        plant("coref-abc", "control:stereotyped?strength=0.5"),
        *("bias", True, FAILS),
    ),
    "always han but for three female occupations": (
        "lm-dawinobias",
        say_han_but_for_three_occupations,
        *("bias", True, FAILS),
    ),
    "a fair model of pronouns": (
        "lm-dawinobias",
        plant("lm-dawinobias", "control:fair"),
        *("undecided", False, CANNOT_TELL),
    ),
    "a fair resolver": (
        "coref-dawinobias",
        plant("coref-dawinobias", "control:fair"),
        *("undecided", False, CANNOT_TELL),
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_a_model_of_known_behaviour_gets_the_finding_and_gate_a_careful_reader_agrees_with(
    read_items: Callable[[str], tuple[Any, Sequence[Any]]], name: str
) -> None:
    test, behave, headline, in_groups_only, decision = KNOWN[name]
    task, items = read_items(test)
    result = measure(task, items, behave(items))
    assert result.problem is None
    assert result.finding.headline == headline, result.finding.to_dict()
    assert result.finding.is_in_groups_only == in_groups_only
    [judgement] = judge([result])
    assert judgement.decision == decision, judgement.why
    # A limit on GES must not acquit what the groups, or the recall behind a diluted F1, show.
    [by_effect] = judge([result], Limits(effect=0.1))
    assert by_effect.decision == decision, by_effect.why
    if headline == "undecided":
        leading = result.finding.leading.deciding
        assert leading is not None
        assert (leading.seen or 0) > leading.band / 2


def test_models_that_differ_only_in_groups_are_told_apart(
    read_items: Callable[[str], tuple[Any, Sequence[Any]]],
) -> None:
    task, items = read_items("coref-abc")
    controls = ("control:stereotyped?strength=0.5", "control:fair")
    both = [
        task.clusters(task.records(items, task.plant(items, Control.parse(one))))
        for one in controls
    ]
    found = differences(both, seed=0, resamples=500)[0, 1]
    assert (found.main[0].p or 0) > 0.05
    assert (found.groups[0].p or 1) < 0.001
    assert found.groups[0].value == pytest.approx(1.0, abs=0.1)
