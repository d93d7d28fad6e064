"""Weights that are still the file they were read from.

Where the number format is the file's, safetensors gives tensors that are the file, mapped into memory:
whoever writes to it would change the model under a run, and whoever cuts it short would end the process.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_MAPS = Path("/proc/self/maps")  # Linux only; elsewhere every tensor is copied
_WEIGHTS = (b".safetensors", b".gguf", b" (deleted)")
_DONTNEED = 4


def own(model: Any) -> None:
    """Copy the weights of ``model`` that are a file's into memory of our own, one at a time."""
    linux = _MAPS.exists()
    ranges = list(_ranges()) if linux else []
    for tensor in itertools.chain(model.parameters(), model.buffers()):
        old = tensor.data
        first, end = old.data_ptr(), old.data_ptr() + old.nbytes
        if linux and not any(start <= first < stop for start, stop in ranges):
            continue
        tensor.data = old.clone()
        if linux:
            _release(first, end)


def _ranges() -> Iterator[tuple[int, int]]:
    """Where in memory files of weights lie."""
    for line in _MAPS.read_bytes().split(b"\n"):  # a path has any encoding, or none
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and fields[5].endswith(_WEIGHTS):
            start, stop = (int(edge, 16) for edge in fields[0].split(b"-"))
            yield start, stop


def _release(first: int, end: int) -> None:
    """Tell the system that these pages of a file are no longer read: the copy costs no memory then."""
    page = 4096
    first, end = -(-first // page) * page, end // page * page
    if first < end:
        madvise = ctypes.CDLL(None).madvise
        madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        madvise(first, end - first, _DONTNEED)
