"""Memory limits (`ulimit -d`, `ulimit -v`, a batch system's) under which native libraries cannot start.

NumPy's OpenBLAS, torch and OpenMP end the process themselves, or hang, where they get too little while
they start, and no Python program can catch that: so it is said before.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gendalens.errors import UserError

MIB = 1024**2
STACK = 8 * MIB  # what a thread takes
_ARENA_MAX = -8  # glibc's name of the number of heaps
_USED = {"RLIMIT_AS": 0, "RLIMIT_DATA": 5}  # where /proc/self/statm counts what each limit bounds


@dataclass(frozen=True, slots=True)
class Need:
    """What a library takes while it starts, in MiB, measured on Linux and rounded up.

    ``pools`` says how often it starts a thread for each processor.
    """

    library: str
    data: int
    space: int
    pools: int

    def least(self) -> dict[str, int]:
        """The bytes that each limit must leave."""
        threads = self.pools * (os.cpu_count() or 1) * STACK
        return {"RLIMIT_DATA": self.data * MIB + threads, "RLIMIT_AS": self.space * MIB + threads}


NUMPY = Need("NumPy", data=80, space=170, pools=1)
#: With a run of the smallest model, and its report.
TORCH = Need("torch", data=350, space=1060, pools=2)


def check_memory_limit(need: Need) -> None:
    """Refuse a limit that a library does not fit under."""
    for name, least in need.least().items():
        limit = _limit(name)
        if limit is not None and limit < least:
            raise UserError(
                f"This process may use {limit // MIB:,} MiB of memory, and {need.library} alone takes"
                f" more than {least // MIB:,}: raise the limit (ulimit, or the batch system's) and run"
                " again."
            )


def share_one_heap() -> None:
    """Let threads share one heap where the address space is limited.

    glibc reserves up to 128 MiB of it for each thread's own, and what comes after finds no room.
    """
    if _limit("RLIMIT_AS") is not None:
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_ARENA_MAX, 1)


@cache
def start_threads(torch: Any) -> None:
    """Start torch's threads where memory is limited, no more than there is room for.

    Later, with a model in memory, OpenMP would end the process or hang if it could not start one.
    """
    rooms = [room for name in _USED if (room := _room(name)) is not None]
    if rooms:
        # Three quarters of what is left are for the model.
        threads = min(torch.get_num_threads(), max(1, min(rooms) // 4 // STACK))
        torch.set_num_threads(threads)
        torch.ones(threads * 2**16).exp()  # long enough for every thread to get a part


def _limit(name: str) -> int | None:
    """The bytes that a limit allows; None where there is none."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return None
    limit, _ = resource.getrlimit(getattr(resource, name))
    return None if limit == resource.RLIM_INFINITY else limit


def _room(name: str) -> int | None:
    """The bytes that a limit still leaves; None where there is no limit, or nobody counts."""
    limit = _limit(name)
    counts = Path("/proc/self/statm")
    if limit is None or not counts.exists():
        return None
    return limit - int(counts.read_text().split()[_USED[name]]) * os.sysconf("SC_PAGE_SIZE")
