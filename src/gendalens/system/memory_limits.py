"""Memory limits (``ulimit -d``, ``ulimit -v``, a batch system's) too low for native libraries to start.

NumPy's OpenBLAS, torch and OpenMP kill the process, or hang, when they get too little memory while they
start. No Python program can catch that, so the limits are checked first.
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
STACK = 8 * MIB  # of one thread
# glibc's mallopt parameters: the number of heaps, the block size above which mmap is used, and how much
# may remain free at the end of a heap.
_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1
_USED = {"RLIMIT_AS": 0, "RLIMIT_DATA": 5}  # where /proc/self/statm counts what each limit bounds


@dataclass(frozen=True, slots=True)
class Need:
    """What a library needs to start, in MiB by limit; measured on Linux."""

    library: str
    least: Mapping[str, int]


#: With SciPy, and one thread for each of the two copies of OpenBLAS.
NUMPY = Need("NumPy", {"RLIMIT_DATA": 115, "RLIMIT_AS": 210})
#: With a run of the smallest model.
TORCH = Need("torch", {"RLIMIT_DATA": 400, "RLIMIT_AS": 1060})


def check_memory_limit(need: Need) -> None:
    """Raise if a library cannot start under the memory limit of this process."""
    for name, least in need.least.items():
        limit = _find_limit(name)
        if limit is not None and limit < least * MIB:
            raise UserError(
                "This process may use {limit:,} MiB of memory, and {library} alone takes more than "
                "{least:,}: raise the limit (ulimit, or the batch system's) and run again.",
                limit=limit // MIB,
                library=need.library,
                least=least,
            )


def memory_is_limited() -> bool:
    """Whether this process has a memory limit."""
    return any(_find_limit(name) is not None for name in _USED)


def prepare_numpy() -> None:
    """If memory is limited, give NumPy and SciPy one thread each; call it before they are imported.

    Each copy of OpenBLAS takes 40 MiB for every further processor when it is loaded, and retries
    forever if it does not get them. torch does the heavy work and has its own threads.
    """
    check_memory_limit(NUMPY)
    if memory_is_limited():
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def keep_heap_small() -> None:
    """Tune glibc's allocator for the tensors of models; does nothing with other allocators.

    Large blocks return to the system when they are freed. By default glibc soon keeps them, in one
    fragmented heap per thread, which takes a tenth more memory. The activations of an ordinary model
    are smaller and are kept, because requesting them from the system again, page by page, costs a
    twentieth of the time. If the address space is limited, all threads share one heap: glibc reserves
    up to 128 MiB for each heap, which leaves no room for anything else.
    """
    import ctypes  # imported here because every command imports this module, and few need ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, 8 * MIB)
        mallopt(_TRIM_THRESHOLD, 16 * MIB)
        if _find_limit("RLIMIT_AS") is not None:
            mallopt(_ARENA_MAX, 1)


@cache
def start_threads(torch: Any) -> None:
    """If memory is limited, start as many of torch's threads now as there is room for.

    Later, with a model in memory, OpenMP would kill the process or hang if it could not start one. It
    starts some for every thread that computes, so transformers is told to load weights in the calling
    thread.
    """
    rooms = [room for name in _USED if (room := _find_room(name)) is not None]
    if rooms:
        os.environ.setdefault("HF_DEACTIVATE_ASYNC_LOAD", "1")
        # Three quarters of the remaining memory are for the model.
        threads = min(torch.get_num_threads(), max(1, min(rooms) // 4 // STACK))
        torch.set_num_threads(threads)
        torch.ones(threads * 2**16).exp()  # large enough to give every thread a part


def _find_limit(name: str) -> int | None:
    """The bytes that a limit allows; None if there is no limit."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return None
    limit, _ = resource.getrlimit(getattr(resource, name))
    return None if limit == resource.RLIM_INFINITY else limit


def _find_room(name: str) -> int | None:
    """The bytes left under a limit; None if there is no limit, or usage is not known."""
    limit = _find_limit(name)
    counts = Path("/proc/self/statm")
    if limit is None or not counts.exists():
        return None
    return limit - int(counts.read_text().split()[_USED[name]]) * os.sysconf("SC_PAGE_SIZE")
