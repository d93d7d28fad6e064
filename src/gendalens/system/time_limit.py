"""A limit on the time of Python code that somebody else wrote, such as a template."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from gendalens.words import say


@contextmanager
def limit_time(seconds: float, file: str) -> Iterator[None]:
    """Raise TimeoutError where code compiled from ``file`` runs for longer, in this thread.

    A line of it that calls into C is not interrupted.
    """
    end = time.monotonic() + seconds

    def watch(frame: FrameType, event: str, value: Any) -> Any:
        if frame.f_code.co_filename != file:
            return None  # its lines are not watched
        if time.monotonic() > end:
            raise TimeoutError(
                say("it takes longer than {seconds} seconds", seconds=f"{seconds:g}")
            )
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        yield
    finally:
        sys.settrace(before)
