"""The meaning of errors raised by third-party libraries."""

from __future__ import annotations

from gendalens.system.hub_faults import walk_causes
from gendalens.words import Template

__all__ = ["describe_error", "is_library_error", "is_out_of_memory", "is_panic", "walk_causes"]

#: The problem when memory runs out; the advice that follows depends on when it happens.
DOES_NOT_FIT = Template("does_not_fit", "{name} does not fit into memory")

# How torch, CUDA's libraries, oneDNN, the dynamic loader and Python report that memory ran out.
_NO_MEMORY = (
    "out of memory",
    "allocate memory",
    "bad_alloc",
    "alloc_failed",
    "could not create a primitive",
    "failed to map segment",
    "can't start new thread",
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory ran out; PyTorch has no exception type for it on the CPU."""
    text = str(error).lower()
    return isinstance(error, MemoryError) or any(sign in text for sign in _NO_MEMORY)


def is_panic(error: BaseException) -> bool:
    """Whether an error is no ``Exception``, such as those of torch.distributed and Rust libraries."""
    return type(error).__name__ in ("PanicException", "CheckpointException")


def is_library_error(error: BaseException) -> bool:
    """Whether a library failed, as opposed to the user stopping the program."""
    return isinstance(error, Exception) or is_panic(error)


def describe_error(error: BaseException) -> str:
    """The first line of an error, short enough to quote in a message."""
    first = str(error).strip().split("\n")[0].rstrip(". ")
    return first[:160] or type(error).__name__
