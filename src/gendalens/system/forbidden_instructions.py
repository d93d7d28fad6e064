"""Processors that promise instructions which the system forbids.

Some virtual machines show AMX, and end a program that uses it (SIGILL); oneDNN does for the number
formats smaller than float32. Whether it may is tried in a process of its own.
"""

from __future__ import annotations

import faulthandler
import os
import time
import warnings
from collections.abc import Callable
from functools import cache

#: What oneDNN reads when it is first used: the most that every processor of this kind can.
_VARIABLE, _PLAIN = "ONEDNN_MAX_CPU_ISA", "AVX512_CORE"
_PATIENCE = 20.0  # seconds


@cache
def avoid_forbidden_instructions() -> None:
    """See that a smaller number format does not end the process; to be called before it is used."""
    if not _promises_amx() or _VARIABLE in os.environ or survives(_multiply):
        return
    os.environ[_VARIABLE] = _PLAIN
    if not survives(_multiply):  # oneDNN was in use already, and reads the variable once
        import torch

        torch.backends.mkldnn.enabled = False  # type: ignore[assignment]


def survives(work: Callable[[], object]) -> bool:
    """Whether a copy of this process comes through ``work``."""
    with warnings.catch_warnings():
        # Python warns of locks that other threads may hold: the copy is given up if it waits for one.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process == 0:
        code = 1
        try:
            _die_quietly()
            work()
            code = 0
        finally:
            os._exit(code)
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.005)
    os.kill(process, 9)
    os.waitpid(process, 0)
    return False


def _die_quietly() -> None:
    """Leave neither a traceback nor a core file behind."""
    import resource

    faulthandler.disable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _promises_amx() -> bool:
    import torch

    promised = getattr(torch.cpu, "_is_amx_tile_supported", None)  # not in every version of torch
    return hasattr(os, "fork") and promised is not None and bool(promised())


def _multiply() -> None:
    import torch

    torch.set_num_threads(1)  # a copy of a process has none of its threads
    for dtype in (torch.bfloat16, torch.float16):
        one = torch.ones(64, 64, dtype=dtype)
        torch.nn.functional.linear(one, one, one[0])
