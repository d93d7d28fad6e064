"""Those who watch a run, and what they get to see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from gendalens.engine.executor import Tally
from gendalens.results.result import Result
from gendalens.words import Message


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """A result, and the folder it was written to if any."""

    result: Result
    folder: Path | None


@dataclass(slots=True)
class SessionReport:
    """What became of a run: results, and a sentence for everything that failed."""

    outcomes: list[TestOutcome] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    interrupted: bool = False

    def extend(self, other: SessionReport) -> None:
        """Add what became of one more model."""
        self.outcomes += other.outcomes
        self.failures += other.failures


class Watcher(Protocol):
    """Somebody who wants to see a run go on."""

    def starts(self, task: str, model: str, tally: Tally, notes: Sequence[str]) -> None:
        """A test's requests are known; ``notes`` are what else the user should see."""

    def answered(self, count: int) -> None:
        """So many more requests have been answered."""

    def ends(self) -> None:
        """All requests of the test have been answered."""

    def finishes(self, model: str, report: SessionReport) -> None:
        """All tests of a model are done."""

    def notes(self, message: Message) -> None:
        """Something that the user should know, and that is no failure."""


class Silence:
    """A watcher that does nothing."""

    def starts(self, task: str, model: str, tally: Tally, notes: Sequence[str]) -> None:
        """Nothing."""

    def answered(self, count: int) -> None:
        """Nothing."""

    def ends(self) -> None:
        """Nothing."""

    def finishes(self, model: str, report: SessionReport) -> None:
        """Nothing."""

    def notes(self, message: Message) -> None:
        """Nothing."""
