"""The backend interface: what the engine wants to know of a kind of model.

A task never touches a model, and a model knows nothing about tasks; between them are the requests and
answers of :mod:`gendalens.models.requests`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Protocol, TypeAlias

from gendalens.models.endpoint_options import EndpointOptions
from gendalens.models.requests import Answer
from gendalens.results.model_info import ModelInfo
from gendalens.words import Message, Words

Row: TypeAlias = tuple[int, ...]


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
