"""One watcher for several models that run at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from gendalens.engine.executor import Tally
from gendalens.engine.watcher import SessionReport, Watcher
from gendalens.words import Message


class JointWatcher:
    """Passes on what several models' runs tell, one at a time; use it in their threads.

    What is shown of the tests that run lasts until the last of them ends.
    """

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._lock = threading.RLock()
        self._running = 0

    def prepares(self, step: Message) -> None:
        """A step of some model begins."""
        with self._lock:
            self._watcher.prepares(step)

    def starts(self, task: str, model: str, tally: Tally, notes: Sequence[str]) -> None:
        """A test of some model starts."""
        with self._lock:
            self._running += 1
            self._watcher.starts(task, model, tally, notes)

    def meters(self, count_tokens: Callable[[], float]) -> None:
        """Nothing: the tokens of one of several models say little about the run."""

    def answered(self, count: int) -> None:
        """``count`` more requests have been answered."""
        with self._lock:
            self._watcher.answered(count)

    def ends(self) -> None:
        """All requests of a test have been answered."""
        with self._lock:
            self._running -= 1
            if not self._running:
                self._watcher.ends()

    def finishes(self, model: str, report: SessionReport) -> None:
        """All tests of a model are done."""
        with self._lock:
            self._watcher.finishes(model, report)

    def notes(self, message: Message) -> None:
        """Something the user should know."""
        with self._lock:
            self._watcher.notes(message)
