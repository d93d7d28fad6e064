"""Memory limits under which torch cannot even be imported.

Its libraries end the process (``std::bad_alloc``) where they get too little while they start, and no
Python program can catch that: so it is said before.
"""

from __future__ import annotations

from gendalens.errors import UserError

MIB = 1024**2
#: What a run of the smallest model takes of each, measured and rounded down; torch 2, CPU, Linux.
LEAST = {"RLIMIT_DATA": 350 * MIB, "RLIMIT_AS": 1000 * MIB}


def check_memory_limit() -> None:
    """Refuse a limit (`ulimit -d`, `ulimit -v`, a batch system's) that no model fits under."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    for name, least in LEAST.items():
        limit, _ = resource.getrlimit(getattr(resource, name))
        if limit != resource.RLIM_INFINITY and limit < least:
            raise UserError(
                f"This process may use {limit // MIB:,} MiB of memory, and torch alone takes more than"
                f" {least // MIB:,}: raise the limit (ulimit, or the batch system's) and run again."
            )
