"""Weights that are still mapped from the file they were read from.

If no conversion of the number format is needed, safetensors returns tensors that map the file into
memory: a write to the file would change the model during a run, and truncating it would kill the
process.
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
# What is copied before the pages it was copied from are dropped; a large vocabulary's embeddings are
# most of a small model.
_PIECE = 16 * 1024 * 1024


def copy_mapped_weights(model: Any) -> None:
    """Copy the weights that are mapped from a file into ordinary memory, one piece at a time."""
    linux = _MAPS.exists()
    ranges = list(_find_mapped_ranges()) if linux else []
    for tensor in itertools.chain(model.parameters(), model.buffers()):
        old = tensor.data
        if linux and not any(start <= old.data_ptr() < stop for start, stop in ranges):
            continue
        tensor.data = _copy_pieces(old, release=linux)


def _find_mapped_ranges() -> Iterator[tuple[int, int]]:
    """The memory ranges to which weight files are mapped."""
    for line in _MAPS.read_bytes().split(b"\n"):  # a path may have any encoding
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and fields[5].endswith(_WEIGHTS):
            start, stop = (int(edge, 16) for edge in fields[0].split(b"-"))
            yield start, stop


def _copy_pieces(old: Any, *, release: bool) -> Any:
    """A copy of a tensor; with ``release``, the pages of the old one are dropped as they are copied."""
    if not old.is_contiguous():
        return old.clone()
    new = old.new_empty(old.shape)
    step = _PIECE // old.element_size()
    for source, target in zip(old.view(-1).split(step), new.view(-1).split(step), strict=True):
        target.copy_(source)
        if release:
            _release_pages(source)
    return new


def _release_pages(tensor: Any) -> None:
    """Tell the system to drop these pages of a file, so that the copy costs no extra memory."""
    page = 4096
    first, end = tensor.data_ptr(), tensor.data_ptr() + tensor.nbytes
    first, end = -(-first // page) * page, end // page * page
    if first < end:
        madvise = ctypes.CDLL(None).madvise
        madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        madvise(first, end - first, _DONTNEED)
