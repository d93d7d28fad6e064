"""How a server wants chat requests to be written, and how its responses are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from gendalens.models.chat.respondent import Reply, Turn
from gendalens.models.chat.thoughts import estimate_tokens, split_thoughts
from gendalens.models.endpoint.plain import read_dict, read_list, read_number
from gendalens.models.endpoint.usage import THOUGHTS, count_tokens
from gendalens.models.requests import ANSWERED, CUT_OFF, REFUSED

#: Written into the probe's findings, and raised when requests are written or read differently.
VERSION = 5
#: Tokens that a model may think before it answers.
MOST_THOUGHT = 2048
# llama.cpp samples from the 40 likeliest tokens, and from none twenty times less likely than the first;
# vLLM does what the model's folder says. OpenAI's own servers reject both fields.
_UNFILTERED = {"top_k": 0, "min_p": 0}


@dataclass(frozen=True, slots=True)
class Dialect:
    """Fields that servers disagree on.

    ``limit`` is the name of the field for the length of the answer; ``temperature`` and ``seed`` are
    False if the server rejects them; ``streams`` if it answers in no other way than by events, and
    ``counts`` if it can be asked to count tokens then; ``thinks`` if the model writes down thoughts
    first; ``unfiltered`` if the server can be asked to sample from all tokens; ``top_p`` is False if it
    rejects that beside the temperature.
    """

    limit: str = "max_tokens"
    temperature: bool = True
    seed: bool = True
    streams: bool = False
    thinks: bool = False
    unfiltered: bool = False
    counts: bool = False
    top_p: bool = True

    def write(
        self, turns: Sequence[Turn], *, max_tokens: int, sample: int = 0, **fields: Any
    ) -> dict[str, Any]:
        """The body of a chat request; ``sample`` 0 is asked at temperature 0, others at 1."""
        body: dict[str, Any] = {
            "messages": [{"role": turn.role, "content": turn.text} for turn in turns],
            self.limit: max_tokens + (MOST_THOUGHT if self.thinks else 0),
        }
        if self.temperature:
            body["temperature"] = 1 if sample else 0
            if sample:  # some servers leave out unlikely tokens by default
                body |= {"top_p": 1} if self.top_p else {}
                body |= _UNFILTERED if self.unfiltered else {}
        if self.seed:
            body["seed"] = sample
        if self.streams:
            body["stream"] = True
        if self.counts:
            body["stream_options"] = {"include_usage": True}
        return {**body, **fields}


#: What is tried, in this order: as much as possible is said to the server.
DIALECTS = tuple(
    Dialect(limit, temperature, seed, streams, counts=counts)
    for (streams, counts), limit, temperature, seed in product(
        ((False, False), (True, True), (True, False)),
        ("max_tokens", "max_completion_tokens"),
        (True, False),
        (True, False),
    )
)


def read_choice_of(plain: dict[str, Any]) -> dict[str, Any]:
    """The first choice of a response; empty if there is none."""
    listed = [one for one in read_list(plain.get("choices")) if isinstance(one, dict)]
    # A server may send several, in any order.
    return next((one for one in listed if one.get("index") == 0), listed[0] if listed else {})


def read_message(plain: dict[str, Any]) -> dict[str, Any]:
    """The message of a response; empty if there is none."""
    return read_dict(read_choice_of(plain).get("message"))


def read_text(plain: dict[str, Any]) -> str:
    """What the model wrote, thoughts included if the server leaves them in."""
    content = read_message(plain).get("content")
    if isinstance(content, list):  # in parts
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def read_reply(plain: dict[str, Any]) -> Reply:
    """A response as a reply, without the model's thoughts."""
    end = read_choice_of(plain).get("finish_reason")
    thoughts = split_thoughts(read_text(plain))
    prompt, answer = count_tokens(plain)
    outcome = ANSWERED
    if end == "content_filter" or _find_refusal(plain):
        outcome = REFUSED
    elif end == "length" or not thoughts.finished:
        outcome = CUT_OFF
    return Reply(
        outcome=outcome,
        text=_find_refusal(plain) or thoughts.answer,
        prompt_tokens=prompt,
        answer_tokens=answer,
        thought_tokens=count_thoughts(plain),
    )


def count_thoughts(plain: dict[str, Any]) -> int:
    """The tokens that the model thought before its answer, by its own account or estimated."""
    details = read_dict(read_dict(plain.get("usage")).get("completion_tokens_details"))
    counted = read_number(details.get("reasoning_tokens")) or 0
    if counted > 0:
        return int(counted)
    message = read_message(plain)
    apart = next((message[name] for name in THOUGHTS if message.get(name)), "")
    if isinstance(apart, str) and apart:
        return estimate_tokens(apart)
    return split_thoughts(read_text(plain)).tokens


def _find_refusal(plain: dict[str, Any]) -> str:
    """What the server itself marks as a refusal."""
    message = read_message(plain)
    parts = map(read_dict, read_list(message.get("content")))
    marked = [message.get("refusal"), *(part.get("refusal") for part in parts)]
    return next((one for one in marked if isinstance(one, str) and one), "")
