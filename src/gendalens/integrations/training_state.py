"""What a training loop depends on besides the model, kept as it is while something else runs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np


@contextmanager
def preserve_training_state(model: Any) -> Iterator[None]:
    """Restore random numbers and thread counts afterwards, and run without autocast meanwhile.

    Figures must be those of the weights as they are, even if the training is in mixed precision. (A run
    leaves the model itself as it was: see :mod:`gendalens.models.huggingface.live_checkpoint`.)
    """
    import torch

    with ExitStack() as stack:
        for restore in _remember_generators():
            stack.callback(restore)
        # Summation order, and with it the last bits of a loss, depends on the number of threads.
        stack.callback(torch.set_num_threads, torch.get_num_threads())
        for device in sorted({"cpu", *(one.device.type for one in model.parameters())} - {"meta"}):
            stack.enter_context(torch.autocast(device, enabled=False))
        yield


def _remember_generators() -> Iterator[Callable[[], None]]:
    """For each global generator of random numbers, a function that restores its state."""
    import torch

    of_python, of_numpy = random.getstate(), np.random.get_state()
    yield lambda: random.setstate(of_python)
    yield lambda: np.random.set_state(of_numpy)
    on_processor = torch.get_rng_state()
    yield lambda: torch.set_rng_state(on_processor)
    # Asking a device that is not in use would initialise it.
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        on_cards = torch.cuda.get_rng_state_all()
        yield lambda: torch.cuda.set_rng_state_all(on_cards)
    if torch.backends.mps.is_available():
        on_apple = torch.mps.get_rng_state()
        yield lambda: torch.mps.set_rng_state(on_apple)
