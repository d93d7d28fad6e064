"""Processors that advertise instructions that the system forbids.

Some virtual machines advertise AMX and then kill a program that uses it (SIGILL), as oneDNN does for
number formats smaller than float32. A forked process tests whether AMX works.
"""

from __future__ import annotations

import faulthandler
import os
import time
import warnings
from collections.abc import Callable
from functools import cache

#: The variable that oneDNN reads on first use, and the instruction set that every such processor has.
_VARIABLE, _PLAIN = "ONEDNN_MAX_CPU_ISA", "AVX512_CORE"
_PATIENCE = 20.0  # seconds


@cache
def avoid_forbidden_instructions() -> None:
    """Keep small number formats from killing the process; call it before they are used."""
    if not _advertises_amx() or _VARIABLE in os.environ or survives_in_fork(_multiply):
        return
    os.environ[_VARIABLE] = _PLAIN
    if not survives_in_fork(_multiply):  # oneDNN read the variable before it was set
        import torch

        torch.backends.mkldnn.enabled = False  # type: ignore[assignment]


def survives_in_fork(work: Callable[[], object]) -> bool:
    """Whether a fork of this process survives ``work``."""
    with warnings.catch_warnings():
        # Python warns that other threads may hold locks; a fork that waits for one is killed below.
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
    """Leave no traceback and no core file behind."""
    import resource

    faulthandler.disable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _advertises_amx() -> bool:
    import torch

    is_supported = getattr(
        torch.cpu, "_is_amx_tile_supported", None
    )  # not in every version of torch
    return hasattr(os, "fork") and is_supported is not None and bool(is_supported())


def _multiply() -> None:
    import torch

    torch.set_num_threads(1)  # a fork has none of its parent's threads
    for dtype in (torch.bfloat16, torch.float16):
        one = torch.ones(64, 64, dtype=dtype)
        torch.nn.functional.linear(one, one, one[0])
