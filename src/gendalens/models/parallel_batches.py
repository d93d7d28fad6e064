"""Batches answered side by side: every thread has a batch of its own and its share of the cores.

Threads that share a batch wait for one another after every step of the model, and all of them for the
one whose core is busy elsewhere; threads with a batch each do not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

#: More would hold more batches in memory than they save time.
MOST = 4

# These write into themselves while they read a text.
_WITH_STATE = frozenset(
    {"big_bird", "bigbird_pegasus", "clvp", "funnel", "recurrent_gemma", "reformer", "xlstm"}
)

Item = TypeVar("Item")
Found = TypeVar("Found")


def keeps_state(config: Any) -> bool:
    """Whether a model of this configuration can read one text at a time only.

    Beside the architectures themselves: positions that stretch with the longest text seen so far, and
    models of more than text, some of which keep where the pictures were.
    """
    text = config.get_text_config()
    positions = str(getattr(text, "rope_parameters", None))
    return (
        text is not config
        or text.model_type in _WITH_STATE
        or any(stretching in positions for stretching in ("dynamic", "longrope"))
    )


@contextmanager
def crew(
    workers: int,
) -> Iterator[Callable[[Callable[[Item], Found], Iterable[Item]], Iterator[Found]]]:
    """A ``map`` that works on so many items at once, and gives what it finds in their order."""
    import torch

    threads = torch.get_num_threads()
    pool = ThreadPoolExecutor(
        workers, initializer=torch.set_num_threads, initargs=(max(1, threads // workers),)
    )

    def in_order(function: Callable[[Item], Found], items: Iterable[Item]) -> Iterator[Found]:
        waiting: deque[Future[Found]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            # One more each than is being worked on, so that nobody waits for what is done here.
            if len(waiting) >= 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    try:
        yield in_order
    finally:
        pool.shutdown(cancel_futures=True)
        # A part of torch has one number of threads for all of them, and that is the last one set.
        torch.set_num_threads(threads)
