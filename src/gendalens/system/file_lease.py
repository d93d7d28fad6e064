"""Files of weights that nobody may write to while they are read.

Weights are mapped into memory before they are copied, and a file that is cut short in between would end
the process (SIGBUS). A lease lets others wait for so long; where the system grants none, nothing is held.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def held(files: Iterable[Path]) -> Iterator[None]:
    """Whoever opens one of the files for writing waits until the end, or for 45 seconds (Linux only)."""
    descriptors = []
    try:
        for file in files:
            with suppress(OSError):
                descriptors.append(os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)))
                _lease(descriptors[-1])
        yield
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _lease(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows lets nobody cut short what is mapped
        return
    if hasattr(fcntl, "F_SETLEASE") and hasattr(fcntl, "F_SETSIG"):
        # Who holds a lease is told by a signal that others wait: one that does nothing by itself.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
