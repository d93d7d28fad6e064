"""A bias that was planted in a server is found again: by every test, on every rung it supports."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from endpoint_server import REFUSAL, Script, serve
from planting import RUNGS, plan_test, plant, rung_of, take_first, throw

import gendalens
from gendalens.api import load_model
from gendalens.models.chat.respondent import Rung
from gendalens.models.requests import Resolve, Tag
from gendalens.results.result import Result

CHOICES = ("lm-dawinobias", "coref-dawinobias", "coref-abc", "chat-abc")
LIKELIHOODS = ("lm-dawinobias", "lm-abc")
STRENGTH = {"lm-dawinobias": 0.8, "coref-dawinobias": 0.8, "coref-abc": 0.6, "ner-dane": 0.8}
#: Control models whose bias is the main effect of a test.
BIASED = {
    "lm-dawinobias": "stereotyped",
    "coref-dawinobias": "stereotyped",
    "coref-abc": "male-default",
    "lm-abc": "male-default",
    "chat-abc": "male-default",
    "ner-dane": "male-default",
}
PAIRS = [
    *((test, name) for name in RUNGS if "likelihoods" in name for test in LIKELIHOODS),
    *((test, name) for name in RUNGS if "likelihoods" not in name for test in CHOICES),
    ("ner-dane", "text"),
    ("ner-dane", "text after thoughts"),
    ("ner-dane", "constrained by json_schema"),
    ("ner-dane", "options by tokens"),
]
#: One test for each rung, and one rung for each test.
QUICK = [
    ("lm-abc", "likelihoods by prompt_logprobs"),
    ("lm-dawinobias", "options in pieces"),
    ("coref-abc", "options by decisions"),
    ("chat-abc", "options by systemone"),
    ("coref-dawinobias", "constrained by grammar"),
    ("chat-abc", "text"),
    ("ner-dane", "constrained by json_schema"),
]


SAMPLES = {"chat-abc": 48, "ner-dane": 6}


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GENDALENS_HOME", str(tmp_path / "home"))


def ask(script: Script, task: str, sample: int) -> Result:
    with serve(script) as url:
        (result,) = gendalens.run(
            "openai:m", endpoint=url, tasks=task, data="builtin", sample=sample
        )
    return result


def find_planted(task: str, control: str, sample: int, result: Result) -> float:
    """The gap that was planted, in the unit of the result."""
    (planted,) = gendalens.run(control, tasks=task, data="builtin", sample=sample)
    if result.gap.unit == planted.gap.unit:
        assert planted.gap.value is not None
        return planted.gap.value
    # Of the choices of chat-abc, eight are made at temperature 0, and six are drawn.
    assert (task, result.gap.unit) == ("chat-abc", "share")
    plan = plan_test(task, sample)
    gaps = []
    for answer in plan.task.plant(plan.items, load_model(control)).values():
        female, male = (math.exp(value) for value in answer.log_probs)
        gaps.append((8 * (1 if male > female else -1) + 6 * (male - female)) / 14)
    return sum(gaps) / len(gaps)


def check_planted(task: str, name: str, sample: int) -> tuple[float, Result]:
    control = f"control:{BIASED[task]}?strength={STRENGTH.get(task, 1)}"
    script = Script(**RUNGS[name])
    plant(script, task, control, rung_of(name), sample, order=0.3, paraphrase=0.2)
    result = ask(script, task, sample)
    value = find_planted(task, control, sample, result)
    assert f"chat-rung {name.split()[0]}" in " ".join(result.model.software)
    assert result.gap.low is not None
    assert result.gap.high is not None
    assert result.gap.low <= value <= result.gap.high
    assert result.finding.main.verdict == "bias"
    assert result.finding.main.direction in ("male", "pro-stereotypical")
    return value, result


@pytest.mark.parametrize(("task", "name"), QUICK)
def test_a_planted_bias_is_found_again(task: str, name: str) -> None:
    check_planted(task, name, sample=SAMPLES.get(task, 12))


@pytest.mark.slow
@pytest.mark.parametrize(("task", "name"), PAIRS)
def test_a_planted_bias_is_found_again_on_every_rung(
    task: str, name: str, record_property: Any
) -> None:
    value, result = check_planted(task, name, sample=60)
    figures = (value, result.gap.value, result.gap.low, result.gap.high)
    record_property("gap", " ".join(f"{one:.3f}" for one in figures if one is not None))
    record_property("unit", result.gap.unit)


@pytest.mark.slow
@pytest.mark.parametrize(("task", "name"), PAIRS)
def test_a_fair_server_has_no_bias_on_any_rung(task: str, name: str) -> None:
    script = Script(**RUNGS[name])
    plant(script, task, "control:fair", rung_of(name), 60, order=0.3, paraphrase=0.2)
    result = ask(script, task, 60)
    assert result.gap.low is not None
    assert result.gap.high is not None
    assert result.gap.low <= 0 <= result.gap.high
    assert result.finding.main.verdict in ("undecided", "negligible")


FIRST = [(test, name) for test, name in PAIRS if test in CHOICES and "likelihoods" not in name]


@pytest.mark.parametrize(
    ("task", "name"),
    [pytest.param(*pair, marks=() if pair in QUICK else pytest.mark.slow) for pair in FIRST],
)
def test_a_server_that_takes_the_first_option_is_not_measurable(task: str, name: str) -> None:
    script = Script(**RUNGS[name])
    plant(script, task, "control:fair", rung_of(name), 12, whim=take_first)
    result = ask(script, task, 12)
    assert result.finding.headline == "not_measurable"
    assert result.finding.reason is not None
    assert result.finding.reason.code == "chat.order_decides"
    assert result.coverage["choices_that_change_with_the_order"] > 0.95


def refuse_women(request: Any, asking: Any) -> dict[str, float] | None:
    """Refuses three in ten questions about women, and hardly any about men."""
    if isinstance(request, Resolve):
        assert request.pronoun is not None
        start, end = request.pronoun
        pronoun = request.text[start:end].lower()
        limit = {"hun": -0.4, "hende": -0.4, "hendes": -0.4}.get(pronoun, -0.95)
    else:
        limit = -2.0
    return {REFUSAL: 0.0} if throw(request, "refused") < limit else None


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name == "options by systemone" else pytest.mark.slow)
        for name in RUNGS
        if rung_of(name) in (Rung.OPTIONS, Rung.TEXT)
    ],
)
def test_refusals_that_were_planted_by_gender_are_found(name: str) -> None:
    script = Script(**RUNGS[name])
    plant(script, "coref-dawinobias", "control:fair", rung_of(name), 60, whim=refuse_women)
    result = ask(script, "coref-dawinobias", 60)
    refusals = next(one for one in result.finding.evidence if one.id == "refusals")
    assert refusals.verdict == "bias"
    assert refusals.direction == "refused about women"
    assert refusals.low is not None
    assert refusals.high is not None
    # 30% of those about women, 2.5% of those about men.
    assert refusals.low < 0.275 < refusals.high


SAID = {
    "The answer is she.": "unparsable",
    "": "unparsable",
    REFUSAL: "refused",
    "Lad mig tænke over det. " * 60: "cut_off",
    "<think>Hun? Han? Hun": "cut_off",
}


def test_answers_that_are_none_are_counted() -> None:
    """In English, empty, refused, too long, and not beyond the thought."""
    script = Script()
    planned: Counter[str] = Counter()

    def say(request: Any, asking: Any) -> dict[str, float] | None:
        kind = int(5 * (throw(request, "how") + 1))
        if kind >= len(SAID):
            return None
        text = list(SAID)[kind]
        planned[SAID[text]] += 1
        return {text: 0.0}

    plant(script, "lm-dawinobias", "control:fair", Rung.TEXT, 16, whim=say)
    coverage = ask(script, "lm-dawinobias", 16).coverage
    counted = {name: coverage[f"trials_{name}"] for name in planned}
    assert len(planned) == 3
    assert counted == planned
    assert coverage["questions_without_answer"] == planned.total() / 14


def test_names_that_cannot_be_read_are_counted() -> None:
    script = Script()

    def say(request: Any, asking: Any) -> dict[str, float] | None:
        assert isinstance(request, Tag)
        kind = int(4 * (throw(request) + 1))
        said = {
            0: "Anna og Peter.",
            1: REFUSAL,
            2: '{"navne": [{"navn": "Zorro Quux", "type": "PER"}]}',
        }
        return {said[kind]: 0.0} if kind in said else None

    plant(script, "ner-dane", "control:fair", Rung.TEXT, 4, whim=say)
    coverage = ask(script, "ner-dane", 4).coverage
    assert coverage["trials_unparsable"] > 0
    assert coverage["trials_refused"] > 0
    assert coverage["invented_names"] > 0
