"""Requests, answers, and what a backend must offer: the seam between tests and models.

A task never touches a model and a model never knows a task. Requests are plain hashable values, so
the engine can remove duplicates, look them up in the cache and batch what is left.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias

from gendalens.results.model_info import ModelInfo
from gendalens.words import Message, Words


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

    ``pieces`` counts the tokens of each candidate. ``first`` is None where the model has no free
    choice (causal models). ``unknown`` counts the unknown tokens in the sentence around the gap.
    """

    log_probs: tuple[float, ...]
    pieces: tuple[int, ...]
    first: str | None
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class Score:
    """A sentence, or a continuation ``text`` of ``given``, whose likelihood is asked for."""

    kind: ClassVar[str] = "score"
    text: str
    given: str = ""


@dataclass(frozen=True, slots=True)
class ScoreAnswer:
    """Natural-log likelihood of the scored tokens and how many they are, special tokens aside.

    ``unscored`` is 1 where the first token had nothing to be predicted from (a causal model with
    neither BOS nor EOS), else 0. ``unknown`` counts unknown tokens.
    """

    log_likelihood: float
    tokens: int
    unscored: int = 0
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class TopToken:
    """A sentence with one gap: which token does the ``fill-mask`` pipeline rank first?

    The whole vocabulary takes part, pieces of words included. Protocol 1 of ``lm-dawinobias`` asks
    it.
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
    """How badly a masked model reconstructs ``text`` with one word exchanged and nothing masked.

    The first token of ``text`` that is one of ``words`` is replaced by the token ``replacement``
    (None: left as it is) in the input; the loss is taken against the unchanged text.
    Protocol 1 of ``lm-abc`` asks it.
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
    """A text whose named entities are asked for.

    ``averaged`` asks a token classifier for the reading of GenDa Lens 0.0.3 (by spacy-wrap): labels
    by the mean over a word's pieces, not by its first. Protocol 1 of ``ner-dane`` asks it; models
    that label whole words answer the same either way.
    """

    kind: ClassVar[str] = "tag"
    text: str
    averaged: bool = False


@dataclass(frozen=True, slots=True)
class TagAnswer:
    """Entities as (start, end, label): character offsets, and the model's own label without prefix.

    ``tokens`` counts the pieces that a sub-word tokenizer cut the text into; 0 where there is none.
    """

    entities: tuple[tuple[int, int, str], ...]
    tokens: int = 0


Offsets: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Resolve:
    """A text in which the words that mean the same are asked for.

    All places are character offsets. ``tokens`` are the words of the text, for systems that take
    them ready made. ``pronoun`` and ``candidates`` (in the order of the text) are a hint for
    resolvers that choose rather than search; others find their mentions themselves.
    """

    kind: ClassVar[str] = "resolve"
    text: str
    tokens: tuple[Offsets, ...] = ()
    pronoun: Offsets | None = None
    candidates: tuple[Offsets, ...] = ()


@dataclass(frozen=True, slots=True)
class ResolveAnswer:
    """Clusters of mentions in the system's own order, each mention by its character offsets.

    A resolver that weighs candidates gives its natural-log ``scores`` as well, in the order of the
    request's candidates (somebody else's last, where there is only one), ``uncorrected`` the same
    before it took off how likely each candidate is anyway, and the number of ``unknown`` tokens.
    """

    clusters: tuple[tuple[Offsets, ...], ...]
    scores: tuple[float, ...] = ()
    uncorrected: tuple[float, ...] = ()
    unknown: int = 0


def link_best(request: Resolve, scores: Sequence[float]) -> tuple[tuple[Offsets, ...], ...]:
    """The cluster of pronoun and best candidate; none where a score beyond the candidates wins.

    At a tie the earlier candidate is the best, but a lone one must beat somebody else.
    """
    assert request.pronoun is not None
    if len(request.candidates) == 1 and scores[0] <= scores[1]:
        return ()
    best = max(range(len(request.candidates)), key=scores.__getitem__)
    return (tuple(sorted((request.candidates[best], request.pronoun))),)


