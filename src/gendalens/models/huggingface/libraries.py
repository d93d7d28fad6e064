"""The libraries that read models: brought in, kept quiet, and what they mean when they fail."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr
from typing import Any

from gendalens.errors import UserError
from gendalens.system import hub_access
from gendalens.system.memory_limits import TORCH, check_memory_limit, keep_heap_small, start_threads

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


def panic(error: BaseException) -> bool:
    """Whether a library gave up with what is no ``Exception``: one in Rust, or torch.distributed."""
    return type(error).__name__ in ("PanicException", "CheckpointException")


def out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out; PyTorch has no type of its own for it on the CPU."""
    text = str(error).lower()
    return isinstance(error, MemoryError) or any(sign in text for sign in _NO_MEMORY)


def import_transformers() -> Any:
    """The transformers package, or the sentence that says how to get it."""
    hub_access.without_telemetry()
    # Read once, when transformers is imported: with the package kernels it fetches code from the hub.
    os.environ.setdefault("USE_HUB_KERNELS", "0")
    # It would ask a space of the hub, in a thread of its own, to convert the pickled weights of a model.
    os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "1")
    check_memory_limit(TORCH)
    keep_heap_small()
    try:
        import torch  # transformers imports without it, and fails much later
        import transformers
    except ModuleNotFoundError as error:
        raise UserError(
            f"Hugging Face models need {error.name or 'torch and transformers'}:"
            " run `pip install 'gendalens[hf]'`."
        ) from error
    except (ImportError, OSError) as error:
        raise UserError(
            f"torch and transformers cannot be loaded ({reason(error)}): check that there is enough"
            " memory and that they are installed whole."
        ) from error
    start_threads(torch)
    return transformers


@contextmanager
def quiet(progress: bool = True) -> Iterator[None]:
    """Silence transformers' own notes: what matters of them becomes an error or a warning here."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    with ExitStack() as stack:
        if not progress:
            logging.disable_progress_bar()
            # The .gguf reader draws a bar of its own, straight to standard error.
            stack.enter_context(redirect_stderr(io.StringIO()))
        stack.callback(_restore, verbosity, bars and not progress)
        yield


def _restore(verbosity: int, bars: bool) -> None:
    from transformers.utils import logging

    logging.set_verbosity(verbosity)
    if bars:
        logging.enable_progress_bar()


def reason(error: BaseException) -> str:
    """The first line of an error, short enough for a sentence."""
    first = str(error).strip().split("\n")[0].rstrip(". ")
    return first[:160] or type(error).__name__


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and what it came from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
