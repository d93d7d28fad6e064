"""The thoughts that some chat models write down before they answer."""

from __future__ import annotations

import re
from typing import NamedTuple

_NAMES = "think|thinking|thought|thoughts|reasoning"
_OPEN = re.compile(rf"[<\[]\s*(?:{_NAMES})\s*[>\]]", re.IGNORECASE)
_CLOSE = re.compile(rf"[<\[]\s*/\s*(?:{_NAMES})\s*[>\]]", re.IGNORECASE)
#: A token of Danish text has about three characters with the tokenizers of today's chat models.
CHARACTERS = 3


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has."""
    return -(-len(text) // CHARACTERS)


class Thoughts(NamedTuple):
    """A text without its thoughts, the thoughts, and whether the last of them came to an end."""

    answer: str
    thought: str
    finished: bool

    @property
    def tokens(self) -> int:
        """About how many tokens were thought, for servers that do not count them."""
        return estimate_tokens(self.thought)


def close_thought(prompt: str) -> str:
    r"""The prompt, and if it ends where a thought begins, the end of that thought.

    Templates of models that always think begin the thought for them. What follows would be part of it,
    and no answer.

    >>> close_thought("Hvem? <think>\n")
    'Hvem? <think>\n\n</think>\n\n'
    """
    opened = list(_OPEN.finditer(prompt))
    if not opened or prompt[opened[-1].end() :].strip():
        return prompt
    tag = opened[-1][0]
    gap = "\n" if prompt.endswith("\n") else "\n\n"
    return f"{prompt}{gap}{tag[0]}/{tag[1:]}\n\n"


def split_thoughts(text: str) -> Thoughts:
    """A text and the thoughts in it, which stand in ``<think>``, ``[THINK]`` or the like.

    A thought without a beginning began in the prompt; one without an end was cut off, and nothing after
    it is an answer.

    >>> split_thoughts("<think>Hun?</think> han").answer
    'han'
    """
    answer: list[str] = []
    thought: list[str] = []
    at = 0
    opened = _OPEN.search(text)
    closed = _CLOSE.search(text)
    if closed and (opened is None or closed.start() < opened.start()):
        thought.append(text[: closed.start()])
        at = closed.end()
    while opened := _OPEN.search(text, at):
        answer.append(text[at : opened.start()])
        closed = _CLOSE.search(text, opened.end())
        if closed is None:
            thought.append(text[opened.end() :])
            return Thoughts("".join(answer).strip(), "\n".join(thought), finished=False)
        thought.append(text[opened.end() : closed.start()])
        at = closed.end()
    answer.append(text[at:])
    return Thoughts("".join(answer).strip(), "\n".join(thought), finished=True)
