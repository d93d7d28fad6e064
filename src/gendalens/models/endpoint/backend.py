"""``openai:MODEL``: a model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

from typing import Any, ClassVar

from gendalens.models.base import Backend, LoadOptions
from gendalens.models.chat.asking import Interview
from gendalens.models.chat.backend import ChatBackend
from gendalens.models.chat.respondent import Rung
from gendalens.models.endpoint.endpoint_backend import EndpointBackend
from gendalens.models.endpoint.findings import Findings
from gendalens.models.endpoint.ladder import choose_rung
from gendalens.models.endpoint.likelihood_backend import LikelihoodBackend
from gendalens.models.endpoint.probe import probe
from gendalens.models.endpoint.respondent import PREFIX, EndpointRespondent
from gendalens.models.endpoint.server import Server
from gendalens.models.endpoint_options import EndpointOptions, as_endpoint

# An answer is a word or a short list; thoughts and lists cannot be foreseen.
_ANSWER_TOKENS = 8


class EndpointChat(EndpointBackend, ChatBackend):
    """A chat model behind an endpoint, asked in Danish."""

    prefix: ClassVar[str] = PREFIX
    takes_endpoint: ClassVar[bool] = True

    def __init__(self, server: Server, found: Findings, rung: Rung) -> None:
        # If the server ignores the temperature, all samples are the same.
        interview = Interview(rung) if found.varies else Interview(rung, samples=0)
        ChatBackend.__init__(self, EndpointRespondent(server, found, rung), interview)
        self.server = server
        self.found = found

    @classmethod
    def load(cls, name: str, options: LoadOptions) -> Backend:
        """The model behind the endpoint, on the best rung that the server really offers."""
        given = as_endpoint(options.endpoint or EndpointOptions())
        server = Server(name.removeprefix(cls.prefix), given)
        try:
            found = probe(server)
            rung = choose_rung(server, found)
            if rung is Rung.LIKELIHOODS:
                return LikelihoodBackend(server, found)
            return cls(server, found, rung)
        except BaseException:
            server.close()
            raise

    @property
    def rung(self) -> Rung:
        """How it answers questions with options."""
        return self.respondent.rung

    def count_prompt(self, request: Any) -> tuple[int, int, int]:
        """The questions of a request, the characters of their prompts, the tokens of their answers."""
        questions = [one.question for one in self.interview.ask(request, self.info.name)]
        characters = sum(len(turn.text) for one in questions for turn in one.turns)
        answers = sum(_ANSWER_TOKENS if one.options else one.max_tokens // 2 for one in questions)
        return len(questions), characters, answers


BACKEND = EndpointChat
