"""What the errors of other people's libraries mean."""

from __future__ import annotations

from collections.abc import Iterator

from gendalens.words import Template

#: What is wrong where memory runs out; the advice that follows depends on when it does.
DOES_NOT_FIT = Template("does_not_fit", "{name} does not fit into memory")

# How torch, CUDA's libraries, oneDNN, the system's loader and Python say that memory ran out.
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
    """Whether an error says that memory ran out; PyTorch has no type of its own for it on the CPU."""
    text = str(error).lower()
    return isinstance(error, MemoryError) or any(sign in text for sign in _NO_MEMORY)


def is_panic(error: BaseException) -> bool:
    """Whether a library gave up with no ``Exception``, as torch.distributed and those in Rust do."""
    return type(error).__name__ in ("PanicException", "CheckpointException")


def is_library_error(error: BaseException) -> bool:
    """Whether a library failed, and not the user who stopped the program."""
    return isinstance(error, Exception) or is_panic(error)


def describe_error(error: BaseException) -> str:
    """The first line of an error, short enough for a sentence."""
    first = str(error).strip().split("\n")[0].rstrip(". ")
    return first[:160] or type(error).__name__


def walk_causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and what it came from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
