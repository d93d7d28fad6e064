"""A cluster whose workers are threads of this process, and can be made to die."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from gendalens.engine.cluster.ray_cluster import DeadWorkerError, StoppedError
from gendalens.engine.cluster.worker import Worker


@dataclass(eq=False)
class Method:
    actor: Actor
    name: str

    def remote(self, *arguments: Any) -> Future[Any]:
        return self.actor.submit(self.name, *arguments)


class Death(BaseException):
    """What a model raises to end its worker, as a signal would."""


class Actor:
    """A worker in a thread of its own."""

    def __init__(self) -> None:
        self.worker = Worker({})
        self.pool = ThreadPoolExecutor(1)
        self.is_dead = False

    def __getattr__(self, name: str) -> Method:
        return Method(self, name)

    def submit(self, name: str, *arguments: Any) -> Future[Any]:
        if self.is_dead:
            found: Future[Any] = Future()
            found.set_exception(DeadWorkerError("it is dead"))
            return found
        return self.pool.submit(self.perform, name, *arguments)

    def perform(self, name: str, *arguments: Any) -> Any:
        if self.is_dead:
            raise DeadWorkerError("it is dead")
        try:
            return getattr(self.worker, name)(*arguments)
        except Death as death:
            self.is_dead = True
            raise DeadWorkerError(str(death)) from None


@dataclass
class Options:
    cpus_per_worker: float | None = None
    gpus_per_worker: float = 0
    workers: int | None = 2


@dataclass
class ThreadCluster:
    """Stands for a :class:`RayCluster`."""

    room: int = 2
    options: Options = field(default_factory=Options)
    changed: threading.Condition = field(default_factory=threading.Condition)
    is_closed: bool = False
    hired: list[Actor] = field(default_factory=list)

    def connect(self, cpus: float) -> int:
        return self.room

    def estimate_room(self) -> int:
        return self.room

    def hire(self, cpus: float) -> Actor:
        self.hired.append(Actor())
        return self.hired[-1]

    def dismiss(self, actor: Actor) -> None:
        actor.is_dead = True
        actor.pool.shutdown(wait=False)

    def wait_for(self, reference: Future[Any], is_stopped: Callable[[], bool]) -> Any:
        while True:
            try:
                return reference.result(timeout=0.05)
            except TimeoutError:
                if is_stopped() or self.is_closed:
                    raise StoppedError from None

    def close(self) -> None:
        self.is_closed = True
        with self.changed:
            self.changed.notify_all()

    def wait_for_threads(self) -> None:
        """Let every worker end what it does, so that none reaches into the next test."""
        for actor in self.hired:
            actor.pool.shutdown(cancel_futures=True)
