"""Language models as coreference resolvers: which candidate is the likelier answer to a prompt?

The choice falls on the candidate that the sentence and its pronoun make more likely than it is
anyway: log P(candidate | sentence, prompt with the pronoun) − log P(candidate | the prompt alone).
The subtrahend knows neither the sentence nor the pronoun; with the pronoun it would take away the
very association between pronouns and occupations that the tests measure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Any, ClassVar
from urllib.parse import parse_qsl

from gendalens.engine.executor import ask
from gendalens.errors import UserError
from gendalens.models.base import (
    BATCH_TOKENS,
    Answer,
    Backend,
    Encoded,
    ModelInfo,
    Offsets,
    Request,
    Resolve,
    ResolveAnswer,
    Score,
    ScoreAnswer,
    link_best,
)
from gendalens.models.lm_coref.prompts import Prompt, prompt

PREFIX = "lm-coref:"
#: Part of the fingerprint: raise it when the same prompt and model would be asked or read otherwise.
READING_VERSION = 1
# A noun in the definite form ends in -en, -et or -ne, so a further -s makes it a genitive.
_GENITIVE = re.compile(r"(?<=en|et|ne)s$")
_SENTENCE_END = re.compile(r"[.!?:][\"'”’«»)]*\s+[\"'“‘«»(]*$")


@dataclass(frozen=True, slots=True)
class Choice:
    """A request as the language model will get it.

    ``asked`` and ``neutral`` hold, for each answer that can be chosen, its questions and its
    corrections; ``items`` are the questions, encoded.
    """

    request: Resolve
    asked: tuple[tuple[Score, ...], ...]
    neutral: tuple[tuple[Score, ...], ...]
    items: tuple[Encoded, ...]

    @property
    def rows(self) -> int:
        """Rows of the forward pass; the corrections, once a candidate, are not counted."""
        return sum(item.rows for item in self.items)

    @property
    def length(self) -> int:
        """Tokens in the longest row."""
        return max(item.length for item in self.items)

    @property
    def positions(self) -> int:
        """Positions at which the head runs."""
        return sum(item.positions for item in self.items)


class LmResolver:
    """A language model that answers ``Resolve`` by scoring the candidates of the hint."""

    answers: ClassVar[frozenset[str]] = frozenset({Resolve.kind})

    def __init__(self, model: Backend, wording: Prompt) -> None:
        self.model = model
        self.wording = wording
        self._neutrals: dict[Score, None] = {}
        self._corrections: dict[Request, float] = {}

    @property
    def max_positions(self) -> int:
        """How many predictions fit into memory at once."""
        return self.model.max_positions

    @cached_property
    def exact(self) -> LmResolver | None:
        """The same in float32, by which a smaller number format is judged."""
        exact = getattr(self.model, "exact", None)
        return LmResolver(exact, self.wording) if exact else None

    @property
    def batch_tokens(self) -> int:
        """The tokens a batch that run fastest."""
        return getattr(self.model, "batch_tokens", BATCH_TOKENS)

    @property
    def workers(self) -> int:
        """How many batches are answered at once."""
        return getattr(self.model, "workers", 1)

    @property
    def info(self) -> ModelInfo:
        """The language model's, labelled as what it is used for, with the prompt's version."""
        inner, used = self.model.info, self.wording
        option = "" if used.name == prompt().name else f"?prompt={used.name}"
        return replace(
            inner,
            name=f"{PREFIX}{inner.name}{option}",
            kind=f"{inner.kind} as coreference resolver (prompted)",
            software=(
                *inner.software,
                f"prompt {used.name}-{used.version}-{used.digest[:8]}-{READING_VERSION}",
            ),
        )

    @property
    def notices(self) -> tuple[str, ...]:
        """What every result must say of these answers."""
        return (
            f"{self.info.name} is a language model that was prompted and had to choose: one of the two "
            "occupations (never both, never none), or the subject against someone else. Its figures "
            f"depend on the prompt ({self.wording.name!r}) and are not those of a coreference system.",
        )

    def fingerprint(self) -> str:
        """A digest of the language model's and of the prompt."""
        parts = (self.model.fingerprint(), self.wording.digest, str(READING_VERSION))
        return hashlib.sha256("\x1f".join((PREFIX, *parts)).encode()).hexdigest()

    def encode(self, requests: Sequence[Resolve]) -> list[Choice]:
        """The requests as questions to the language model, tokenised."""
        asked = [self._questions(request) for request in requests]
        neutral = [self._neutral(request) for request in requests]
        self._neutrals |= dict.fromkeys(s for some in neutral for each in some for s in each)
        encoded = iter(self.model.encode([s for some in asked for each in some for s in each]))
        return [
            Choice(
                request, questions, its, tuple(next(encoded) for each in questions for _ in each)
            )
            for request, questions, its in zip(requests, asked, neutral, strict=True)
        ]

    def answer(self, batch: Sequence[Choice]) -> list[Answer]:
        """The better candidate of each request, with all scores."""
        corrections = self._correct(batch)
        found = iter(self.model.answer([item for choice in batch for item in choice.items]))
        answers: list[Answer] = []
        for choice in batch:
            plain, corrected, unknown = [], [], 0
            for questions, neutral in zip(choice.asked, choice.neutral, strict=True):
                scores = [_score(next(found)) for _ in questions]
                # Averaged over the orders of the candidates, where the prompt names them.
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
        words = self._words(request)
        assert request.pronoun is not None  # _words has looked
        start, end = request.pronoun
        pronoun = request.text[start:end].lower()
        return tuple(
            tuple(self.wording.questions(request.text, pronoun, words, word)) for word in words
        )

    def _neutral(self, request: Resolve) -> tuple[tuple[Score, ...], ...]:
        words = self._words(request)
        return tuple(tuple(self.wording.corrections(words, word)) for word in words)

    def _words(self, request: Resolve) -> tuple[str, ...]:
        """What can be chosen: the candidates, or the only one against someone else."""
        if request.pronoun is None or not request.candidates:
            raise UserError(
                f"{self.info.name} chooses between candidates and cannot search for mentions: it needs "
                "a pronoun and candidates, which protocol 1 does not give; use protocol 2."
            )
        words = tuple(in_a_prompt(request.text, place) for place in request.candidates)
        return words if len(words) > 1 else (*words, self.wording.someone_else)

    def _correct(self, batch: Sequence[Choice]) -> Mapping[Request, float]:
        """The corrections of a batch; each is asked for once as long as the model lives.

        The first batch asks for those of all that was encoded: were each batch to ask for what is new in
        it, the last digits would depend on which of the batches in work comes first.
        """
        wanted = dict.fromkeys(s for c in batch for each in c.neutral for s in each)
        if wanted.keys() <= self._corrections.keys():
            return self._corrections
        new = [score for score in self._neutrals | wanted if score not in self._corrections]
        for score, answer in ask(self.model, new).by_request.items():
            if _score(answer).unknown:
                assert isinstance(score, Score)
                raise UserError(
                    f"The tokenizer of {self.model.info.name} cannot write “{score.given}"
                    f"{score.text}” without unknown tokens, so the model cannot be asked for "
                    "this candidate: test another model."
                )
            self._corrections[score] = _score(answer).log_likelihood
        return self._corrections


