"""Memory limits (`ulimit -d`, `ulimit -v`, a batch system's) under which native libraries cannot start.

NumPy's OpenBLAS, torch and OpenMP end the process themselves, or hang, where they get too little while
they start, and no Python program can catch that: so it is said before.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gendalens.errors import UserError

MIB = 1024**2
STACK = 8 * MIB  # what a thread takes
# glibc's names of the number of heaps, of the size from which a block is one of its own, and of how much
# may lie free at the end of a heap.
_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1
_USED = {"RLIMIT_AS": 0, "RLIMIT_DATA": 5}  # where /proc/self/statm counts what each limit bounds


@dataclass(frozen=True, slots=True)
class Need:
    """What a library takes while it starts, by the limit's name, in MiB; measured on Linux."""

    library: str
    least: Mapping[str, int]


#: With SciPy, and one thread for each of their two copies of OpenBLAS.
NUMPY = Need("NumPy", {"RLIMIT_DATA": 115, "RLIMIT_AS": 210})
#: With a run of the smallest model.
TORCH = Need("torch", {"RLIMIT_DATA": 400, "RLIMIT_AS": 1060})


def check_memory_limit(need: Need) -> None:
    """Refuse a limit that a library does not fit under."""
    for name, least in need.least.items():
        limit = _limit(name)
        if limit is not None and limit < least * MIB:
            raise UserError(
                f"This process may use {limit // MIB:,} MiB of memory, and {need.library} alone takes"
                f" more than {least:,}: raise the limit (ulimit, or the batch system's) and run again."
            )


def memory_is_limited() -> bool:
    """Whether this process has a limit of its own."""
    return any(_limit(name) is not None for name in _USED)


def start_small() -> None:
    """Where memory is limited: NumPy and SciPy with one thread, or a refusal; before their import.

    Each copy of OpenBLAS takes 40 MiB for every further processor when it is loaded, and tries for
    ever where it does not get them. What is large is torch's work, which has threads of its own.
    """
    check_memory_limit(NUMPY)
    if memory_is_limited():
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def keep_heap_small() -> None:
    """Tell glibc how to hold what models work on; nothing to do where another library does that.

    Large blocks go back to the system when they are freed. By itself glibc would soon keep them, a heap
    for each thread, full of gaps: a tenth more memory. What the layers of a usual model pass on is
    smaller and stays: to get it anew from the system, page by page, takes a twentieth of the time. And
    where the address space is limited, threads share one heap: glibc reserves up to 128 MiB of it for
    each thread's own, and what comes after finds no room.
    """
    import ctypes  # only here: every command imports this module, and few need it

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, 8 * MIB)
        mallopt(_TRIM_THRESHOLD, 16 * MIB)
        if _limit("RLIMIT_AS") is not None:
            mallopt(_ARENA_MAX, 1)


@cache
def start_threads(torch: Any) -> None:
    """Start torch's threads where memory is limited, no more than there is room for.

    Later, with a model in memory, OpenMP would end the process or hang if it could not start one. It
    starts some for every thread that computes, so transformers is told to load weights in this one.
    """
    rooms = [room for name in _USED if (room := _room(name)) is not None]
    if rooms:
        os.environ.setdefault("HF_DEACTIVATE_ASYNC_LOAD", "1")
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
