"""One input under a time limit, and what became of it."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from types import FrameType

from fuzz.target import Input, Target
from gendalens.errors import LONGEST, UserError

LONGEST_SENTENCE = LONGEST + 3


class Outcome(Enum):
    """What can become of an input; only the first two are sound."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    FAILED = "failed"


class TooSlow(BaseException):
    """An input took longer than it may; no reader may catch it."""


def watched(target: Target, given: Input) -> tuple[Outcome, str]:
    """The outcome, and of a failure where and why."""
    try:
        with _limited(target.limit):
            target.take(given)
    except UserError as error:
        fault = _fault(str(error))
        return (Outcome.FAILED, fault) if fault else (Outcome.REFUSED, str(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Outcome.FAILED, _place(error)
    return Outcome.ACCEPTED, ""


def _fault(sentence: str) -> str:
    """What is wrong with a refusal: it should be one sentence of moderate length."""
    if "\n" in sentence or "\r" in sentence:
        return f"a refusal of several lines: {sentence[:200]!r}"
    if not sentence.endswith((".", ")")):
        return f"a refusal that does not end: {sentence[-80:]!r}"
    if len(sentence) > LONGEST_SENTENCE:
        return f"a refusal of {len(sentence)} characters: {sentence[:80]!r}"
    return ""


def _place(error: BaseException) -> str:
    """The error and the innermost lines of ours that it came from."""
    ours = [
        f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if "gendalens" in frame.filename or "/fuzz/" in frame.filename
    ]
    said = (str(error).strip() or "no reason").splitlines()[0]
    return f"{type(error).__name__} at {' < '.join(ours[:-4:-1])}: {said[:160]}"


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def late(number: int, frame: FrameType | None) -> None:
        raise TooSlow(f"over {seconds:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
