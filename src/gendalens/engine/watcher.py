"""Watchers of a run, and the reports they receive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from gendalens.engine.executor import Tally
from gendalens.results.result import Result
from gendalens.words import Message


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """A result, and the folder it was written to, if any."""

    result: Result
    folder: Path | None


@dataclass(slots=True)
class SessionReport:
    """The outcome of a run: its results, and a sentence for each failure.

    ``shards`` are the files of answers of a run that is only a part of one.
    """

    outcomes: list[TestOutcome] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    interrupted: bool = False
    shards: list[Path] = field(default_factory=list)

    def extend(self, other: SessionReport) -> None:
        """Add the outcome of another model."""
        self.outcomes += other.outcomes
        self.shards += other.shards
        self.failures += other.failures


class Watcher(Protocol):
    """Receives the progress of a run."""

    def prepares(self, step: Message) -> None:
        """A step begins that may take a while, such as loading a model."""

    def starts(self, task: str, model: str, tally: Tally, notes: Sequence[str]) -> None:
        """A test starts; its requests are counted, and ``notes`` are for the user."""

    def meters(self, count_tokens: Callable[[], float]) -> None:
        """The next test uses tokens, which ``count_tokens`` counts; it may be called at any time."""

    def answered(self, count: int) -> None:
        """``count`` more requests have been answered."""

    def ends(self) -> None:
        """All requests of the test have been answered, or the run is over."""

    def finishes(self, model: str, report: SessionReport) -> None:
        """All tests of a model are done."""

    def notes(self, message: Message) -> None:
        """Something the user should know that is not a failure."""


class SilentWatcher:
    """A watcher that does nothing."""

    def prepares(self, step: Message) -> None:
        """Do nothing."""

    def starts(self, task: str, model: str, tally: Tally, notes: Sequence[str]) -> None:
        """Do nothing."""

    def meters(self, count_tokens: Callable[[], float]) -> None:
        """Do nothing."""

    def answered(self, count: int) -> None:
        """Do nothing."""

    def ends(self) -> None:
        """Do nothing."""

    def finishes(self, model: str, report: SessionReport) -> None:
        """Do nothing."""

    def notes(self, message: Message) -> None:
        """Do nothing."""
