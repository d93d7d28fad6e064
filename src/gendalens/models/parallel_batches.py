"""Batches answered in parallel: every thread has its own batch and its share of the cores.

Threads that share a batch wait for the slowest of them after every step of the model; threads with a
batch each do not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

#: More workers would cost more memory than the time they save is worth.
MOST_WORKERS = 4

Item = TypeVar("Item")
Found = TypeVar("Found")


@contextmanager
def start_workers(
    workers: int,
) -> Iterator[Callable[[Callable[[Item], Found], Iterable[Item]], Iterator[Found]]]:
    """A ``map`` that processes this many items in parallel and yields the results in order."""
    import torch

    threads = torch.get_num_threads()
    pool = ThreadPoolExecutor(
        workers, initializer=torch.set_num_threads, initargs=(max(1, threads // workers),)
    )

    def map_in_order(function: Callable[[Item], Found], items: Iterable[Item]) -> Iterator[Found]:
        waiting: deque[Future[Found]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            # One further item per worker is queued, so that no worker waits for the consumer.
            if len(waiting) >= 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    try:
        yield map_in_order
    finally:
        pool.shutdown(cancel_futures=True)
        # One of torch's thread counts is global to the process, and the workers have changed it.
        torch.set_num_threads(threads)
