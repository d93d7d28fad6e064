"""Functions that give texts a likelihood."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from gendalens.errors import UserError
from gendalens.models.base import Backend
from gendalens.models.objects.functions import FUNCTION, WrappedFunction
from gendalens.models.objects.given import Given
from gendalens.models.objects.kind import ObjectKind
from gendalens.models.objects.object_backend import ObjectBackend
from gendalens.models.requests import Answer, Fill, FillAnswer, Score, ScoreAnswer
from gendalens.models.word_spans import split_words
from gendalens.results.model_info import TEXT_GENERATION
from gendalens.words import N_, Message, Template

LANGUAGE_MODEL = Template("scoring_object", "language model ({interface:t})")


@dataclass(frozen=True, eq=False)
class Scorer(WrappedFunction):
    """A function that says how likely texts are, for :func:`gendalens.run`.

    It is asked like a causal language model: a gap is filled by the likelihood of the whole sentence with
    each word in it.

    Parameters
    ----------
    function
        Takes a list of texts and gives, for each, a pair: its log-likelihood in nats (the sum over its
        tokens, at most 0), and the number of tokens that were scored.
    name, version
        As in :class:`gendalens.Tagger`.

    Examples
    --------
    >>> import gendalens
    >>> def count_letters(texts):
    ...     return [(-3.0 * len(text), len(text)) for text in texts]
    >>> results = gendalens.run(gendalens.Scorer(count_letters), data="builtin", sample=20)
    >>> [result.task for result in results]
    ['lm-abc', 'lm-dawinobias']

    """


class _Scored(NamedTuple):
    """The checked answer for one text."""

    log_likelihood: float
    tokens: int


@dataclass(frozen=True, slots=True)
class _Sentences:
    """A request as the sentences to score."""

    request: Score | Fill
    texts: tuple[str, ...]
    length: int
    positions: int = 1

    @property
    def rows(self) -> int:
        """The number of sentences."""
        return len(self.texts)


class ScoringFunction(ObjectBackend):
    """A wrapped function that gives likelihoods."""

    interface: ClassVar[str] = FUNCTION
    advice: ClassVar[str] = N_(
        "it must take a list of texts and give a pair (log-likelihood, number of tokens) for each"
    )
    hub_task = TEXT_GENERATION
    answers = frozenset({Score.kind, Fill.kind})

    def __init__(self, wrapped: Scorer, name: str) -> None:
        super().__init__(wrapped.function, name)
        self.wrapped = wrapped

    @property
    def kind(self) -> Message:
        """A language model, as far as can be known."""
        return LANGUAGE_MODEL(interface=self.interface)

    @property
    def digest(self) -> str | None:
        """Its name and version."""
        return self.wrapped.digest(self.name)

    @property
    def revision(self) -> str:
        """The version that the user gives it."""
        return self.wrapped.version or super().revision

    def encode(self, requests: Sequence[Score | Fill]) -> list[_Sentences]:  # type: ignore[override]
        """Each request as the sentences to score."""
        return [_list_sentences(request) for request in requests]

    def answer(self, batch: Sequence[_Sentences]) -> list[Answer]:
        """The likelihoods, put together."""
        texts = list(dict.fromkeys(text for item in batch for text in item.texts))
        given = self.call(lambda some: self.wrapped.function(list(some)), texts)
        scored = {
            text: self._check(text, answer) for text, answer in zip(texts, given, strict=True)
        }
        return [_put_together(item, [scored[text] for text in item.texts]) for item in batch]

    def _check(self, text: str, answer: Any) -> _Scored:
        try:
            log_likelihood, tokens = answer
            found = _Scored(_as_number(log_likelihood), operator.index(tokens))
            if not (
                math.isfinite(found.log_likelihood) and found.log_likelihood <= 0 < found.tokens
            ):
                raise ValueError
        except (TypeError, ValueError, RuntimeError):  # the last of tensors with several numbers
            raise UserError(
                "{name} answers “{text}” with {answer}: it must give the log-likelihood in nats, which"
                " is at most 0, and the number of tokens, which is at least 1.",
                name=self.name,
                text=text,
                answer=repr(answer)[:200],
            ) from None
        return found


def _as_number(value: Any) -> float:
    if isinstance(value, str | bytes):  # which float() would read
        raise TypeError
    return float(value)


def _list_sentences(request: Score | Fill) -> _Sentences:
    if isinstance(request, Fill):
        texts = tuple(request.left + word + request.right for word in request.candidates)
    else:
        # What a continuation adds is the likelihood of both together without that of the beginning.
        texts = (request.given + request.text, *([request.given] if request.given else []))
    return _Sentences(request, texts, max(len(split_words(text)) for text in texts))


def _put_together(item: _Sentences, scored: Sequence[_Scored]) -> Answer:
    if isinstance(item.request, Score):
        whole, given = scored[0], scored[1] if len(scored) > 1 else _Scored(0.0, 0)
        return ScoreAnswer(
            whole.log_likelihood - given.log_likelihood, max(1, whole.tokens - given.tokens)
        )
    # The tokens of a word alone are not known, only how many more one sentence has than another.
    fewest = min(one.tokens for one in scored)
    return FillAnswer(
        log_probs=tuple(one.log_likelihood for one in scored),
        pieces=tuple(one.tokens - fewest + 1 for one in scored),
        first=None,
    )


class ScorerKind(ObjectKind):
    """Functions wrapped as a ``Scorer``."""

    label: ClassVar[str] = N_("a function in gendalens.Scorer (it gives likelihoods)")

    def recognises(self, model: Any) -> bool:
        """Whether this is such a function."""
        return isinstance(model, Scorer)

    def open(self, given: Given) -> Backend:
        """The function itself."""
        return ScoringFunction(given.model, self.name(given))


KIND = ScorerKind()
