"""How the workers of a cluster are shared among the models of a run."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

from gendalens.engine.cluster.ray_cluster import RayCluster


class Staff:
    """Who has how many workers; guarded by the cluster's lock.

    ``models`` is the number of models that are not done yet. Each gets an equal share, and no model a
    second worker while another one that is running has none.
    """

    def __init__(self, cluster: RayCluster) -> None:
        self.cluster = cluster
        self._models = 1
        self._running: set[object] = set()
        self._hired: Counter[Any] = Counter()
        #: Held by a model that answers in this process.
        self.at_home = threading.Lock()

    def expect(self, models: int) -> None:
        """Set the number of models that are not done."""
        with self.cluster.changed:
            self._models = max(1, models)
            self.cluster.changed.notify_all()

    def may_hire(self, crew: Any, members: int, room: int) -> bool:
        """Whether a crew may have one more worker than its ``members``, of ``room`` altogether."""
        share = -(-room // min(room, self._models))
        free = room - self._hired.total()
        without = sum(not self._hired[other] for other in self._running if other is not crew)
        return members < share and free > (without if members else 0)

    def add_crew(self, crew: Any) -> None:
        """A model begins to run."""
        with self.cluster.changed:
            self._running.add(crew)

    def add_worker(self, crew: Any) -> None:
        """A crew has hired a worker."""
        self._hired[crew] += 1

    def remove_worker(self, crew: Any) -> None:
        """A worker of a crew has gone."""
        self._hired[crew] -= 1

    def remove_crew(self, crew: Any) -> None:
        """A model is done, and its workers are free."""
        self._running.discard(crew)
        del self._hired[crew]
