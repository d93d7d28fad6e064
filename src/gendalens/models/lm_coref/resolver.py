"""Language models as coreference resolvers: which candidate is the likelier answer to a prompt?

The resolver chooses the candidate whose likelihood the sentence and its pronoun raise most: log
P(candidate | sentence, prompt with the pronoun) − log P(candidate | the prompt alone). The subtrahend
includes neither the sentence nor the pronoun; with the pronoun, it would remove the very association
between pronouns and occupations that the tests measure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Any, ClassVar
from urllib.parse import parse_qsl

from gendalens.errors import UserError
from gendalens.models import detect
from gendalens.models.asking_backend import AskingBackend
from gendalens.models.base import Backend, LoadOptions
from gendalens.models.batches import answer_in_batches
from gendalens.models.lm_coref.prompts import Prompt, get_prompt
from gendalens.models.requests import (
    Answer,
    Offsets,
    Request,
    Resolve,
    ResolveAnswer,
    Score,
    ScoreAnswer,
    link_best,
)
from gendalens.results.model_info import COREFERENCE, ModelInfo
from gendalens.words import Message, Template

PREFIX = "lm-coref:"
RESOLVER = Template("lm_resolver", "{model} as coreference resolver (prompted)")
HAD_TO_CHOOSE = Template(
    "lm_resolver.had_to_choose",
    "The language model {name} was prompted and had to choose: one of the two occupations "
    "(never both, never none), or the subject against someone else. Its figures depend on the prompt "
    "({prompt}) and are not those of a coreference system.",
)
#: Part of the fingerprint: raise it when the same prompt and model would give different answers.
READING_VERSION = 1
# A noun in the definite form ends in -en, -et or -ne, so a further -s makes it a genitive.
_GENITIVE = re.compile(r"(?<=en|et|ne)s$")
_SENTENCE_END = re.compile(r"[.!?:][\"'”’«»)]*\s+[\"'“‘«»(]*$")


@dataclass(frozen=True, slots=True)
class EncodedChoice:
    """A request as questions to the language model.

    ``asked`` and ``neutral`` hold the questions and the corrections of each possible answer; ``items``
    are the encoded questions.
    """

    request: Resolve
    asked: tuple[tuple[Score, ...], ...]
    neutral: tuple[tuple[Score, ...], ...]
    items: tuple[Any, ...]

    @property
    def inputs(self) -> list[Any]:
        """The rows of tokens of all questions, if the language model reads tokens."""
        return [row for item in self.items for row in item.inputs]

    @property
    def rows(self) -> int:
        """Rows of the forward pass; the corrections, asked once per candidate, are not counted."""
        return sum(item.rows for item in self.items)

    @property
    def length(self) -> int:
        """Tokens in the longest row."""
        longest: int = max(item.length for item in self.items)
        return longest

    @property
    def positions(self) -> int:
        """Positions at which the head runs."""
        return sum(item.positions for item in self.items)


class LmResolver(AskingBackend):
    """A language model that answers ``Resolve`` by scoring the request's candidates."""

    prefix: ClassVar[str] = PREFIX
    answers = frozenset({Resolve.kind})

    def __init__(self, model: Backend, wording: Prompt) -> None:
        super().__init__(model)
        self.wording = wording
        self._neutrals: dict[Score, None] = {}
        self._corrections: dict[Request, float] = {}

    @classmethod
    def load(cls, name: str, options: LoadOptions) -> LmResolver:
        """The language model named after the prefix, as a resolver."""
        inner, wording = parse_name(name)
        model = detect.load_model(inner, options)
        # A control model cannot score: its answers are planted.
        if model.planted or Score.kind not in model.answers:
            raise UserError(
                "{prefix} makes a resolver of a masked or causal language model, and {name} is a"
                " {kind}: name it without {prefix}, or name a language model.",
                prefix=PREFIX,
                name=model.info.name,
                kind=model.info.kind,
            )
        return cls(model, wording)

    @cached_property
    def exact(self) -> LmResolver | None:
        """The same in float32, the reference for smaller number formats."""
        exact = self.model.exact
        return LmResolver(exact, self.wording) if exact else None

    def host(self, name: str, send: Callable[[str, Backend], Backend]) -> Backend:
        """The resolver here, its language model elsewhere."""
        inner, wording = parse_name(name)
        return LmResolver(self.model.host(inner, send), wording)

    @property
    def hosts(self) -> int:
        """How many batches are answered at once in other processes."""
        return self.model.hosts

    @property
    def info(self) -> ModelInfo:
        """The language model's info, described as a resolver, with the prompt's version."""
        inner, used = self.model.info, self.wording
        option = "" if used.key == get_prompt().key else f"?prompt={used.key}"
        return replace(
            inner,
            name=f"{PREFIX}{inner.name}{option}",
            kind=RESOLVER(model=inner.kind),
            hub_task=COREFERENCE,
            software=(
                *inner.software,
                f"prompt {used.name}-{used.version}-{used.digest[:8]}-{READING_VERSION}",
            ),
        )

    @property
    def notices(self) -> tuple[Message, ...]:
        """The notices that every result made from these answers must show."""
        had_to_choose = HAD_TO_CHOOSE(name=self.info.name, prompt=repr(self.wording.key))
        return (had_to_choose, *self.model.notices)

    def fingerprint(self) -> str:
        """A digest of the language model's fingerprint and the prompt."""
        parts = (self.model.fingerprint(), self.wording.digest, str(READING_VERSION))
        return hashlib.sha256("\x1f".join((PREFIX, *parts)).encode()).hexdigest()

    def encode(self, requests: Sequence[Resolve]) -> list[EncodedChoice]:
        """The requests as questions to the language model, tokenised."""
        asked = [self._questions(request) for request in requests]
        neutral = [self._neutral_questions(request) for request in requests]
        self._neutrals = dict.fromkeys(s for some in neutral for each in some for s in each)
        self._corrections = {}
        encoded = iter(self.model.encode([s for some in asked for each in some for s in each]))
        return [
            EncodedChoice(
                request, questions, its, tuple(next(encoded) for each in questions for _ in each)
            )
            for request, questions, its in zip(requests, asked, neutral, strict=True)
        ]

    def answer(self, batch: Sequence[EncodedChoice]) -> list[Answer]:
        """The best candidate of each request, with all scores."""
        corrections = self._find_corrections(batch)
        found = iter(self.model.answer([item for choice in batch for item in choice.items]))
        answers: list[Answer] = []
        for choice in batch:
            plain, corrected, unknown = [], [], 0
            for questions, neutral in zip(choice.asked, choice.neutral, strict=True):
                scores = [_as_score(next(found)) for _ in questions]
                # Averaged over both orders of the candidates if the prompt names them.
                plain.append(fmean(score.log_likelihood for score in scores))
                corrected.append(plain[-1] - fmean(corrections[one] for one in neutral))
                unknown = max(unknown, *(score.unknown for score in scores))
            answers.append(
                ResolveAnswer(
                    link_best(choice.request, corrected), tuple(corrected), tuple(plain), unknown
                )
            )
        return answers

    def _questions(self, request: Resolve) -> tuple[tuple[Score, ...], ...]:
        words = self._list_words(request)
        assert request.pronoun is not None  # checked by _list_words
        start, end = request.pronoun
        pronoun = request.text[start:end].lower()
        return tuple(
            tuple(self.wording.questions(request.text, pronoun, words, word)) for word in words
        )

    def _neutral_questions(self, request: Resolve) -> tuple[tuple[Score, ...], ...]:
        words = self._list_words(request)
        return tuple(tuple(self.wording.corrections(words, word)) for word in words)

    def _list_words(self, request: Resolve) -> tuple[str, ...]:
        """The possible answers: the candidates, or a lone one and "someone else"."""
        if request.pronoun is None or not request.candidates:
            raise UserError(
                "{name} chooses between candidates and cannot search for mentions: it needs a pronoun"
                " and candidates, which protocol 1 does not give; use protocol 2.",
                name=self.info.name,
            )
        words = tuple(fit_into_prompt(request.text, place) for place in request.candidates)
        return words if len(words) > 1 else (*words, self.wording.someone_else)

    def _find_corrections(self, batch: Sequence[EncodedChoice]) -> Mapping[Request, float]:
        """The corrections of a batch; each is computed only once.

        The first batch computes those of everything encoded with it: if each batch computed its own, the
        last digits would depend on which batches a shard or a resumed run still has to answer, and on
        which of several parallel ones comes first.
        """
        wanted = dict.fromkeys(s for c in batch for each in c.neutral for s in each)
        if wanted.keys() <= self._corrections.keys():
            return self._corrections
        new = [score for score in self._neutrals | wanted if score not in self._corrections]
        found = dict(pair for pairs in answer_in_batches(self.model, new) for pair in pairs)
        for score in new:
            answer = _as_score(found[score])
            if answer.unknown:
                raise UserError(
                    "The tokenizer of {name} cannot represent “{text}” without unknown tokens, so"
                    " the model cannot score this candidate: test another model.",
                    name=self.model.info.name,
                    text=score.given + score.text,
                )
            self._corrections[score] = answer.log_likelihood
        return self._corrections


