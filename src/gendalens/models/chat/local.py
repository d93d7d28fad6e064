"""Chat models at home: a causal model, asked through its own chat template.

The probability of an option is the probability that the model's whole answer is that word: as it is or
with a capital letter, without or with a full stop, each followed by the end of its turn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar
from urllib.parse import parse_qsl

from gendalens.errors import UserError
from gendalens.models import detect
from gendalens.models.base import (
    Answer,
    Backend,
    Batching,
    Choose,
    Encoded,
    Fill,
    LoadOptions,
    Request,
    Resolve,
    Score,
    ScoreAnswer,
)
from gendalens.models.chat.answering import make_answer
from gendalens.models.chat.asking import Asked, Asking, Interview
from gendalens.models.chat.backend import describe_interview, digest_interview, make_notice
from gendalens.models.chat.respondent import Question, Reply, Rung, Turn
from gendalens.models.chat.template import ChatTemplate, has_template
from gendalens.models.huggingface.causal import CausalLM
from gendalens.models.huggingface.checkpoint import Checkpoint
from gendalens.models.huggingface.encoding import Tokens, tokenise
from gendalens.models.huggingface.forward import Prepared
from gendalens.models.trials import add_log_probs
from gendalens.results.model_info import ModelInfo
from gendalens.words import Message, Template

PREFIX = "chat:"
ASKED = Template("chat_model", "{model}, asked as a chat model")
#: The values of the option ``system``.
_SWITCH = {"on": True, "off": False}


class TemplatedLM(CausalLM):
    """A causal model that reads conversations: BOS stands in front only if its template says so."""

    reading: ClassVar[str] = "chat"

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__(checkpoint)
        self.template = ChatTemplate(self.tokenizer, checkpoint.name)
        text = self.template.render((Turn("user", "Hej"),))
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        if tuple(ids[:1]) != self._front:
            self._front = ()

    @property
    def notices(self) -> tuple[Message, ...]:
        """The same, without the advice to ask it as a chat model."""
        return self._notices

    def _texts(self, request: Request) -> list[str]:
        assert isinstance(request, Score)
        return [request.given + request.text, request.given]

    def _prepare(self, request: Request, tokens: Sequence[Tokens]) -> Prepared:
        """The continuation after the tokens of the prompt, which are fixed before the model writes.

        A line break at the end of a prompt belongs to it, and a tokenizer that would join the end of the
        prompt and the beginning of the answer is given them apart.
        """
        assert isinstance(request, Score)
        whole, prompt = tokens
        ids, begin = whole.ids, len(prompt.ids)
        if ids[:begin] != prompt.ids:
            (text,) = tokenise(self.tokenizer, [request.text], specials=self.specials)
            ids = prompt.ids + text.ids
        while self._front and ids[:1] == self._front:
            ids, begin = ids[1:], begin - 1
        row = self._front + ids
        first = begin + len(self._front)
        return Prepared(
            request,
            (row[:-1],),
            tuple((0, at - 1, row[at]) for at in range(first, len(row))),
            unknown=self.count_unknown(whole),
        )


@dataclass(frozen=True, slots=True)
class EncodedQuestion:
    """A question as rows for the language model, with the number of ways to write each option."""

    asking: Asking
    forms: tuple[int, ...]
    items: tuple[Encoded, ...]

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


class LocalChat(Backend):
    """A causal language model that answers by choosing, as a chat model does."""

    prefix: ClassVar[str] = PREFIX
    answers = frozenset({Fill.kind, Resolve.kind, Choose.kind})

    def __init__(self, model: TemplatedLM, interview: Interview) -> None:
        self.model = model
        self.interview = interview

    @classmethod
    def load(cls, name: str, options: LoadOptions) -> LocalChat:
        """The language model named after the prefix, as a chat model."""
        inner, with_system = parse_name(name)
        model = detect.load_model(inner, options)
        if not isinstance(model, CausalLM):
            raise UserError(
                "{prefix} asks a causal language model through its chat template, and {name} is a"
                " {kind}: name it without {prefix}, or name a chat model.",
                prefix=PREFIX,
                name=model.info.name,
                kind=model.info.kind,
            )
        if not has_template(model.tokenizer):
            raise UserError(
                "{name} has no chat template, so it cannot be asked as a chat model: run it without"
                " {prefix} to test it as a plain language model.",
                name=inner,
                prefix=PREFIX,
            )
        interview = Interview(Rung.OPTIONS, with_system=with_system)
        return cls(TemplatedLM(model.checkpoint), interview)

    @property
    def info(self) -> ModelInfo:
        """The language model's info, described as a chat model, with the prompts and the template."""
        inner = self.model.info
        system = "?system=on" if self.interview.with_system else ""
        template = f"chat-template {self.model.template.digest[:8]}"
        asked = replace(
            inner,
            name=f"{PREFIX}{inner.name}{system}",
            kind=ASKED(model=inner.kind),
            software=(*inner.software, template),
        )
        return describe_interview(asked, self.interview)

    @property
    def notices(self) -> tuple[Message, ...]:
        """The notices that every result made from these answers must show."""
        return (make_notice(self.info.name, self.interview), *self.model.notices)

    def fingerprint(self) -> str:
        """A digest of the language model's fingerprint, its template and how it is asked."""
        parts = (self.model.fingerprint(), self.model.template.digest, "forms 1")
        inner = hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
        return digest_interview(inner, self.interview)

    def encode(self, requests: Sequence[Asked]) -> list[EncodedConversation]:
        """The requests as conversations, tokenised."""
        name = self.info.name
        askings = [self.interview.ask(request, name) for request in requests]
        scores = [[self._score(one.question) for one in some] for some in askings]
        flat = [
            score for some in scores for options in some for forms in options for score in forms
        ]
        encoded = iter(self.model.encode(flat))
        return [
            EncodedConversation(
                request,
                tuple(
                    EncodedQuestion(
                        asking,
                        tuple(map(len, options)),
                        tuple(next(encoded) for forms in options for _ in forms),
                    )
                    for asking, options in zip(some, its, strict=True)
                ),
            )
            for request, some, its in zip(requests, askings, scores, strict=True)
        ]

    def answer(self, batch: Sequence[EncodedConversation]) -> list[Answer]:
        """The answers to a batch, in order."""
        questions = [question for item in batch for question in item.questions]
        replies = iter([one for part in self._split(questions) for one in self._reply(part)])
        return [
            make_answer(
                item.request,
                [question.asking for question in item.questions],
                [next(replies) for _ in item.questions],
            )
            for item in batch
        ]

    def _score(self, question: Question) -> list[list[Score]]:
        """The ways to write each option, as continuations of the prompt."""
        template = self.model.template
        given = template.render(question.turns)
        return [
            [
                Score(f"{template.before}{form}{template.after}", given=given)
                for form in list_forms(option, ends=bool(template.after))
            ]
            for option in question.options
        ]

    def _split(self, questions: Sequence[EncodedQuestion]) -> Iterator[list[EncodedQuestion]]:
        """The questions in parts that the model reads at once: a request alone may be too many."""
        part: list[EncodedQuestion] = []
        for question in questions:
            if part and sum(one.tokens for one in (*part, question)) > self.model.batch_tokens:
                yield part
                part = []
            part.append(question)
        yield part

    def _reply(self, questions: Sequence[EncodedQuestion]) -> Iterator[Reply]:
        items: list[Any] = [item for question in questions for item in question.items]
        found = iter(self.model.answer(items))
        for question in questions:
            log_probs = tuple(
                add_log_probs([_get_likelihood(next(found)) for _ in range(count)])
                for count in question.forms
            )
            yield Reply(log_probs=log_probs)

    @property
    def max_positions(self) -> int:
        """How many predictions fit into memory at once."""
        return self.model.max_positions

    @cached_property
    def exact(self) -> LocalChat | None:
        """The same in float32, the reference for smaller number formats."""
        exact = self.model.exact
        return LocalChat(exact, self.interview) if exact else None

    @property
    def batch_tokens(self) -> int:
        """The number of tokens per batch that runs fastest."""
        return self.model.batch_tokens

    @property
    def batching(self) -> Batching:
        """Which rows the language model can read together."""
        return self.model.batching

    @property
    def workers(self) -> int:
        """How many batches are answered at once."""
        return self.model.workers

    @property
    def cacheable(self) -> bool:
        """Whether the language model's fingerprint identifies it permanently."""
        return self.model.cacheable

    def close(self) -> None:
        """Give the language model back."""
        self.model.close()


