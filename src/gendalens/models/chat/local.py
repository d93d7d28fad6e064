"""Chat models at home: a causal model, asked through its own chat template.

The probability of an option is the probability that the model's whole answer is that word: as it is or
with a capital letter, without or with a full stop, each followed by the end of its turn. A list of names
is written, by the likeliest token each time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar
from urllib.parse import parse_qsl

from gendalens.errors import UserError
from gendalens.models import detect
from gendalens.models.asking_backend import AskingBackend
from gendalens.models.base import LoadOptions
from gendalens.models.chat.answering import make_answer
from gendalens.models.chat.asking import Asked, Interview
from gendalens.models.chat.backend import describe_interview, digest_interview, make_notice
from gendalens.models.chat.encoded import EncodedConversation, EncodedQuestion, EncodedWriting
from gendalens.models.chat.entities import LABELS
from gendalens.models.chat.respondent import Question, Reply, Rung
from gendalens.models.chat.template import has_template
from gendalens.models.chat.templated import TemplatedLM
from gendalens.models.huggingface.causal import CausalLM
from gendalens.models.requests import Answer, Choose, Fill, Resolve, Score, ScoreAnswer, Tag
from gendalens.models.trials import add_log_probs
from gendalens.results.model_info import ModelInfo
from gendalens.words import Message, Template

PREFIX = "chat:"
ASKED = Template("chat_model", "{model}, asked as a chat model")
WRITES_IF_NAMED = Template(
    "chat.writes_if_named",
    "Tests that need a list in writing are left out unless you name them, because {name} writes it token "
    "by token.",
)
#: The values of the option ``system``.
_SWITCH = {"on": True, "off": False}


class LocalChat(AskingBackend):
    """A causal language model that answers by choosing, as a chat model does, and lists names."""

    prefix: ClassVar[str] = PREFIX
    answers = frozenset({Fill.kind, Resolve.kind, Choose.kind, Tag.kind})
    #: A text is written token by token, which takes hours on a CPU: only if its test is named.
    usual_answers = answers - {Tag.kind}

    model: TemplatedLM

    def __init__(self, model: TemplatedLM, interview: Interview) -> None:
        super().__init__(model)
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

    @property
    def remarks(self) -> tuple[Message, ...]:
        """What the user should know before the run."""
        return (WRITES_IF_NAMED(name=self.info.name),)

    def fingerprint(self) -> str:
        """A digest of the language model's fingerprint, its template and how it is asked."""
        template = self.model.template
        parts = [self.model.fingerprint(), template.digest, "forms 1", "greedy 1"]
        if template.opens_thought:
            parts.append("closed thought")
        inner = hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
        return digest_interview(inner, self.interview)

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types that it is asked for."""
        return LABELS

    def encode(self, requests: Sequence[Asked]) -> Sequence[EncodedConversation | EncodedWriting]:
        """The requests as conversations, tokenised."""
        name = self.info.name
        askings = [self.interview.ask(request, name) for request in requests]
        if isinstance(requests[0], Tag):  # all are of one kind
            return [
                EncodedWriting(
                    request,
                    some,
                    tuple(self.model.read_prompt(one.question.turns) for one in some),
                )
                for request, some in zip(requests, askings, strict=True)
                if isinstance(request, Tag)
            ]
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

    def answer(self, batch: Sequence[EncodedConversation | EncodedWriting]) -> list[Answer]:
        """The answers to a batch, in order."""
        written = [self._write(item) for item in batch if isinstance(item, EncodedWriting)]
        return written or self._choose(
            [one for one in batch if isinstance(one, EncodedConversation)]
        )

    def _write(self, item: EncodedWriting) -> Answer:
        replies = [
            self.model.write(prompt, asking.question.max_tokens)
            for prompt, asking in zip(item.prompts, item.askings, strict=True)
        ]
        return make_answer(item.request, item.askings, replies)

    def _choose(self, batch: Sequence[EncodedConversation]) -> list[Answer]:
        questions = [question for item in batch for question in item.questions]
        whole = self.model.reads_trees([item for one in questions for item in one.items])
        parts = [questions] if whole else self._split(questions)
        replies = iter([one for part in parts for one in self._reply(part)])
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

    @cached_property
    def exact(self) -> LocalChat | None:
        """The same in float32, the reference for smaller number formats."""
        exact = self.model.exact
        return LocalChat(exact, self.interview) if exact else None


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
