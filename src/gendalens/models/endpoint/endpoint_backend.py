"""What backends behind an endpoint have in common: remarks, cost and usage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from gendalens.models.base import Backend
from gendalens.models.chat.respondent import Rung
from gendalens.models.chat.thoughts import CHARACTERS
from gendalens.models.endpoint.findings import Findings
from gendalens.models.endpoint.server import Server
from gendalens.models.endpoint.usage import price_tokens
from gendalens.words import Message, Template

FOUND = Template(
    "endpoint.found",
    "{model} at {server} answers by {rung}. The probe found: likelihoods of prompts {likelihoods}, "
    "decision route {route}, log-probabilities of {top} tokens, constraints {constraint}, the same "
    "answer twice at temperature 0: {deterministic}, different ones at temperature 1: {varies}.",
)
LEFT_OUT = Template("endpoint.left_out", "Left out, because there is no answer: {servers}.")
CORRECTED = Template("endpoint.corrected", "The API is at {url}; that address is used.")
ESTIMATE = Template(
    "endpoint.estimate", "About {requests:,} requests with {tokens:,} tokens are to be sent."
)
PRICED = Template(
    "endpoint.priced",
    "About {requests:,} requests with {tokens:,} tokens are to be sent, for a price of about "
    "{price:,.2f}.",
)


class EndpointBackend(Backend):
    """A model behind an endpoint."""

    rounds_in_batches: ClassVar[bool] = False
    holds_weights: ClassVar[bool] = False
    server: Server
    found: Findings

    @property
    def rung(self) -> Rung:
        """How it answers."""
        raise NotImplementedError

    def count_prompt(self, request: Any) -> tuple[int, int, int]:
        """The HTTP requests for a request, characters of their prompts, the tokens of their answers."""
        raise NotImplementedError

    @property
    def remarks(self) -> tuple[Message, ...]:
        """What the probe found, and a corrected address."""
        found = self.found
        shown = FOUND(
            model=self.info.name,
            server=self.server.addresses[0].host,
            rung=self.rung.value,
            likelihoods=found.likelihoods or "–",
            route=found.decision_route or "–",
            top=found.top_logprobs,
            constraint=found.constraint or "–",
            deterministic="+" if found.deterministic else "–",
            varies="+" if found.varies else "–",
        )
        remarks = [shown]
        if self.server.corrected_address:
            remarks.insert(0, CORRECTED(url=self.server.corrected_address))
        if self.server.left_out:
            remarks.insert(0, LEFT_OUT(servers=self.server.left_out))
        return tuple(remarks)

    def estimate_cost(self, sample: Sequence[Any], waiting: int) -> Message | None:
        """What ``waiting`` requests like the sample will need."""
        if not sample or not waiting:
            return None
        counted = [self.count_prompt(request) for request in sample]
        share = waiting / len(sample)
        requests, characters, answers = (
            round(share * sum(part)) for part in zip(*counted, strict=True)
        )
        prompts = characters // CHARACTERS
        price = price_tokens(prompts, answers, self.server.options)
        if price is None:
            return ESTIMATE(requests=requests, tokens=prompts + answers)
        return PRICED(requests=requests, tokens=prompts + answers, price=price)

    @property
    def usage(self) -> Mapping[str, float]:
        """Requests and tokens so far, and their price."""
        usage = self.server.usage
        counted: dict[str, float] = {
            "requests": usage.requests,
            "prompt_tokens": usage.prompt_tokens,
            "answer_tokens": usage.answer_tokens,
            "retries": usage.retries,
        }
        if usage.thought_tokens:
            counted["of_them_thought"] = usage.thought_tokens
        price = usage.price(self.server.options)
        return counted if price is None else {**counted, "price": price}

    def close(self) -> None:
        """Close the connections."""
        self.server.close()