def list_forms(option: str, *, ends: bool) -> list[str]:
    """The ways in which a model may write an option.

    Unless the end of the answer is scored too, a full stop would be counted twice.

    >>> list_forms("en anden", ends=True)
    ['en anden', 'En anden', 'en anden.', 'En anden.']
    """
    forms = list(dict.fromkeys((option, option[:1].upper() + option[1:])))
    return [*forms, *(f"{form}." for form in forms)] if ends else forms


def parse_name(name: str) -> tuple[str, bool]:
    """The model in a name such as ``chat:MODEL?system=on``, and whether it gets a system message."""
    model, _, query = name.removeprefix(PREFIX).partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    with_system = options.pop("system", "off")
    if options or (query and "=" not in query) or with_system not in _SWITCH:
        raise UserError(
            "{name}: cannot read {query}; the only option is system, as in {prefix}MODEL?system=on.",
            name=name,
            query=query,
            prefix=PREFIX,
        )
    if not model.strip():
        raise UserError(
            "{name} names no model; give a chat model, as in {prefix}MODEL.",
            name=name,
            prefix=PREFIX,
        )
    return model, _SWITCH[with_system]


def _get_likelihood(answer: Answer) -> float:
    assert isinstance(answer, ScoreAnswer)
    return answer.log_likelihood


BACKEND = LocalChat
