"""Leases on weight files, so that no process can truncate them while they are being read.

Weights are memory-mapped before they are copied, and a file that is truncated in between would kill the
process (SIGBUS). With a lease, writers wait instead. If the system grants no lease, the files are read
without one.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def hold_leases(files: Iterable[Path]) -> Iterator[None]:
    """Make any process that opens a file for writing wait until the end, or 45 seconds (Linux only)."""
    descriptors = []
    try:
        for file in files:
            with suppress(OSError):
                descriptors.append(os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)))
                _take_lease(descriptors[-1])
        yield
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _take_lease(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows lets no process truncate a mapped file
        return
    if hasattr(fcntl, "F_SETLEASE") and hasattr(fcntl, "F_SETSIG"):
        # The holder of a lease gets a signal when a writer waits; this one does nothing by default.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
