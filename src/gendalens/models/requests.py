"""Requests and answers: what a test can ask of a model, and what comes back.

They are plain hashable values, so the engine can remove duplicates, look them up in the cache and batch
what is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias

#: How a chat model can respond when it is asked something: only the first is an answer.
ANSWERED, REFUSED, UNPARSABLE, CUT_OFF = "answered", "refused", "unparsable", "cut off"


class Trial(NamedTuple):
    """One asking of a chat model: how it was asked, and what came back.

    A chat model is asked the same thing under several ``paraphrase``s and in each ``order`` of the
    options, perhaps several times. ``chosen`` is the index of the chosen candidate in the order of the
    request, or -1. ``log_probs`` are the natural-log probabilities of the candidates in the same order,
    not normalised, so that their sum shows how much the model would rather have said something else;
    empty if only the choice is known.
    """

    paraphrase: int
    order: int
    outcome: str = ANSWERED
    chosen: int = -1
    log_probs: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Fill:
    """A sentence with one gap, and the words that might stand in it.

    ``left`` and ``right`` are the text around the gap exactly as written, spaces included.
    ``candidates`` are the words whose probability is asked for; ``rivals`` are further words that
    take part in a masked model's first choice and nowhere else.
    """

    kind: ClassVar[str] = "fill"
    left: str
    right: str
    candidates: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FillAnswer:
    """Natural-log probability of each candidate as a whole word, and the model's first choice.

    ``pieces`` counts the tokens of each candidate. ``first`` is None for causal models, which make no
    free choice. ``unknown`` counts the unknown tokens in the sentence around the gap. ``trials`` are the
    askings of a chat model, of which the log-probabilities are the average.
    """

    log_probs: tuple[float, ...]
    pieces: tuple[int, ...]
    first: str | None
    unknown: int = 0
    trials: tuple[Trial, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """A sentence to score, or a continuation ``text`` of ``given``."""

    kind: ClassVar[str] = "score"
    text: str
    given: str = ""


@dataclass(frozen=True, slots=True)
class ScoreAnswer:
    """Natural-log likelihood of the scored tokens, and their number without special tokens.

    ``unscored`` is 1 if the first token could not be predicted because nothing precedes it (a causal
    model with neither BOS nor EOS), else 0. ``unknown`` counts unknown tokens.
    """

    log_likelihood: float
    tokens: int
    unscored: int = 0
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class Choose:
    """Sentences of which a chat model has to choose the one that sounds most natural."""

    kind: ClassVar[str] = "choose"
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChooseAnswer:
    """Natural-log probability of each candidate, averaged over the ``trials``."""

    log_probs: tuple[float, ...]
    trials: tuple[Trial, ...] = ()


@dataclass(frozen=True, slots=True)
class TopToken:
    """A sentence with one gap: which token does the ``fill-mask`` pipeline rank first?

    The whole vocabulary competes, word pieces included. Used by protocol 1 of ``lm-dawinobias``.
    """

    kind: ClassVar[str] = "top-token"
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class TopTokenAnswer:
    """The token, decoded as the pipeline does."""

    token: str


@dataclass(frozen=True, slots=True)
class Reconstruct:
    """A request for a masked model's loss on ``text`` with one word replaced and nothing masked.

    The first token of ``text`` that is one of ``words`` is replaced by the token ``replacement`` (None:
    it stays as it is) in the input; the loss is taken against the unchanged text. Used by protocol 1 of
    ``lm-abc``.
    """

    kind: ClassVar[str] = "reconstruct"
    text: str
    words: tuple[str, ...]
    replacement: str | None


@dataclass(frozen=True, slots=True)
class ReconstructAnswer:
    """Mean cross-entropy in nats over all tokens, special tokens included."""

    loss: float


@dataclass(frozen=True, slots=True)
class Tag:
    """A text to find named entities in.

    With ``averaged``, a token classifier labels a word as GenDa Lens 0.0.3 does (through spacy-wrap):
    by the mean over its pieces, not by the first one. Used by protocol 1 of ``ner-dane``; models that
    label whole words answer the same either way.
    """

    kind: ClassVar[str] = "tag"
    text: str
    averaged: bool = False


@dataclass(frozen=True, slots=True)
class TagAnswer:
    """Entities as (start, end, label): character offsets, and the model's own label without prefix.

    ``tokens`` is the number of sub-word tokens in the text; 0 for models without a sub-word tokenizer.
    ``trials`` are the askings of a chat model, and ``invented`` counts the names in its answer that do
    not occur in the text.
    """

    entities: tuple[tuple[int, int, str], ...]
    tokens: int = 0
    trials: tuple[Trial, ...] = ()
    invented: int = 0


Offsets: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Resolve:
    """A text to resolve coreference in.

    All positions are character offsets. ``tokens`` are the words of the text, for systems that take
    tokenised input. ``pronoun`` and ``candidates`` (in the order of the text) are a hint for resolvers
    that choose rather than search; others find their mentions themselves.
    """

    kind: ClassVar[str] = "resolve"
    text: str
    tokens: tuple[Offsets, ...] = ()
    pronoun: Offsets | None = None
    candidates: tuple[Offsets, ...] = ()


@dataclass(frozen=True, slots=True)
class ResolveAnswer:
    """Clusters of mentions in the system's own order; a mention is a pair of character offsets.

    A resolver that scores candidates also gives the natural-log ``scores`` in the order of the
    request's candidates (a lone candidate's is followed by that of "somebody else"), the
    ``uncorrected`` scores, from which the candidates' prior likelihood was not subtracted, and the
    number of ``unknown`` tokens. ``trials`` are the askings of a chat model; the last candidate of a
    lone one is "somebody else".
    """

    clusters: tuple[tuple[Offsets, ...], ...]
    scores: tuple[float, ...] = ()
    uncorrected: tuple[float, ...] = ()
    unknown: int = 0
    trials: tuple[Trial, ...] = ()


def link_best(request: Resolve, scores: Sequence[float]) -> tuple[tuple[Offsets, ...], ...]:
    """The cluster of the pronoun and the best candidate; none if "somebody else" is more likely.

    A tie goes to the earlier candidate, but a lone candidate must score higher than "somebody else".
    """
    assert request.pronoun is not None
    if len(request.candidates) == 1 and scores[0] <= scores[1]:
        return ()
    best = max(range(len(request.candidates)), key=scores.__getitem__)
    return (tuple(sorted((request.candidates[best], request.pronoun))),)


Request = Fill | Score | Choose | TopToken | Reconstruct | Tag | Resolve
Answer = (
    FillAnswer
    | ScoreAnswer
    | ChooseAnswer
    | TopTokenAnswer
    | ReconstructAnswer
    | TagAnswer
    | ResolveAnswer
)

ANSWER_TYPES: dict[str, type[Answer]] = {
    Fill.kind: FillAnswer,
    Score.kind: ScoreAnswer,
    Choose.kind: ChooseAnswer,
    TopToken.kind: TopTokenAnswer,
    Reconstruct.kind: ReconstructAnswer,
    Tag.kind: TagAnswer,
    Resolve.kind: ResolveAnswer,
}
