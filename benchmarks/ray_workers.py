"""What a run on Ray costs the driver, with workers that sleep instead of computing.

    python -m benchmarks.ray_workers [--many 200] [--seconds 0.5]

Starts a cluster on this computer. Two real workers show what starting, loading and a batch cost; the
many workers are threads of a few processes, because a process each would need more memory than they
would as sleepers on nodes of their own. (How many workers a process holds makes no difference to the
driver, which is what is measured.) Needs idle cores for some minutes, and the extra ``ray``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gendalens.engine.cache import Cache
from gendalens.engine.cluster.ray_cluster import RayCluster
from gendalens.engine.cluster.remote_backend import host_model
from gendalens.engine.cluster.staff import Staff
from gendalens.engine.cluster.worker import Call, Worker, pack
from gendalens.engine.executor import ask
from gendalens.engine.ray_options import RayOptions
from gendalens.models.base import LoadOptions, Score
from gendalens.models.detect import load_model
from torture.sleeping_model import install

_WORDS = 12  # of a request
_THREADS = 50  # workers in a process


class SharedProcesses(RayCluster):
    """A cluster with many workers in each process."""

    def __init__(self, options: RayOptions) -> None:
        super().__init__(options)
        self._actors: list[Any] = []
        self._hired = 0

    def hire(self, cpus: float) -> Any:
        """A worker in a process with others."""
        if self._hired % _THREADS == 0:
            ray = self._get_ray()
            actor = ray.remote(Worker).options(num_cpus=0, max_concurrency=_THREADS)
            self._actors.append(actor.remote({}))
        self._hired += 1
        return self._actors[-1]

    def dismiss(self, actor: Any) -> None:
        """Nothing: others live in the same process."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A run of sleeping workers."""

    workers: int
    sleep: float
    batches: int
    requests: int
    seconds: float
    cpu: float

    @property
    def busy(self) -> float:
        """The share of the time that the workers slept as if they computed."""
        return self.batches * self.sleep / self.workers / self.seconds

    def __str__(self) -> str:
        return (
            f"{self.workers} workers, {self.sleep * 1000:.0f} ms a batch of"
            f" {self.requests // self.batches}: {self.batches / self.seconds:.1f} batches/s, busy"
            f" {self.busy:.3f}, driver {self.cpu / self.batches * 1000:.2f} ms of CPU a batch,"
            f" {self.cpu / self.requests * 1e6:.0f} µs a request"
        )


def make_requests(count: int) -> list[Score]:
    """Requests of one length."""
    return [Score(" ".join([f"{n:06}", *["ord"] * (_WORDS - 1)])) for n in range(count)]


def measure(
    cluster: RayCluster, sleep: float, *, workers: int, batches: int, size: int, cache: Path | None
) -> Measured:
    """Run the sleeping model over so many batches, after its workers are there."""
    name = f"sleep:ms={sleep * 1000:.0f}"
    requests = make_requests(batches * size)
    with host_model(load_model(name), name, LoadOptions(), Staff(cluster)) as backend:
        # Every worker is there before the clock starts.
        ask(backend, make_requests(workers * 8), batch_tokens=_WORDS)
        while len(backend._crew._members) < workers or not all(
            one.is_ready for one in backend._crew._members
        ):
            time.sleep(0.1)
        began, cpu = time.monotonic(), time.process_time()
        store = Cache(cache, threads=True) if cache else None
        ask(backend, requests, batch_tokens=_WORDS * size, cache=store)
        took, cpu = time.monotonic() - began, time.process_time() - cpu
    return Measured(workers, sleep, batches, len(requests), took, cpu)


def report_costs() -> None:
    """What a request costs on its way, without Ray."""
    model = load_model("sleep:ms=0")
    encoded = model.encode(make_requests(10_000))
    began = time.process_time()
    packed = [pack(Call("answer", (encoded[i : i + 16],))) for i in range(0, len(encoded), 16)]
    took = time.process_time() - began
    print(
        f"packing: {took / 10_000 * 1e6:.1f} µs and {sum(map(len, packed)) / 10_000:.0f} bytes a"
        " request"
    )
    with tempfile.TemporaryDirectory() as folder, Cache(Path(folder) / "c.sqlite") as cache:
        requests = make_requests(10_000)
        answers = list(zip(requests, model.answer(encoded), strict=True))
        began = time.process_time()
        for start in range(0, len(answers), 16):
            cache.store("m", answers[start : start + 16])
        print(f"cache: {(time.process_time() - began) / 10_000 * 1e6:.1f} µs of CPU a request")


def main() -> int:
    """Print everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ray_workers", description=__doc__)
    parser.add_argument("--many", type=int, default=200)
    parser.add_argument("--seconds", type=float, nargs="*", default=[1.0, 0.5, 0.25])
    parser.add_argument("--few", action="store_true", help="leave the many workers out")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plugins = install(Path(folder))
        sys.path.insert(0, str(plugins))
        os.environ |= {"GENDALENS_PLUGINS": "on", "OMP_NUM_THREADS": "1"}
        os.environ["PYTHONPATH"] = os.pathsep.join((str(plugins), os.environ.get("PYTHONPATH", "")))
        report_costs()
        rates = {}
        for workers in (1, 2):
            with closing(RayCluster(RayOptions(workers=workers, cpus_per_worker=1))) as cluster:
                began = time.monotonic()
                cluster.connect(1)
                print(f"Ray started in {time.monotonic() - began:.1f} s", flush=True)
                began = time.monotonic()
                found = measure(cluster, 0.02, workers=workers, batches=500, size=16, cache=None)
                rates[workers] = found.batches / found.seconds
                ready = time.monotonic() - began - found.seconds
                print(f"workers ready {ready:.1f} s later; {found}", flush=True)
        print(f"two workers: {rates[2] / rates[1] / 2:.3f} of twice the rate of one", flush=True)
        if asked.few:
            return 0
        options = RayOptions(workers=asked.many, cpus_per_worker=0)
        with closing(SharedProcesses(options)) as cluster:
            cluster.connect(0)
            for sleep in asked.seconds:
                batches = int(asked.many * max(12, 8 / sleep))
                cache = Path(folder) / f"{sleep}.sqlite"
                found = measure(
                    cluster, sleep, workers=asked.many, batches=batches, size=16, cache=cache
                )
                print(found, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
