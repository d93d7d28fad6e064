"""Batches answered side by side: every thread has a batch of its own and its share of the cores.

Threads that share a batch wait for one another after every step of the model, and all of them for the
one whose core is busy elsewhere; threads with a batch each do not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

#: More would hold more batches in memory than they save time.
MOST_WORKERS = 4

Item = TypeVar("Item")
Found = TypeVar("Found")


@contextmanager
def start_workers(
    workers: int,
) -> Iterator[Callable[[Callable[[Item], Found], Iterable[Item]], Iterator[Found]]]:
    """A ``map`` that works on this many items at once and gives its results in their order."""
    import torch

    threads = torch.get_num_threads()
    pool = ThreadPoolExecutor(
        workers, initializer=torch.set_num_threads, initargs=(max(1, threads // workers),)
    )

    def map_in_order(function: Callable[[Item], Found], items: Iterable[Item]) -> Iterator[Found]:
        waiting: deque[Future[Found]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            # One more each than is being worked on, so that no worker waits for what is done here.
            if len(waiting) >= 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    try:
        yield map_in_order
    finally:
        pool.shutdown(cancel_futures=True)
        # A part of torch has one number of threads for all of them, and that is the last one set.
        torch.set_num_threads(threads)
