"""One input under a time limit, and its outcome."""

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
    """The outcome of an input; the first two are correct behaviour."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    FAILED = "failed"


class TooSlow(BaseException):
    """An input exceeded the time limit; a BaseException so that no reader catches it."""


def run_input(target: Target, given: Input) -> tuple[Outcome, str]:
    """The outcome, with the reason for a refusal or failure."""
    try:
        with _limit_time(target.limit):
            target.check_input(given)
    except UserError as error:
        fault = _find_fault(str(error))
        return (Outcome.FAILED, fault) if fault else (Outcome.REFUSED, str(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Outcome.FAILED, _describe_failure(error)
    return Outcome.ACCEPTED, ""


def _find_fault(sentence: str) -> str:
    """What is wrong with an error message, which should be one sentence of moderate length."""
    if "\n" in sentence or "\r" in sentence:
        return f"a refusal of several lines: {sentence[:200]!r}"
    if not sentence.endswith((".", ")")):
        return f"a refusal that does not end: {sentence[-80:]!r}"
    if len(sentence) > LONGEST_SENTENCE:
        return f"a refusal of {len(sentence)} characters: {sentence[:80]!r}"
    return ""


def _describe_failure(error: BaseException) -> str:
    """The error, and our innermost lines in its traceback."""
    ours = [
        f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if "gendalens" in frame.filename or "/fuzz/" in frame.filename
    ]
    said = (str(error).strip() or "no reason").splitlines()[0]
    return f"{type(error).__name__} at {' < '.join(ours[:-4:-1])}: {said[:160]}"


@contextmanager
def _limit_time(seconds: float) -> Iterator[None]:
    def late(number: int, frame: FrameType | None) -> None:
        raise TooSlow(f"over {seconds:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
