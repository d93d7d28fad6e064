"""A chat model behind an endpoint, on one rung of the ladder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gendalens.models.chat.reading import is_refusal, read_choice
from gendalens.models.chat.respondent import Question, Reply, Respondent, Rung
from gendalens.models.endpoint import decisions
from gendalens.models.endpoint.constraints import CONSTRAINTS, read_constrained, write_format
from gendalens.models.endpoint.dialect import VERSION, read_reply
from gendalens.models.endpoint.findings import Findings
from gendalens.models.endpoint.option_tokens import Place, read_places, score_options
from gendalens.models.endpoint.server import CHAT, Server
from gendalens.models.requests import ANSWERED, REFUSED, UNPARSABLE
from gendalens.results.model_info import TEXT_GENERATION, ModelInfo
from gendalens.words import Template

KIND = Template("endpoint_chat", "chat model behind an endpoint")
PREFIX = "openai:"
# Four of these make a batch: enough that 32 requests stay in flight until near its end.
_PARALLEL = 128


class EndpointRespondent(Respondent):
    """Asks a server by the rung that it was given."""

    def __init__(self, server: Server, found: Findings, rung: Rung) -> None:
        self.server = server
        self.found = found
        self._rung = rung
        server.served = found.served
        server.set_owner(self.fingerprint())

    @property
    def rung(self) -> Rung:
        """How it answers questions with options."""
        return self._rung

    @property
    def writes(self) -> bool:
        """Whether it can answer with a text."""
        return self.found.chats

    @property
    def parallel(self) -> int:
        """How many questions it should be given at once, at least."""
        return _PARALLEL

    @property
    def info(self) -> ModelInfo:
        """The model as the server describes it."""
        return describe(self.server, self.found, KIND)

    def fingerprint(self) -> str:
        """A digest of the server, its model, the probe's findings and the rung."""
        return digest_server(self.server, self.found, self._rung)

    def ask(self, questions: Sequence[Question]) -> list[Reply]:
        """The replies, in order."""
        choices = [index for index, one in enumerate(questions) if one.options]
        texts = [index for index, one in enumerate(questions) if not one.options]
        replies: dict[int, Reply] = {}
        for indices, ask in (choices, self._choose), (texts, self._write):
            if indices:
                found = ask([questions[index] for index in indices])
                replies.update(zip(indices, found, strict=True))
        return [replies[index] for index in range(len(questions))]

    def _choose(self, questions: Sequence[Question]) -> list[Reply]:
        route = self.found.decision_route
        if self._rung is Rung.OPTIONS and route:
            responses = self.server.ask(route, decisions.write_requests(route, questions))
            return decisions.read_replies(route, questions, responses)
        responses = self.server.ask(
            CHAT,
            [self._write_choice(question) for question in questions],
            [f"#{question.sample}" for question in questions],
        )
        return [
            self._read_choice(question, plain)
            for question, plain in zip(questions, responses, strict=True)
        ]

    def _write_choice(self, question: Question) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if self._rung is Rung.OPTIONS:
            fields = {"logprobs": True, "top_logprobs": self.found.top_logprobs}
        elif self._rung is Rung.CONSTRAINED:
            fields = CONSTRAINTS[self.found.constraint](question.options)
        return self.found.dialect.write(
            question.turns, max_tokens=question.max_tokens, sample=question.sample, **fields
        )

    def _read_choice(self, question: Question, plain: dict[str, Any]) -> Reply:
        reply = read_reply(plain)
        if self._rung is Rung.OPTIONS:
            return self._read_options(question, plain, reply)
        if self._rung is Rung.CONSTRAINED:
            return replace(reply, text=read_constrained(self.found.constraint, reply.text))
        return reply

    def _read_options(self, question: Question, plain: dict[str, Any], reply: Reply) -> Reply:
        """The probabilities of the options; a refusal, or an answer without them, is told apart."""
        is_choice = read_choice(reply.text, question.options).outcome == ANSWERED
        if reply.outcome == REFUSED or (is_refusal(reply.text) and not is_choice):
            return replace(reply, outcome=REFUSED)
        places = read_places(plain)
        if self.found.thinks:
            places = _skip_thoughts(places, reply.text)
        log_probs = score_options(places, question.options)
        if log_probs is None:
            # However long the answer is, one that begins otherwise is not read as an option later.
            is_other = reply.outcome == ANSWERED or bool(places and reply.text)
            return replace(reply, outcome=UNPARSABLE if is_other else reply.outcome)
        return replace(reply, outcome=ANSWERED, log_probs=log_probs)

    def _write(self, questions: Sequence[Question]) -> list[Reply]:
        bodies = []
        for question in questions:
            fields: dict[str, Any] = {}
            if question.schema and self.found.json_schema and self._rung is not Rung.TEXT:
                fields = write_format(json.loads(question.schema))
            bodies.append(
                self.found.dialect.write(
                    question.turns, max_tokens=question.max_tokens, sample=question.sample, **fields
                )
            )
        tags = [f"#{question.sample}" for question in questions]
        return [read_reply(plain) for plain in self.server.ask(CHAT, bodies, tags)]


def _skip_thoughts(places: Sequence[Place], answer: str) -> list[Place]:
    """The places of the answer, after the thoughts."""
    for start in reversed(range(len(places))):
        text = b"".join(place.token for place in places[start:]).decode(errors="replace")
        # The token that ends the answer may be among them.
        if answer.strip() and text.lstrip().startswith(answer.strip()):
            return list(places[start:])
    return []


def describe(server: Server, found: Findings, kind: Template) -> ModelInfo:
    """The info of a model behind an endpoint, without anything secret."""
    clean = server.redactor.clean
    told = {
        "server": " ".join(part for part in (server.identity.software, found.build) if part),
        "template": found.template,
        "probe": found.digest,
    }
    served = found.served or server.model
    if found.system_fingerprint:
        served = f"{served}+{found.system_fingerprint}"
    return ModelInfo(
        name=clean(f"{PREFIX}{server.model}"),
        kind=kind(),
        revision=clean(_plain(served)),
        dtype="as served",
        software=tuple(f"{name} {clean(_plain(value))}" for name, value in told.items() if value),
        hub_task=TEXT_GENERATION,
    )


def _plain(text: str) -> str:
    """A text of the server's that can stand in a signature."""
    return "".join(sign if sign.isprintable() and sign != "|" else "_" for sign in text)[:120]


def digest_server(server: Server, found: Findings, rung: Rung) -> str:
    """A digest of all that decides the replies, except for the questions; never of a key.

    The addresses are part of it, also of servers that are down: nothing else tells a model for sure from
    its namesake elsewhere.
    """
    places = sorted(url.removesuffix("/v1") for url in server.given)
    parts = [VERSION, places, server.model, server.identity.digest, found.digest, rung.value]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
