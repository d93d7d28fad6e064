"""What a run has used, what the rest will cost, and the limit that the user set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gendalens.errors import UserError
from gendalens.models.chat.thoughts import estimate_tokens
from gendalens.models.endpoint.plain import read_dict, read_number
from gendalens.models.endpoint_options import EndpointOptions

_MILLION = 1_000_000


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
        """Count one response to the body ``asked``; without the server's own count, an estimate."""
        prompt, answer = count_tokens(plain)
        if not prompt and not answer:
            prompt = estimate_tokens(asked)
            answer = estimate_tokens(str(plain.get("choices", "")))
        self.requests += 1
        self.prompt_tokens += prompt
        self.answer_tokens += answer
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
    """The tokens of the prompt and of the answer, as the server counts them."""
    usage = read_dict(plain.get("usage"))

    def read(*names: str) -> int:
        value = next((usage[name] for name in names if name in usage), 0)
        return int(max(0.0, read_number(value) or 0.0))

    return read("prompt_tokens", "input_tokens"), read("completion_tokens", "output_tokens")


def price_tokens(prompt: float, answer: float, options: EndpointOptions) -> float | None:
    """What tokens cost, at the user's prices per million."""
    if options.price_in is None and options.price_out is None:
        return None
    return (prompt * (options.price_in or 0) + answer * (options.price_out or 0)) / _MILLION
