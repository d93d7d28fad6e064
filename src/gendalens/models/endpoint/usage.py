"""What a run has used, what the rest will cost, and the limit that the user set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gendalens.errors import UserError
from gendalens.models.chat.thoughts import CHARACTERS, estimate_tokens
from gendalens.models.endpoint.plain import read_dict, read_list, read_number
from gendalens.models.endpoint_options import EndpointOptions

_MILLION = 1_000_000
#: What servers call the thoughts that they keep apart from the answer.
THOUGHTS = ("reasoning_content", "reasoning", "thinking")


@dataclass(slots=True)
class Usage:
    """Requests and tokens so far; ``retries`` are requests that had to be sent again.

    ``thought_tokens`` are those of the answers' tokens that the model thought before it answered.
    """

    requests: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    thought_tokens: int = 0
    retries: int = 0

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.prompt_tokens + self.answer_tokens

    def add(self, plain: dict[str, Any], asked: str, thoughts: int = 0) -> None:
        """Count one response to the texts ``asked``; without the server's own count, an estimate."""
        prompt, answer = _read_counts(plain)
        self.requests += 1
        self.prompt_tokens += estimate_tokens(asked) if prompt is None else prompt
        self.answer_tokens += _estimate_answer(plain) if answer is None else answer
        self.thought_tokens += thoughts

    def check(self, limit: int | None) -> None:
        """Raise if the user's limit is reached."""
        if limit is not None and self.tokens >= limit:
            raise UserError(
                "The limit of {limit:,} tokens (--max-tokens-total) is reached: what was answered is "
                "stored; run the same command again, or with a higher limit, to go on.",
                limit=limit,
            )

    def price(self, options: EndpointOptions) -> float | None:
        """What the tokens cost; None if no price is known."""
        return price_tokens(self.prompt_tokens, self.answer_tokens, options)


def count_tokens(plain: dict[str, Any]) -> tuple[int, int]:
    """The tokens of the prompt and of the answer, as the server counts them; 0 if it does not."""
    prompt, answer = _read_counts(plain)
    return prompt or 0, answer or 0


def _read_counts(plain: dict[str, Any]) -> tuple[int | None, int | None]:
    usage = read_dict(plain.get("usage"))

    def read(*names: str) -> int | None:
        value = next((usage[name] for name in names if name in usage), None)
        found = read_number(value)
        return None if found is None or found < 0 else int(found)

    return read("prompt_tokens", "input_tokens"), read("completion_tokens", "output_tokens")


def _estimate_answer(plain: dict[str, Any]) -> int:
    """About how many tokens the model wrote, by the texts of the response."""
    written = 0
    for choice in map(read_dict, read_list(plain.get("choices"))):
        message = read_dict(choice.get("message"))
        content = message.get("content", choice.get("text"))
        parts = [read_dict(part).get("text") for part in read_list(content)]
        thought = next((message[name] for name in THOUGHTS if message.get(name)), "")
        written += sum(len(text) for text in (content, thought, *parts) if isinstance(text, str))
    return -(-written // CHARACTERS)


def price_tokens(prompt: float, answer: float, options: EndpointOptions) -> float | None:
    """What tokens cost, at the user's prices per million."""
    if options.price_in is None and options.price_out is None:
        return None
    return (prompt * (options.price_in or 0) + answer * (options.price_out or 0)) / _MILLION
