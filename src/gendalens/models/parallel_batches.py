"""Batches answered in parallel: every thread has its own batch and its share of the cores.

Threads that share a batch wait for the slowest of them after every step of the model; threads with a
batch each do not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TypeVar

#: More workers would cost more memory than the time they save is worth.
MOST_WORKERS = 4

_sharers: ContextVar[int] = ContextVar("sharers", default=1)

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

    try:
        yield partial(_map_in_order, pool, 2 * workers)
    finally:
        pool.shutdown(cancel_futures=True)
        # One of torch's thread counts is global to the process, and the workers have changed it.
        torch.set_num_threads(threads)


@contextmanager
def wait_for_hosts(
    hosts: int, sharers: int
) -> Iterator[Callable[[Callable[[Item], Found], Iterable[Item]], Iterator[Found]]]:
    """The same ``map`` for items that other processes answer; the threads here only wait for them.

    ``sharers`` is the number of items that would share the cores at home. Who stops early does not wait
    for the other processes.
    """
    pool = ThreadPoolExecutor(hosts, initializer=_sharers.set, initargs=(sharers,))
    try:
        yield partial(_map_in_order, pool, 2 * hosts)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def count_sharers() -> int:
    """How many batches share the cores with the one that this thread asks, where all run at home."""
    return _sharers.get()


def _map_in_order(
    pool: ThreadPoolExecutor, most: int, function: Callable[[Item], Found], items: Iterable[Item]
) -> Iterator[Found]:
    waiting: deque[Future[Found]] = deque()
    for item in items:
        waiting.append(pool.submit(function, item))
        # One further item per worker is queued, so that no worker waits for the consumer.
        if len(waiting) >= most:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
