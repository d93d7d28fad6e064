"""How a server wants chat requests to be written, and how its responses are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gendalens.models.base import ANSWERED, CUT_OFF
from gendalens.models.chat.respondent import Reply, Turn
from gendalens.models.chat.thoughts import split_thoughts
from gendalens.models.endpoint.usage import count_tokens

#: Written into the probe's findings, and raised when requests are written or read differently.
VERSION = 1
#: Tokens that a model may think before it answers.
MOST_THOUGHT = 2048


@dataclass(frozen=True, slots=True)
class Dialect:
    """Fields that servers disagree on.

    ``limit`` is the name of the field for the length of the answer; ``temperature`` and ``seed`` are
    False if the server rejects them; ``thinks`` if the model writes down thoughts first.
    """

    limit: str = "max_tokens"
    temperature: bool = True
    seed: bool = True
    thinks: bool = False

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
                body["top_p"] = 1
        if self.seed:
            body["seed"] = sample
        return {**body, **fields}


#: What is tried, in this order.
DIALECTS = (
    Dialect(),
    Dialect(seed=False),
    Dialect(limit="max_completion_tokens"),
    Dialect(limit="max_completion_tokens", temperature=False),
    Dialect(limit="max_completion_tokens", temperature=False, seed=False),
)


def read_choice_of(plain: dict[str, Any]) -> dict[str, Any]:
    """The first choice of a response; empty if there is none."""
    choices = plain.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def read_text(plain: dict[str, Any]) -> str:
    """What the model wrote, thoughts included if the server leaves them in."""
    message = read_choice_of(plain).get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, str) else ""


def read_reply(plain: dict[str, Any]) -> Reply:
    """A response as a reply, without the model's thoughts."""
    choice = read_choice_of(plain)
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    thoughts = split_thoughts(read_text(plain))
    prompt, answer = count_tokens(plain)
    cut_off = choice.get("finish_reason") == "length" or not thoughts.finished
    refusal = message.get("refusal")
    return Reply(
        outcome=CUT_OFF if cut_off else ANSWERED,
        text=refusal if isinstance(refusal, str) and refusal else thoughts.answer,
        prompt_tokens=prompt,
        answer_tokens=answer,
        thought_tokens=_count_thoughts(plain, message) or thoughts.tokens,
    )


def _count_thoughts(plain: dict[str, Any], message: dict[str, Any]) -> int:
    usage = plain.get("usage")
    details = usage.get("completion_tokens_details") if isinstance(usage, dict) else None
    counted = details.get("reasoning_tokens") if isinstance(details, dict) else None
    if isinstance(counted, int):
        return counted
    written = message.get("reasoning_content") or message.get("reasoning")
    return len(written) // 3 if isinstance(written, str) else 0