def fit_into_prompt(text: str, place: Offsets) -> str:
    """A candidate in the form for the middle of a prompt: no initial capital, no genitive.

    >>> fit_into_prompt("Lægens hund sover.", (0, 6))
    'lægen'
    """
    word = text[place[0] : place[1]]
    begins = place[0] == 0 or _SENTENCE_END.search(text[: place[0]]) is not None
    if begins and not word[1:2].isupper():
        word = word[:1].lower() + word[1:]
    return _GENITIVE.sub("", word)


def parse_name(name: str) -> tuple[str, Prompt]:
    """The model and the prompt in a name such as ``lm-coref:MODEL?prompt=refers``."""
    model, _, query = name.removeprefix(PREFIX).partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    wording = get_prompt(options.pop("prompt", None))
    if options or (query and "=" not in query):
        raise UserError(
            "{name}: cannot read {query}; the only option is prompt, as in"
            " {prefix}MODEL?prompt=refers.",
            name=name,
            query=query,
            prefix=PREFIX,
        )
    if not model.strip():
        raise UserError(
            "{name} names no model; give a masked or causal language model, as in {prefix}MODEL.",
            name=name,
            prefix=PREFIX,
        )
    return model, wording


def _as_score(answer: Answer) -> ScoreAnswer:
    assert isinstance(answer, ScoreAnswer)
    return answer


BACKEND = LmResolver