def in_a_prompt(text: str, place: Offsets) -> str:
    """A candidate as it stands in the middle of a prompt: no sentence's capital, no genitive.

    >>> in_a_prompt("Lægens hund sover.", (0, 6))
    'lægen'
    """
    word = text[place[0] : place[1]]
    begins = place[0] == 0 or _SENTENCE_END.search(text[: place[0]]) is not None
    if begins and not word[1:2].isupper():
        word = word[:1].lower() + word[1:]
    return _GENITIVE.sub("", word)


def parse(name: str) -> tuple[str, Prompt]:
    """The model and the prompt that a name such as ``lm-coref:MODEL?prompt=refers`` asks for."""
    model, _, query = name.removeprefix(PREFIX).partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    wording = prompt(options.pop("prompt", None))
    if options or (query and "=" not in query):
        raise UserError(
            f"{name}: cannot read {query}; the only option is prompt, as in {PREFIX}MODEL?prompt=refers."
        )
    if not model.strip():
        raise UserError(
            f"{name} names no model; give a masked or causal language model, as in {PREFIX}MODEL."
        )
    return model, wording


def resolver(model: Any, wording: Prompt) -> LmResolver:
    """The language model as a resolver; what cannot score a continuation is refused."""
    if Score.kind not in getattr(model, "answers", ()):
        raise UserError(
            f"{PREFIX} makes a resolver of a masked or causal language model, and {model.info.name} is a "
            f"{model.info.kind}: name it without {PREFIX}, or name a language model."
        )
    return LmResolver(model, wording)


def _score(answer: Answer) -> ScoreAnswer:
    assert isinstance(answer, ScoreAnswer)
    return answer
