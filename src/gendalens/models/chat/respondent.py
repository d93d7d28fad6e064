"""What a chat model is asked and what it gives back, wherever it runs: the seam of this package."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from gendalens.models.requests import ANSWERED
from gendalens.results.model_info import ModelInfo


class Rung(Enum):
    """A way to get an answer from a chat model, best first; a result uses one of them throughout."""

    #: The likelihood of any text, so that an endpoint is asked like a causal model at home.
    LIKELIHOODS = "likelihoods"
    #: A probability for each option.
    OPTIONS = "options"
    #: A choice that the server constrains to the options, sampled.
    CONSTRAINED = "constrained"
    #: Free text, read by a strict parser.
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation; ``role`` is "system", "user" or "assistant"."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """One thing to ask.

    ``options`` are the possible answers exactly as the model would write them, in the order in which the
    prompt names them; without options, the answer is a text, and ``schema`` (JSON Schema as a string)
    describes its form if it must be JSON. ``sample`` numbers the repetitions of a question at
    temperature 1; 0 is asked at temperature 0.
    """

    turns: tuple[Turn, ...]
    options: tuple[str, ...] = ()
    schema: str = ""
    max_tokens: int = 16
    sample: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back.

    ``log_probs`` are the natural-log probabilities of the options, not normalised; on a rung that does
    not give them, ``text`` is what the model wrote, without its thoughts. ``outcome`` is ANSWERED, or
    CUT_OFF if the text was not finished; whether a text is a refusal is decided by the reader.
    """

    outcome: str = ANSWERED
    text: str = ""
    log_probs: tuple[float, ...] = ()
    prompt_tokens: int = 0
    answer_tokens: int = 0
    thought_tokens: int = 0


class Respondent(ABC):
    """A chat model on one rung of the ladder, at home or behind an endpoint."""

    @property
    @abstractmethod
    def rung(self) -> Rung:
        """How it answers questions with options."""

    @property
    @abstractmethod
    def info(self) -> ModelInfo:
        """Name, kind and revision."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A digest of all that decides its replies, except for the questions; never of a key."""

    @abstractmethod
    def ask(self, questions: Sequence[Question]) -> list[Reply]:
        """The replies, in order."""

    @property
    def writes(self) -> bool:
        """Whether it can write text, as a question without options asks it to."""
        return True

    @property
    def parallel(self) -> int:
        """How many questions it should be given at once, at least."""
        return 1
