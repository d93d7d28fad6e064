"""Minds for the scripted server: every prompt of a test answered as a control model would."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from endpoint_server import REFUSAL, Script

from gendalens.api import load_model
from gendalens.data.choice import read_choices
from gendalens.engine.run_options import RunOptions
from gendalens.models.chat.asking import Interview
from gendalens.models.chat.respondent import Rung
from gendalens.models.control import Control
from gendalens.models.requests import (
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
from gendalens.models.trials import normalise
from gendalens.tasks import get_task

#: Every way to answer that the product knows, as what a server offers.
RUNGS: dict[str, dict[str, Any]] = {
    "likelihoods by echo": {"likelihoods": "echo"},
    "likelihoods by prompt_logprobs": {"likelihoods": "prompt_logprobs"},
    "options by tokens": {"top_logprobs": 20},
    "options in pieces": {"top_logprobs": 5, "splits": 2},
    "options by systemone": {"decision_route": "/systemone"},
    "options by decisions": {"decision_route": "/decisions"},
    "constrained by structured_outputs": {"constraints": ("structured_outputs",)},
    "constrained by guided_choice": {"constraints": ("guided_choice",)},
    "constrained by grammar": {"constraints": ("grammar",)},
    "constrained by json_schema": {"constraints": ("json_schema",)},
    "text": {},
    "text after thoughts": {"thinks": True},
}
#: Chooses a text of its own for a question, or None for what was planted.
Whim = Callable[[Any, Any], Mapping[str, float] | None]


def rung_of(name: str) -> Rung:
    return Rung(name.split()[0])


def throw(*key: object) -> float:
    """A number between −1 and 1 that depends on the key alone."""
    return zlib.crc32("\x1f".join(map(str, key)).encode()) / 2**31 - 1


def plan_test(task: str, sample: int) -> Any:
    return RunOptions(data=read_choices("builtin"), sample=sample).plan(get_task(task, 2))


def plant(
    script: Script,
    task: str,
    control: str,
    rung: Rung,
    sample: int,
    *,
    order: float = 0.0,
    paraphrase: float = 0.0,
    whim: Whim = lambda request, asking: None,
) -> Sequence[Any]:
    """Have the server answer the prompts of a test as a control model would.

    ``order`` is what being named first is worth, and ``paraphrase`` how far the wording throws an answer
    this way or that, both in nats.
    """
    plan = plan_test(task, sample)
    model = load_model(control)
    assert isinstance(model, Control)
    planted = plan.task.plant(plan.items, model)
    for request, answer in planted.items():
        if rung is Rung.LIKELIHOODS:
            _plant_likelihoods(script, request, answer)
            continue
        values = _list_values(request, answer)
        for asking in Interview(rung).ask(request, "m"):
            prompt = asking.question.turns[-1].text
            own = whim(request, asking)
            if isinstance(request, Tag):
                script.texts[prompt] = next(iter(own)) if own else _write_names(request, answer)
                continue
            if own is not None or values is None:
                script.minds[prompt] = dict(own or {REFUSAL: 0.0})
                continue
            count = len(asking.question.options)
            thrown = [paraphrase * throw(request, asking.paraphrase, i) for i in range(count)]
            script.minds[prompt] = dict(
                zip(
                    asking.question.options,
                    normalise(
                        [
                            values[(place + asking.order) % count]
                            + thrown[(place + asking.order) % count]
                            + (order if place == 0 else 0.0)
                            for place in range(count)
                        ]
                    ),
                    strict=True,
                )
            )
    return list(planted)


def take_first(request: Any, asking: Any) -> Mapping[str, float] | None:
    """The mind of a model that takes what is named first."""
    if not asking.question.options:
        return None
    count = len(asking.question.options)
    return dict(zip(asking.question.options, [-0.001, *[-7.0] * (count - 1)], strict=True))


def _list_values(request: Any, answer: Any) -> Sequence[float] | None:
    """The log-probabilities of the options in the order of the request; None for no answer."""
    if isinstance(request, Fill | Choose):
        assert isinstance(answer, FillAnswer | ChooseAnswer)
        return normalise(answer.log_probs)
    if not isinstance(request, Resolve):
        return ()
    assert isinstance(answer, ResolveAnswer)
    linked = {mention for cluster in answer.clusters for mention in cluster}
    chosen = [index for index, one in enumerate(request.candidates) if one in linked]
    if not chosen and len(request.candidates) > 1:
        return None
    best = chosen[0] if chosen else 1
    return [math.log(0.9) if index == best else math.log(0.1) for index in range(2)]


def _write_names(request: Tag, answer: Any) -> str:
    assert isinstance(answer, TagAnswer)
    names = [
        {"navn": request.text[start:end], "type": label} for start, end, label in answer.entities
    ]
    return json.dumps({"navne": names}, ensure_ascii=False)


def _plant_likelihoods(script: Script, request: Any, answer: Any) -> None:
    if isinstance(request, Score):
        assert isinstance(answer, ScoreAnswer)
        script.scores[request.given + request.text] = answer.log_likelihood
    if isinstance(request, Fill):
        assert isinstance(answer, FillAnswer)
        for word, value in zip(request.candidates, answer.log_probs, strict=True):
            script.scores[request.left + word + request.right] = value - 20
