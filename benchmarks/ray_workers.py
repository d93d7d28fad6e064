"""What a run on Ray costs the driver, with workers that sleep instead of computing.

    python -m benchmarks.ray_workers [--many 200] [--seconds 0.5]

Starts a cluster on this computer. Two real workers show what starting, loading and a batch cost; the
many workers are threads of a few processes, because a process each would need more memory than they
would as sleepers on nodes of their own. (How many workers a process holds makes no difference to the
driver, which is what is measured.) Needs idle cores for two minutes, and the extra ``ray``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gendalens.data.choice import read_choices
from gendalens.engine.cache import Cache
from gendalens.engine.cluster.ray_cluster import RayCluster
from gendalens.engine.cluster.remote_backend import RemoteBackend, host_model
from gendalens.engine.cluster.staff import Staff
from gendalens.engine.cluster.worker import Call, Worker, pack
from gendalens.engine.executor import ask
from gendalens.engine.ray_options import RayOptions
from gendalens.engine.run_options import RunOptions
from gendalens.models.base import Backend, LoadOptions
from gendalens.models.detect import load_model
from gendalens.models.requests import (
    Answer,
    Fill,
    FillAnswer,
    Request,
    Score,
    ScoreAnswer,
    Tag,
    TagAnswer,
)
from gendalens.tasks import get_task
from torture.sleeping_model import install

_WORDS = 12  # of a request
_SIZE = 16  # requests of a batch
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
class Span:
    """Seconds on the clock, and of this process's CPU."""

    wall: float
    cpu: float


def read_clocks() -> Span:
    """Now."""
    return Span(time.monotonic(), time.process_time())


@dataclass(frozen=True, slots=True)
class Measured:
    """A run of sleeping workers: before its first batch is sent, and after."""

    workers: int
    sleep: float
    batches: int
    requests: int
    ahead: Span
    after: Span

    @property
    def rate(self) -> float:
        """Batches a second, from the first that is sent to the last that is stored."""
        return self.batches / self.after.wall

    @property
    def busy(self) -> float:
        """The share of that time in which the workers slept as if they computed."""
        return self.rate * self.sleep / self.workers

    def __str__(self) -> str:
        return (
            f"{self.workers} workers, {self.sleep * 1000:.0f} ms a batch, {self.batches} batches of"
            f" {self.requests // self.batches}: {self.ahead.wall:.2f} s until the first was sent"
            f" ({self.ahead.cpu / self.requests * 1e6:.0f} µs of CPU a request), then"
            f" {self.rate:.1f} batches/s in {self.after.wall:.2f} s, busy {self.busy:.3f}, driver"
            f" {self.after.cpu / self.batches * 1000:.2f} ms of CPU a batch; busy altogether"
            f" {self.busy * self.after.wall / (self.after.wall + self.ahead.wall):.3f}"
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
        assert isinstance(backend, RemoteBackend)
        # Every worker is there before the clock starts.
        ask(backend, make_requests(workers * 8), batch_tokens=_WORDS)
        while len(backend._crew._members) < workers or not all(
            one.is_ready for one in backend._crew._members
        ):
            time.sleep(0.1)
        store = Cache(cache, threads=True) if cache else None
        sent: list[Span] = []
        answer = type(backend).answer

        def note(batch: Sequence[Any]) -> list[Answer]:
            sent.append(read_clocks())
            return answer(backend, batch)

        backend.answer = note  # type: ignore[method-assign]
        began = read_clocks()
        ask(backend, requests, batch_tokens=_WORDS * size, cache=store)
        ended = read_clocks()
    first = sent[0]
    return Measured(
        workers,
        sleep,
        len(sent),
        len(requests),
        ahead=Span(first.wall - began.wall, first.cpu - began.cpu),
        after=Span(ended.wall - first.wall, ended.cpu - first.cpu),
    )


def report_costs(folder: Path) -> None:
    """What a request costs on its way, without Ray: the sleeping model's, and those of the tests."""
    report_cost("sleeping model", load_model("sleep:ms=0"), make_requests(10_000), folder)
    options = RunOptions(data=read_choices("builtin"))
    for name, test, kind in (
        ("demo-lm", "lm-abc", Score),
        ("demo-lm", "lm-dawinobias", Fill),
        ("demo-ner", "ner-dane", Tag),
    ):
        portion = next(iter(options.plan(get_task(test, 2)).portions))
        requests = [one for one in dict.fromkeys(portion.requests) if isinstance(one, kind)]
        report_cost(test, load_model(name), requests[:10_000], folder)


def report_cost(what: str, model: Backend, requests: list[Any], folder: Path) -> None:
    """CPU of this process by what it is needed for."""
    with Cache(folder / f"{what}.sqlite") as cache:
        began = time.process_time()
        list(dict.fromkeys(requests))
        cache.lookup("m", requests)
        looked = time.process_time()
        encoded = model.encode(requests)
        tokenised = time.process_time()
        batches = [encoded[i : i + _SIZE] for i in range(0, len(encoded), _SIZE)]
        packed = sum(len(pack(Call("answer", (batch,)))) for batch in batches)
        sent = time.process_time()
        answers = [(request, make_answer(request)) for request in requests]
        made = time.process_time()
        for start in range(0, len(answers), _SIZE):
            cache.store("m", answers[start : start + _SIZE])
        stored = time.process_time()
    parts = {
        "look up": looked - began,
        "tokenise": tokenised - looked,
        "pack": sent - tokenised,
        "store": stored - made,
    }
    shown = ", ".join(f"{part} {took / len(requests) * 1e6:.0f} µs" for part, took in parts.items())
    print(
        f"{what}, {len(requests)} requests: {shown}, {packed / len(requests):.0f} bytes a request",
        flush=True,
    )


def make_answer(request: Request) -> Answer:
    """Any answer of the kind of a request."""
    match request:
        case Fill(candidates=candidates):
            return FillAnswer((-1.5,) * len(candidates), (1,) * len(candidates), candidates[0])
        case Tag():
            return TagAnswer(())
        case _:
            return ScoreAnswer(-30.25, 12)


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
        report_costs(Path(folder))
        rates = {}
        for workers in (1, 2):
            with closing(RayCluster(RayOptions(workers=workers, cpus_per_worker=1))) as cluster:
                began = time.monotonic()
                cluster.connect(1)
                print(f"Ray started in {time.monotonic() - began:.1f} s", flush=True)
                began = time.monotonic()
                found = measure(cluster, 0.02, workers=workers, batches=500, size=_SIZE, cache=None)
                rates[workers] = found.rate
                ready = time.monotonic() - began - found.ahead.wall - found.after.wall
                print(f"workers ready {ready:.1f} s later; {found}", flush=True)
        print(f"two workers: {rates[2] / rates[1] / 2:.3f} of twice the rate of one", flush=True)
        if asked.few:
            return 0
        options = RayOptions(workers=asked.many, cpus_per_worker=0)
        with closing(SharedProcesses(options)) as cluster:
            cluster.connect(0)
            for sleep in asked.seconds:
                batches = int(asked.many * max(20, 15 / sleep))
                cache = Path(folder) / f"{sleep}.sqlite"
                found = measure(
                    cluster, sleep, workers=asked.many, batches=batches, size=_SIZE, cache=cache
                )
                print(found, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
