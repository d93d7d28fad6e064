"""What the program is doing while somebody waits: told by whoever does it, shown by whoever listens.

A model is loaded far below the code that shows a run's progress. Nobody listens by default.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from gendalens.words import Message


class Listener(Protocol):
    """Shows the steps and the notes of a run."""

    def prepares(self, step: Message) -> None:
        """A step begins that may take a while."""

    def notes(self, message: Message) -> None:
        """Something the user should know that is not a failure."""


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Tell a listener what is told in this context."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell_step(step: Message) -> None:
    """Tell what is done from now on."""
    if listener := _listener.get():
        listener.prepares(step)


def tell_note(message: Message) -> None:
    """Tell something that the user should know."""
    if listener := _listener.get():
        listener.notes(message)
