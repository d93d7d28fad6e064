"""A chat model as a backend: its answers to requests, by asking it in Danish."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from gendalens.models.base import Backend
from gendalens.models.chat.answering import make_answer
from gendalens.models.chat.asking import Asked, Asking, Interview
from gendalens.models.chat.entities import LABELS
from gendalens.models.chat.reading import READING_VERSION
from gendalens.models.chat.respondent import Question, Respondent, Rung
from gendalens.models.requests import Answer, Choose, Fill, Resolve, Tag
from gendalens.results.model_info import ModelInfo
from gendalens.words import Message, Template

PROMPTED = Template(
    "chat.prompted",
    "The chat model {name} was asked in Danish and had to choose between the answers that the "
    "prompt names. Its figures depend on the prompts (version {version}) and on how it answers "
    "({rung}): compare it with models that were asked in the same way.",
)
# Enough questions in a batch that few are waited for alone at its end.
_TURNS_PER_BATCH = 4


@dataclass(frozen=True, slots=True)
class EncodedInterview:
    """A request with its questions; a batch is planned by their number."""

    request: Asked
    askings: tuple[Asking, ...]

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions, in order."""
        return tuple(asking.question for asking in self.askings)

    @property
    def rows(self) -> int:
        """The number of questions."""
        return len(self.askings)

    @property
    def length(self) -> int:
        """One: a respondent limits the questions at once, not their tokens."""
        return 1

    @property
    def positions(self) -> int:
        """The number of questions."""
        return len(self.askings)


class ChatBackend(Backend):
    """A chat model that answers ``Fill``, ``Resolve``, ``Choose`` and ``Tag`` in words.

    Every answer holds the trials that it was made from; :mod:`gendalens.models.chat.answering` says what
    an answer holds if the model refused throughout.
    """

    holds_weights: ClassVar[bool] = False

    def __init__(self, respondent: Respondent, interview: Interview | None = None) -> None:
        if respondent.rung is Rung.LIKELIHOODS:
            raise ValueError("a model that gives likelihoods is asked as a causal language model")
        self.respondent = respondent
        self.interview = interview or Interview(respondent.rung)

    @property
    def answers(self) -> frozenset[str]:
        """The kinds of request it can answer; a list of names must be written."""
        choices = frozenset({Fill.kind, Resolve.kind, Choose.kind})
        return choices | {Tag.kind} if self.respondent.writes else choices

    @property
    def info(self) -> ModelInfo:
        """The respondent's info, with the version of the prompts and the rung."""
        return describe_interview(self.respondent.info, self.interview)

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types that it is asked for."""
        return LABELS

    @property
    def notices(self) -> tuple[Message, ...]:
        """The notices that every result made from its answers must show."""
        return (make_notice(self.info.name, self.interview),)

    @property
    def batch_tokens(self) -> int:
        """The number of questions in a batch."""
        return _TURNS_PER_BATCH * self.respondent.parallel

    def fingerprint(self) -> str:
        """A digest of the respondent's fingerprint, the prompts and how replies are read."""
        return digest_interview(self.respondent.fingerprint(), self.interview)

    def encode(self, requests: Sequence[Asked]) -> list[EncodedInterview]:
        """The requests in words."""
        name = self.info.name
        return [EncodedInterview(one, self.interview.ask(one, name)) for one in requests]

    def answer(self, batch: Sequence[EncodedInterview]) -> list[Answer]:
        """The answers to a batch, in order."""
        replies = iter(self.respondent.ask([one for item in batch for one in item.questions]))
        return [
            make_answer(item.request, item.askings, [next(replies) for _ in item.askings])
            for item in batch
        ]


def describe_interview(info: ModelInfo, interview: Interview) -> ModelInfo:
    """A model's info with how it was asked."""
    return replace(
        info,
        software=(
            *info.software,
            f"chat-prompts {interview.prompts.title}-{READING_VERSION}",
            f"chat-rung {interview.settings}",
        ),
    )


def digest_interview(fingerprint: str, interview: Interview) -> str:
    """A digest of a model's own fingerprint and all that decides how it is asked and read."""
    parts = ("chat", fingerprint, interview.prompts.digest, interview.settings)
    return hashlib.sha256("\x1f".join((*parts, str(READING_VERSION))).encode()).hexdigest()


def make_notice(name: str, interview: Interview) -> Message:
    """The notice that a model was asked in words."""
    return PROMPTED(name=name, version=interview.prompts.version, rung=interview.rung.value)
