"""Requests, answers and the backend interface: the seam between tests and models.

A task never touches a model, and a model knows nothing about tasks. Requests are plain hashable values,
so the engine can remove duplicates, look them up in the cache and batch what is left.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

from gendalens.models.endpoint_options import EndpointOptions
from gendalens.results.model_info import ModelInfo
from gendalens.words import Message, Words

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
Row: TypeAlias = tuple[int, ...]


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


class Encoded(Protocol):
    """A request in the form that a backend runs; batches are planned by its three sizes."""

    @property
    def rows(self) -> int:
        """Rows of the forward pass."""

    @property
    def length(self) -> int:
        """Tokens in its longest row."""

    @property
    def positions(self) -> int:
        """Positions at which the language-model head runs."""


class Batching(Enum):
    """Which rows a model can read together without changing its answers."""

    ANY_LENGTH = "any length"
    EQUAL_LENGTH = "equal length"
    ONE_ROW = "one row"


#: Tokens per batch, unless a backend sets a better number.
BATCH_TOKENS = 4096
#: Simultaneous predictions for backends that need little memory for each.
MAX_POSITIONS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """How to load a model.

    ``device`` None means the graphics card if there is one, "auto" all devices together; ``max_memory``
    limits what "auto" uses of each ("0=10GiB,cpu=30GiB"). ``dtype`` "auto" means the checkpoint's own
    number format. ``endpoint`` says where a model of ``openai:`` is served: options, or just the URL.
    """

    revision: str | None = None
    device: str | None = None
    dtype: str = "float32"
    trust_remote_code: bool = False
    offline: bool = False
    allow_pickle: bool = False
    max_memory: str | None = None
    # Not shown in the representation: an address may hold a key.
    endpoint: EndpointOptions | str | Sequence[str] | None = field(default=None, repr=False)


class Backend(ABC):
    """A kind of model that can answer requests; one file each.

    Only the abstract members must be implemented; the others have defaults that suit most backends.
    """

    #: What it can load, for the list of supported models: "masked language models".
    label: ClassVar[str] = ""
    #: The prefix of its model names ("control:").
    prefix: ClassVar[str] = ""
    #: Whether it recognises models by local files alone; such backends are tried before the hub is asked.
    early: ClassVar[bool] = False
    #: Whether the tests plant the answers themselves, as they do for control models.
    planted: ClassVar[bool] = False
    #: Whether it computes its answers in this process, rather than fetch them or have them planted.
    holds_weights: ClassVar[bool] = True
    #: Whether the last digits of an answer can depend on what else is in its batch.
    rounds_in_batches: ClassVar[bool] = True
    #: Whether its models are behind an endpoint (``--endpoint``).
    takes_endpoint: ClassVar[bool] = False
    #: Translations of its texts by language, for a backend from another package.
    words: ClassVar[Words] = {}

    @classmethod
    def claims(cls, name: str, options: LoadOptions) -> bool:
        """Whether a name given by the user refers to a model of this kind."""
        return bool(cls.prefix) and name.startswith(cls.prefix)

    @classmethod
    def load(cls, name: str, options: LoadOptions) -> Backend:
        """The model of a name that it claims; the weights are loaded on the first request."""
        raise TypeError(f"{cls.__name__} loads no model by its name")  # nor does it claim one

    @property
    @abstractmethod
    def info(self) -> ModelInfo:
        """Name, kind and revision; must not load the weights."""

    @property
    @abstractmethod
    def answers(self) -> frozenset[str]:
        """The kinds of request it can answer."""

    @property
    def usual_answers(self) -> frozenset[str]:
        """The kinds of request whose tests it takes unless the user names others."""
        return self.answers

    @abstractmethod
    def fingerprint(self) -> str:
        """A digest of all that decides its answers, for the cache; must not load the weights."""

    @abstractmethod
    def encode(self, requests: Sequence[Any]) -> Sequence[Encoded]:
        """The requests (all of one kind), tokenised."""

    @abstractmethod
    def answer(self, batch: Sequence[Any]) -> list[Answer]:
        """The answers to one batch of encoded requests, in order, by one forward pass."""

    def close(self) -> None:  # noqa: B027 - most backends keep nothing
        """Leave what it was made from as it was; called after a run on an object of the user's."""

    @property
    def max_positions(self) -> int:
        """How many predictions fit into memory at once (each may be a whole vocabulary of logits)."""
        return MAX_POSITIONS

    @property
    def batch_tokens(self) -> int:
        """The number of tokens per batch that runs fastest, unless the user sets one."""
        return BATCH_TOKENS

    @property
    def batching(self) -> Batching:
        """Which rows can be read together; only asked when requests must run, so it may load weights."""
        return Batching.ANY_LENGTH

    def plan(self, encoded: Sequence[Any], batch_tokens: int) -> list[list[int]] | None:
        """Its own batches of encoded requests, as lists of indices; None to have them planned by length.

        Only asked when requests must run, so it may load weights.
        """
        return None

    def count_tokens(self, batch: Sequence[Any]) -> int:
        """The number of tokens that it runs for a batch of encoded requests, padding included."""
        rows: int = sum(item.rows for item in batch)
        longest: int = max(item.length for item in batch)
        return rows * longest

    @property
    def workers(self) -> int:
        """How many batches it can answer at once, in threads."""
        return 1

    def host(self, name: str, send: Callable[[str, Backend], Backend]) -> Backend:
        """The same model, answering in other processes; itself, if it holds no weights.

        ``send`` makes the stand-in for a model that can be loaded elsewhere by a name.
        """
        return send(name, self) if self.holds_weights else self

    @property
    def hosts(self) -> int:
        """How many batches other processes answer at once; 0 if they are answered in this one."""
        return 0

    @property
    def cacheable(self) -> bool:
        """Whether its fingerprint identifies it permanently; if not, its answers are not cached."""
        return True

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The entity types that a tagger can find, under its own labels; None if unknown."""
        return None

    def explain_refusal(self, needs: frozenset[str]) -> Message | None:
        """Why it cannot answer these kinds of request, if it knows more than what its kind tells."""
        return None

    @property
    def notices(self) -> tuple[Message, ...]:
        """The notices that every result made from its answers must show."""
        return ()

    @property
    def remarks(self) -> tuple[Message, ...]:
        """What the user should know before the run, such as what was found out about a server."""
        return ()

    def estimate_cost(self, sample: Sequence[Any], waiting: int) -> Message | None:
        """What it will take to answer ``waiting`` requests like the sample, if it costs money."""
        return None

    @property
    def usage(self) -> Mapping[str, float]:
        """What it has used so far, for ``run.json``."""
        return {}

    @property
    def circumstances(self) -> Mapping[str, Any]:
        """Where its answers come from, for ``run.json``, if it has not given them in this process."""
        return {}

    @property
    def exact(self) -> Backend | None:
        """The same model in float32, the reference for smaller number formats."""
        return None


class RowReader(Backend):
    """A backend whose requests share rows of tokens: it runs each distinct row once.

    Its encoded requests have their rows in ``inputs``.
    """

    @abstractmethod
    def read_rows(self, rows: Sequence[AskedRow]) -> list[Any]:
        """What all requests ask of each row, by one forward pass."""

    @abstractmethod
    def conclude(self, item: Any, readings: Mapping[Row, Any]) -> Answer:
        """The answer to an encoded request, from the readings of its rows."""


@dataclass(frozen=True, slots=True)
class AskedRow:
    """A row of tokens and all encoded requests that ask about it, at this many ``positions``."""

    row: Row
    askers: tuple[Any, ...]
    positions: int

    @property
    def rows(self) -> int:
        """Rows of the forward pass."""
        return 1

    @property
    def length(self) -> int:
        """Tokens in the row."""
        return len(self.row)
