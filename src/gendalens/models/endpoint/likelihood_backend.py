"""A model behind an endpoint that gives the likelihood of any text: asked like a causal model at home."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gendalens.errors import UserError
from gendalens.models.chat.respondent import Rung
from gendalens.models.endpoint.endpoint_backend import EndpointBackend
from gendalens.models.endpoint.findings import Findings
from gendalens.models.endpoint.prompt_likelihoods import ScoredText, read_response, write_request
from gendalens.models.endpoint.respondent import describe, digest_server
from gendalens.models.endpoint.server import COMPLETIONS, Server
from gendalens.models.requests import Answer, Fill, FillAnswer, Score, ScoreAnswer
from gendalens.results.model_info import ModelInfo
from gendalens.words import Message, Template

KIND = Template("endpoint_lm", "language model behind an endpoint")
NO_BOS = Template(
    "endpoint_lm.no_bos",
    "The server puts no special token (BOS) in front of a text. A model that was trained with one, such "
    "as Gemma, gives other likelihoods without it, so these figures may not be those of the same model "
    "run locally.",
)
_BATCH = 512


@dataclass(frozen=True, slots=True)
class EncodedTexts:
    """A request with the texts whose likelihood it needs; a batch is planned by their number."""

    request: Fill | Score
    texts: tuple[str, ...]
    length: int = 1

    @property
    def rows(self) -> int:
        """The number of texts."""
        return len(self.texts)

    @property
    def positions(self) -> int:
        """The number of texts."""
        return len(self.texts)


class LikelihoodBackend(EndpointBackend):
    """Answers ``Fill`` by whole sentences and ``Score`` left to right, by the likelihoods of prompts."""

    answers = frozenset({Fill.kind, Score.kind})

    def __init__(self, server: Server, found: Findings) -> None:
        self.server = server
        self.found = found
        server.served = found.served
        server.set_owner(self.fingerprint())

    @property
    def rung(self) -> Rung:
        """How it answers."""
        return Rung.LIKELIHOODS

    @property
    def info(self) -> ModelInfo:
        """The model as the server describes it, with the rung."""
        info = describe(self.server, self.found, KIND)
        return replace(info, software=(*info.software, f"chat-rung {self.rung.value}"))

    @property
    def notices(self) -> tuple[Message, ...]:
        """The notice that texts begin without BOS, if they do."""
        return () if self.found.adds_bos else (NO_BOS(),)

    @property
    def batch_tokens(self) -> int:
        """The number of texts in a batch."""
        return _BATCH

    def fingerprint(self) -> str:
        """A digest of the server, its model and the probe's findings."""
        return digest_server(self.server, self.found, self.rung)

    def encode(self, requests: Sequence[Fill | Score]) -> list[EncodedTexts]:
        """The texts of the requests."""
        return [EncodedTexts(request, _list_texts(request)) for request in requests]

    def answer(self, batch: Sequence[EncodedTexts]) -> list[Answer]:
        """The answers to a batch, in order."""
        texts = list(dict.fromkeys(text for item in batch for text in item.texts))
        way = self.found.likelihoods
        responses = self.server.ask(COMPLETIONS, [write_request(way, text) for text in texts])
        scored = {
            text: self._read(text, read_response(way, text, plain))
            for text, plain in zip(texts, responses, strict=True)
        }
        return [_answer(item, [scored[text] for text in item.texts]) for item in batch]

    def count_prompt(self, request: Fill | Score) -> tuple[int, int, int]:
        """Requests, characters of prompts and tokens of answers."""
        texts = _list_texts(request)
        return len(texts), sum(map(len, texts)), len(texts)

    def _read(self, text: str, scored: ScoredText | None) -> ScoredText:
        if scored is None:
            raise UserError(
                "{model} gives no likelihood for “{text}”: run with --answer-by options, or report it to "
                "the authors of the server.",
                model=self.info.name,
                text=text[:60],
            )
        return scored


def _list_texts(request: Fill | Score) -> tuple[str, ...]:
    if isinstance(request, Score):
        return (request.given + request.text,)
    return tuple(request.left + word + request.right for word in request.candidates)


def _answer(item: EncodedTexts, scored: Sequence[ScoredText]) -> Answer:
    request = item.request
    if isinstance(request, Score):
        log_likelihood, tokens, unscored = scored[0].sum_from(len(request.given))
        return ScoreAnswer(log_likelihood, tokens, unscored)
    begin = len(request.left)
    return FillAnswer(
        tuple(one.sum_from(0)[0] for one in scored),
        tuple(
            max(1, one.count_between(begin, begin + len(word)))
            for one, word in zip(scored, request.candidates, strict=True)
        ),
        None,
    )
