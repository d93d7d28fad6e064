"""Decision routes: servers that give a probability for every option and write no text.

``/systemone`` is TypeSafe's route (transformers serve, llama.cpp, Ollama and others); ``/decisions`` is
OpenAI's. Both take several questions a request. Each of ours brings its own text, so it stands in the
question's instructions, and what all share (the system message) in the state.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gendalens.models.chat.respondent import Question, Reply
from gendalens.models.endpoint.plain import read_dict, read_list, read_number
from gendalens.models.endpoint.usage import count_tokens
from gendalens.models.requests import ANSWERED, REFUSED, UNPARSABLE

SYSTEM_ONE, DECISIONS = "/systemone", "/decisions"
ROUTES = (SYSTEM_ONE, DECISIONS)
#: Questions in one request; the servers allow 64 and more.
TOGETHER = 16
# Servers round: 0 means that an option is less likely than this, and not impossible.
_ROUNDED = 1e-6
# Some servers want a state; this one says nothing about the answer.
_STATE = "Spørgsmål på dansk."


def write_requests(route: str, questions: Sequence[Question]) -> list[dict[str, Any]]:
    """The bodies for several questions, in order."""
    return [_write(route, group) for group in _group(questions)]


def read_replies(
    route: str, questions: Sequence[Question], responses: Sequence[dict[str, Any]]
) -> list[Reply]:
    """The replies to the questions, in order.

    One that a server leaves out, or calls a refusal, is one; an answer without a whole distribution
    cannot be read.
    """
    replies = []
    for group, response in zip(_group(questions), responses, strict=True):
        found = _list_answers(route, response)
        prompt, answer = count_tokens(response)
        for index, question in enumerate(group):
            told = found.get(f"q{index}")
            log_probs = _read_probabilities(told, question.options)
            is_refused = not isinstance(told, dict) or told.get("type") == "refusal"
            replies.append(
                Reply(
                    log_probs=log_probs,
                    outcome=ANSWERED if log_probs else REFUSED if is_refused else UNPARSABLE,
                    prompt_tokens=prompt // len(group),
                    answer_tokens=answer // len(group),
                )
            )
    return replies


def _group(questions: Sequence[Question]) -> list[tuple[Question, ...]]:
    """Neighbours with the same system message, as many as go into one request."""
    groups: list[list[Question]] = []
    for question in questions:
        if (
            groups
            and len(groups[-1]) < TOGETHER
            and _read_state(groups[-1][0]) == _read_state(question)
        ):
            groups[-1].append(question)
        else:
            groups.append([question])
    return [tuple(group) for group in groups]


def _read_state(question: Question) -> str:
    return "\n".join(turn.text for turn in question.turns if turn.role == "system") or _STATE


def _read_instructions(question: Question) -> str:
    return "\n".join(turn.text for turn in question.turns if turn.role != "system")


def _write(route: str, group: Sequence[Question]) -> dict[str, Any]:
    if route == SYSTEM_ONE:
        return {
            "state": _read_state(group[0]),
            "questions": {
                f"q{index}": {
                    "type": "choice",
                    "instructions": _read_instructions(question),
                    "criteria": dict.fromkeys(question.options),
                }
                for index, question in enumerate(group)
            },
        }
    return {
        "input": _read_state(group[0]),
        "questions": [
            {
                "type": "choice",
                "name": f"q{index}",
                "instructions": _read_instructions(question),
                "choices": [{"value": option} for option in question.options],
            }
            for index, question in enumerate(group)
        ],
    }


def _list_answers(route: str, response: dict[str, Any]) -> dict[str, Any]:
    answers = response.get("answers")
    if route == SYSTEM_ONE:
        return read_dict(answers)
    return {str(one.get("name")): one for one in map(read_dict, read_list(answers))}


def _read_probabilities(answer: Any, options: Sequence[str]) -> tuple[float, ...]:
    """The log-probabilities of the options; empty if the answer is not a whole distribution."""
    told = read_dict(answer).get("probabilities")
    # The keys of one route are the values of the other, and these may be anything.
    found = read_dict(told) or {
        str(one.get("value")): one.get("probability") for one in map(read_dict, read_list(told))
    }
    listed = [read_number(found.get(option)) for option in options]
    values = [value for value in listed if value is not None]
    if len(values) < len(options) or not all(0 <= value <= 1 for value in values):
        return ()
    if abs(math.fsum(values) - 1) > 0.02:
        return ()
    least = min(_ROUNDED, *(value for value in values if value))
    return tuple(math.log(value or least) for value in values)
