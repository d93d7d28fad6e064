"""The libraries that read Hugging Face models: imported with care, and kept quiet."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr
from typing import Any

from gendalens.errors import UserError
from gendalens.models.library_errors import describe_error
from gendalens.system import hub_access
from gendalens.system.extras import write_install_command
from gendalens.system.memory_limits import TORCH, check_memory_limit, keep_heap_small, start_threads
from gendalens.words import phrase


def import_transformers() -> Any:
    """The transformers package, or a user error that says how to install it."""
    if sys.flags.optimize > 1:
        raise UserError(
            "transformers reads its own docstrings, which `python -OO` removes: run without -OO."
        )
    hub_access.disable_telemetry()
    # transformers reads it on import; without it, code is fetched from the hub if `kernels` is installed.
    os.environ.setdefault("USE_HUB_KERNELS", "0")
    # Without it, a background thread would ask the hub to convert a model's pickled weights.
    os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "1")
    check_memory_limit(TORCH)
    keep_heap_small()
    try:
        import torch  # transformers imports without it, and fails much later
        import transformers
    except ModuleNotFoundError as error:
        raise UserError(
            "Hugging Face models need {package}: run `{command}`.",
            command=write_install_command("hf"),
            package=error.name or phrase("torch and transformers"),
        ) from error
    except (ImportError, OSError) as error:
        raise UserError(
            "torch and transformers cannot be loaded ({reason}): check that there is enough memory and"
            " that their installation is complete.",
            reason=describe_error(error),
        ) from error
    start_threads(torch)
    return transformers


@contextmanager
def silence_transformers(progress: bool = True) -> Iterator[None]:
    """Silence transformers' log messages; those that matter become errors or warnings here."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    with ExitStack() as stack:
        if not progress:
            logging.disable_progress_bar()
            # The .gguf reader draws its own progress bar on standard error.
            stack.enter_context(redirect_stderr(io.StringIO()))
        stack.callback(_restore, verbosity, bars and not progress)
        yield


def _restore(verbosity: int, bars: bool) -> None:
    from transformers.utils import logging

    logging.set_verbosity(verbosity)
    if bars:
        logging.enable_progress_bar()
