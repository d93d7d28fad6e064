"""Responses that are not what they should be: each is read as what is left of it, or as nothing."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gendalens.models.chat.respondent import Question, Turn
from gendalens.models.endpoint import decisions
from gendalens.models.endpoint.dialect import count_thoughts, read_reply, read_text
from gendalens.models.endpoint.events import join_events
from gendalens.models.endpoint.faults import find_failure
from gendalens.models.endpoint.option_tokens import read_places, score_options
from gendalens.models.endpoint.plain import mend_letters
from gendalens.models.endpoint.prompt_likelihoods import ECHO, PROMPT_LOGPROBS, read_response
from gendalens.models.endpoint.usage import Usage

QUESTIONS = [
    Question((Turn("user", "Hvem?"),), options) for options in (("han", "hun"), ("a", "b"))
]
ODD: list[Any] = [None, True, 0, -1, 1.5, float("nan"), float("inf"), 10**400, "", "\ud83d", "\0"]
ODD += [[], [[]], {}, {"a": 1}, [None], [1, "a"], "NaN", "\u2028", {"token": "x", "logprob": -1}]


def write_entry(token: str, log_prob: float) -> dict[str, Any]:
    return {"token": token, "logprob": log_prob, "bytes": list(token.encode())}


CHAT = {
    "model": "m",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"content": [{"type": "text", "text": "han"}], "reasoning_content": "hm"},
            "logprobs": {
                "content": [
                    {**write_entry("h", -0.1), "top_logprobs": [write_entry("x", -3)]},
                    {**write_entry("an", -0.1), "top_logprobs": [write_entry("un", -1)]},
                ]
            },
        }
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens_details": {"reasoning_tokens": 1}},
}
SYSTEM_ONE = {"answers": {"q0": {"probabilities": {"han": 0.5, "hun": 0.5}}, "q1": {"a": 1}}}
DECISIONS = {
    "answers": [
        {
            "name": "q0",
            "probabilities": [
                {"value": "han", "probability": 0.5},
                {"value": "hun", "probability": 0.5},
            ],
        },
        {"name": "q1", "type": "refusal"},
    ]
}
ECHOED = {"choices": [{"logprobs": {"tokens": ["Hej", " du"], "token_logprobs": [None, -2]}}]}
LISTED = {
    "choices": [
        {"prompt_logprobs": [None, {"7": {"logprob": -1, "rank": 1, "decoded_token": " du"}}]}
    ]
}
EVENTS = [
    {"choices": [{"index": 0, "delta": {"content": "h"}, "logprobs": {"content": [{}]}}]},
    {"choices": [{"index": 0, "delta": {"content": "an"}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 1}},
]


def write_events(events: Any) -> str:
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"


def read_chat(plain: Any) -> None:
    read_reply(plain)
    score_options(read_places(plain), ("han", "hun"))
    Usage().add(plain, "{}", count_thoughts(plain))
    assert find_failure(plain) in (0, 502)


READERS: dict[str, tuple[Any, Callable[[Any], object]]] = {
    "chat": (CHAT, read_chat),
    "systemone": (
        SYSTEM_ONE,
        lambda plain: decisions.read_replies(decisions.SYSTEM_ONE, QUESTIONS, [plain]),
    ),
    "decisions": (
        DECISIONS,
        lambda plain: decisions.read_replies(decisions.DECISIONS, QUESTIONS, [plain]),
    ),
    "echo": (ECHOED, lambda plain: read_response(ECHO, "Hej du", plain)),
    "prompt_logprobs": (LISTED, lambda plain: read_response(PROMPT_LOGPROBS, "Hej du", plain)),
    "events": (EVENTS, lambda plain: join_events(write_events(plain))),
}


def list_places(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = (
        plain.items()
        if isinstance(plain, dict)
        else enumerate(plain)
        if isinstance(plain, list)
        else ()
    )
    for key, value in items:
        yield (*path, key)
        yield from list_places(value, (*path, key))


@pytest.mark.parametrize("name", READERS)
def test_no_value_anywhere_in_a_response_is_too_odd_for_its_reader(name: str) -> None:
    plain, read = READERS[name]
    read(plain)
    dice = random.Random(name)
    for *path, key in list_places(plain):
        for odd in ODD:
            mangled = copy.deepcopy(plain)
            inner = mangled
            for step in path:
                inner = inner[step]
            inner[key] = copy.deepcopy(odd)
            if dice.random() < 0.2:
                del inner[key]
            read(mend_letters(mangled))


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_stream_is_read_by_its_lines_and_not_by_other_signs(line_end: str) -> None:
    """Comments, fields without a space, an event in two lines, and signs that end lines elsewhere."""
    lines = (
        ": hello",
        "",
        'data:{"model": "m",',
        'data:"choices": [{"index": 0, "delta": {"content": "Hun\u2028\x85"}}]}',
        "id: 3",
        "",
        ": still here",
        'data: {"choices": [{"index": 0, "delta": {"content": " smiler \\ud83d"}}]}',
        'data: {"choices": [{"index": 0, "delta": {"content": "\\ude00"}, "finish_reason": "stop"}]}',
        "",
        "data: [DONE]",
    )
    plain = mend_letters(join_events(line_end.join(lines)))
    assert read_text(plain) == "Hun\u2028\x85 smiler \N{GRINNING FACE}"
    assert join_events(line_end.join(lines[:6])) is None