Request = Fill | Score | TopToken | Reconstruct | Tag | Resolve
Answer = FillAnswer | ScoreAnswer | TopTokenAnswer | ReconstructAnswer | TagAnswer | ResolveAnswer

ANSWER_TYPES: dict[str, type[Answer]] = {
    Fill.kind: FillAnswer,
    Score.kind: ScoreAnswer,
    TopToken.kind: TopTokenAnswer,
    Reconstruct.kind: ReconstructAnswer,
    Tag.kind: TagAnswer,
    Resolve.kind: ResolveAnswer,
}


class Encoded(Protocol):
    """A request as one backend will run it; the planner batches by its three sizes."""

    @property
    def rows(self) -> int:
        """Rows of the forward pass."""

    @property
    def length(self) -> int:
        """Tokens in its longest row."""

    @property
    def positions(self) -> int:
        """Positions at which the language-model head runs."""


#: Tokens per batch for backends that name no better number.
BATCH_TOKENS = 4096
#: Predictions at once for backends that need little memory for each.
MAX_POSITIONS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """How a model is to be loaded.

    ``device`` None is the graphics card if there is one; ``dtype`` "auto" is the checkpoint's own
    number format.
    """

    revision: str | None = None
    device: str | None = None
    dtype: str = "float32"
    trust_remote_code: bool = False
    offline: bool = False
    allow_pickle: bool = False


class Backend(ABC):
    """Something that answers requests: one file per kind of model.

    What a backend must offer is abstract; everything else has a default that most can keep.
    """

    #: What it can load, for the sentence that lists everything: "masked language models".
    label: ClassVar[str] = ""
    #: Names that begin with this are the backend's own ("control:").
    prefix: ClassVar[str] = ""
    #: Whether files alone show that a model is its own: then it is tried before the hub is asked.
    early: ClassVar[bool] = False
    #: Whether each test plants the answers itself, as it does for control models.
    planted: ClassVar[bool] = False
    #: Words of its own by language, where it comes from another package.
    words: ClassVar[Words] = {}

    @classmethod
    def claims(cls, name: str, options: LoadOptions) -> bool:
        """Whether a name that the user gave stands for a model of this kind."""
        return bool(cls.prefix) and name.startswith(cls.prefix)

    @classmethod
    def load(cls, name: str, options: LoadOptions) -> Backend:
        """The model behind a name that it claims; its weights are loaded with the first question."""
        raise TypeError(f"{cls.__name__} loads no model by its name")  # nor does it claim one

    @property
    @abstractmethod
    def info(self) -> ModelInfo:
        """Name, kind and revision; must not load the weights."""

    @property
    @abstractmethod
    def answers(self) -> frozenset[str]:
        """The kinds of request it can answer."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A digest of all that decides its answers, for the cache; must not load the weights."""

    @abstractmethod
    def encode(self, requests: Sequence[Any]) -> Sequence[Encoded]:
        """The requests (all of one kind), tokenised."""

    @abstractmethod
    def answer(self, batch: Sequence[Any]) -> list[Answer]:
        """The answers to one batch of encoded requests, in order, by one forward pass."""

    @property
    def max_positions(self) -> int:
        """How many predictions fit into memory at once (each may be a whole vocabulary of logits)."""
        return MAX_POSITIONS

    @property
    def batch_tokens(self) -> int:
        """The number of tokens per batch that runs fastest, unless the user sets one."""
        return BATCH_TOKENS

    @property
    def workers(self) -> int:
        """How many batches it can answer at once, in threads."""
        return 1

    @property
    def cacheable(self) -> bool:
        """Whether its fingerprint identifies it for good; if not, it is asked again in every run."""
        return True

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The types of entity that a tagger can find, in its own words; None where it cannot say."""
        return None

    @property
    def notices(self) -> tuple[Message, ...]:
        """What every result must say of its answers."""
        return ()

    @property
    def exact(self) -> Backend | None:
        """The same model in float32, by which a smaller number format is judged."""
        return None
