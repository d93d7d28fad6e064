"""Requests as rows of tokens, and what is read from the model's logits for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from gendalens.models.requests import Request

Row = tuple[int, ...]


class Choice(NamedTuple):
    """A position at which the most probable token of a named set is asked for ("" is all tokens)."""

    row: int
    position: int
    of: str


class Chosen(NamedTuple):
    """The token that was chosen, and its log-probability."""

    token: int
    log_prob: float


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request as rows of token ids and the questions about them.

    ``asked`` holds (row, position, token): the log-probability of the token, from the logits at that
    position. ``choice`` is the position at which a token is to be chosen. ``groups`` is the number of
    entries in ``asked`` for each word of a fill, ``pieces`` the number of tokens of each candidate.
    """

    request: Request
    inputs: tuple[Row, ...]
    asked: tuple[tuple[int, int, int], ...]
    choice: Choice | None = None
    groups: tuple[int, ...] = ()
    pieces: tuple[int, ...] = ()
    unscored: int = 0
    unknown: int = 0

    @property
    def rows(self) -> int:
        """Rows of the forward pass."""
        return len(self.inputs)

    @property
    def length(self) -> int:
        """Tokens in the longest row."""
        return max(map(len, self.inputs), default=0)

    @property
    def positions(self) -> int:
        """Positions at which the head runs."""
        return len(self.sites)

    @property
    def sites(self) -> dict[tuple[int, int], None]:
        """The distinct (row, position) pairs asked about, in order."""
        sites = dict.fromkeys((row, position) for row, position, _ in self.asked)
        if self.choice:
            sites[self.choice.row, self.choice.position] = None
        return sites


class Rows:
    """A collector of distinct rows and the questions about them."""

    def __init__(self) -> None:
        self.inputs: dict[Row, int] = {}
        self.asked: list[tuple[int, int, int]] = []

    def index(self, row: Row) -> int:
        """The index of a row, which is added if it is new."""
        return self.inputs.setdefault(row, len(self.inputs))

    def ask(self, row: Row, position: int, token: int) -> None:
        """Ask for the log-probability of a token."""
        self.asked.append((self.index(row), position, token))


@dataclass(frozen=True, slots=True)
class Reading:
    """The log-probabilities asked for, and the chosen token with its own."""

    log_probs: tuple[float, ...]
    choice: Chosen | None


class Site:
    """What to read at one position of one row; the pass fills in the values."""

    __slots__ = ("choices", "log_probs")

    def __init__(self) -> None:
        self.log_probs: dict[int, float] = {}
        self.choices: dict[str, Chosen] = {}


def add_sites(item: Prepared, wanted: Mapping[Row, dict[int, Site]]) -> None:
    """Add what a request asks to those of its rows that are in ``wanted``."""
    rows = [wanted.get(row) for row in item.inputs]
    for number, position, token in item.asked:
        if (sites := rows[number]) is not None:
            sites.setdefault(position, Site()).log_probs[token] = 0.0
    if item.choice and (sites := rows[item.choice.row]) is not None:
        sites.setdefault(item.choice.position, Site()).choices[item.choice.of] = Chosen(0, 0.0)


def collect_reading(item: Prepared, wanted: Mapping[Row, Mapping[int, Site]]) -> Reading:
    """The reading of one request, collected from the passes."""
    log_probs = tuple(
        wanted[item.inputs[row]][at].log_probs[token] for row, at, token in item.asked
    )
    if item.choice is None:
        return Reading(log_probs, None)
    site = wanted[item.inputs[item.choice.row]][item.choice.position]
    return Reading(log_probs, site.choices[item.choice.of])
