"""A chat model's requests as rows of tokens, so that batches can be planned."""

from __future__ import annotations

from dataclasses import dataclass

from gendalens.models.chat.asking import Asked, Asking
from gendalens.models.huggingface.prepared import Prepared, Row
from gendalens.models.requests import Tag


@dataclass(frozen=True, slots=True)
class EncodedQuestion:
    """A question as rows for the language model, with the number of ways to write each option."""

    asking: Asking
    forms: tuple[int, ...]
    items: tuple[Prepared, ...]

    @property
    def tokens(self) -> int:
        """Tokens to read: the prompt once, since its options share it."""
        return max(item.length for item in self.items) + len(self.items)


@dataclass(frozen=True, slots=True)
class EncodedConversation:
    """A request as questions to the language model."""

    request: Asked
    questions: tuple[EncodedQuestion, ...]

    @property
    def inputs(self) -> list[Row]:
        """The rows of tokens of all questions."""
        return [row for part in self.questions for item in part.items for row in item.inputs]

    @property
    def rows(self) -> int:
        """The number of prompts; the options of each share it."""
        return len(self.questions)

    @property
    def length(self) -> int:
        """Tokens in the longest prompt."""
        return max(question.tokens for question in self.questions)

    @property
    def positions(self) -> int:
        """Positions at which the head runs."""
        return sum(item.positions for question in self.questions for item in question.items)


@dataclass(frozen=True, slots=True)
class EncodedWriting:
    """A request for a text, as the prompts of its questions."""

    request: Tag
    askings: tuple[Asking, ...]
    prompts: tuple[Row, ...]

    @property
    def rows(self) -> int:
        """The number of prompts."""
        return len(self.prompts)

    @property
    def length(self) -> int:
        """Tokens of the longest prompt and its answer."""
        return max(map(len, self.prompts)) + max(one.question.max_tokens for one in self.askings)

    @property
    def positions(self) -> int:
        """Positions at which the head runs, at once."""
        return 1
