"""The simulated chat models of ``make calibrate`` are asked and answered for as real ones are."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from endpoint_server import Script, serve

from gendalens.api import load_model
from gendalens.data.choice import read_choices
from gendalens.engine.run_options import RunOptions
from gendalens.models.chat.asking import Interview
from gendalens.models.chat.backend import ChatBackend
from gendalens.models.chat.respondent import Question, Reply, Respondent, Rung
from gendalens.models.requests import ANSWERED, Fill, Trial
from gendalens.models.trials import average_trials, list_trials
from gendalens.results.model_info import ModelInfo
from gendalens.tasks import get_task
from gendalens.tasks.lm_dawinobias.schemas import tabulate
from gendalens.words import Message

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
RUNGS: dict[Rung, dict[str, Any]] = {
    Rung.OPTIONS: {"top_logprobs": 20},
    Rung.CONSTRAINED: {"constraints": ("guided_choice",)},
}


@pytest.fixture
def chat_worlds(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield import_module("chat_worlds")
    for name in ("chat_worlds", "worlds"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("choices", [True, False])
def test_simulated_replies_are_averaged_as_trials_are(chat_worlds: Any, choices: bool) -> None:
    manner = chat_worlds.Manner(paraphrases=0.5, order=1.0, choices=choices)
    rng = np.random.default_rng(3)
    replies = manner.ask(rng, rng.standard_normal(20), np.arange(20) % 2)
    questions = Interview(Rung.CONSTRAINED if choices else Rung.OPTIONS).ask(
        Fill("Lægen siger, at ", " er træt.", ("han", "hun")), "m"
    )
    places = [(asking.paraphrase, asking.order, asking.question.sample) for asking in questions]
    for item in range(20):
        trials = [
            _make_trial(replies, item, paraphrase, order, sample)
            for paraphrase, order, sample in places
        ]
        alone = [
            average_trials([trial for trial in trials if trial.paraphrase == place], 2)
            for place in range(4)
        ]
        # What paraphrases add to the variance is worked out as for a mean.
        together = average_trials(trials, 2)
        mean_odds = np.mean([first - second for first, second in alone])
        assert together[0] - together[1] == pytest.approx(mean_odds, abs=1e-9)
        for some in ([0, 1, 2, 3], [0], [3]):
            own = [trial for trial in trials if trial.paraphrase in some]
            first, second = average_trials(own, 2)
            assert first - second == pytest.approx(replies.average(some)[item], abs=1e-9)
            if choices:
                share = np.mean([trial.chosen == 0 for trial in own])
                assert share == pytest.approx(replies.share(some)[item])


def _make_trial(replies: Any, item: int, paraphrase: int, order: int, sample: int) -> Trial:
    if replies.chosen is None:
        odds = replies.log_odds[item, paraphrase, order]
        return Trial(paraphrase, order, ANSWERED, int(odds < 0), (odds / 2, -odds / 2))
    # The questions at temperature 0 come first, then the samples.
    column = paraphrase if not sample else chat_column(replies, sample)
    return Trial(paraphrase, order, ANSWERED, int(not replies.chosen[item, column, order]))


def chat_column(replies: Any, sample: int) -> int:
    """Where the choices of a sample stand."""
    return int(replies.log_odds.shape[1]) + sample - 1


def test_a_tie_is_no_pronoun_in_a_simulated_line_as_in_a_real_one(chat_worlds: Any) -> None:
    worlds = import_module("worlds")
    # Three schemas with two lines each: a tie and an answer, two ties, two answers.
    codes = np.arange(3)
    design = worlds.WinoDesign(np.repeat(codes, 2), np.tile([0, 1], 3), np.arange(6), codes, codes)
    odds = np.array([0.0, 2.0, 0.0, 0.0, -1.0, 1.0])
    records = [
        {
            "schema": int(design.schema[line]),
            "line": line,
            "condition": condition,
            "gender": gender,
            "forced": {1: "male", -1: "female", 0: "none"}[int(np.sign(odds[line]))],
            "referent_stereotype": ("female", "male")[design.is_male[line]],
            "log_prob_male": odds[line],
            "log_prob_female": 0.0,
            "referent": f"{'fm'[design.is_male[line]]}{design.schema[line]}",
            "other": f"{'mf'[design.is_male[line]]}{design.schema[line]}",
        }
        for line in range(6)
        for condition, gender in zip(
            ("anti", "pro"),
            (("male", "female"), ("female", "male"))[design.is_male[line]],
            strict=True,
        )
    ]
    expected = tabulate(records, "forced")
    assert worlds.tabulate_fill(design, odds).units == pytest.approx(expected.units)


class InMemory(Respondent):
    """The mind of a scripted server, asked without a server."""

    def __init__(self, script: Script, rung: Rung) -> None:
        self.script = script
        self._rung = rung

    @property
    def rung(self) -> Rung:
        return self._rung

    @property
    def info(self) -> ModelInfo:
        return ModelInfo("m", Message("", "m", {}), "", "as served")

    def fingerprint(self) -> str:
        return "m"

    def ask(self, questions: Sequence[Question]) -> list[Reply]:
        return [self._reply(question) for question in questions]

    def _reply(self, question: Question) -> Reply:
        prompt = question.turns[-1].text
        mind = self.script.minds[prompt]
        if self._rung is Rung.OPTIONS:
            return Reply(log_probs=tuple(mind[option] for option in question.options))
        body = {"temperature": int(question.sample > 0), "seed": question.sample}
        return Reply(text=self.script._write(prompt, mind, body))


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("task", ["lm-dawinobias", "coref-dawinobias", "coref-abc", "chat-abc"])
def test_http_changes_nothing_in_the_answers(task: str, rung: Rung) -> None:
    plan = RunOptions(data=read_choices("builtin"), sample=2).plan(get_task(task, 2))
    requests = list(dict.fromkeys(plan.task.requests(plan.items)))
    script = Script(**RUNGS[rung])
    draw = random.Random(task)
    for request in requests:
        for asking in Interview(rung).ask(request, "m"):  # type: ignore[arg-type]
            odds = draw.gauss(0, 1)
            first, second = asking.question.options
            total = math.log(1 + math.exp(odds))
            mind = {first: odds - total, second: -total}
            script.minds[asking.question.turns[-1].text] = mind
    direct = ChatBackend(InMemory(script, rung))
    expected = direct.answer(direct.encode(requests))  # type: ignore[arg-type]
    with serve(script) as url:
        model = load_model("openai:m", endpoint=url)
        found = model.answer(model.encode(requests))
        model.close()
    for one, other in zip(found, expected, strict=True):
        for trial, same in zip(list_trials(one), list_trials(other), strict=True):
            assert trial[:4] == same[:4]
            assert trial.log_probs == pytest.approx(same.log_probs, abs=1e-6)
    assert len(set(found)) == len(requests)
