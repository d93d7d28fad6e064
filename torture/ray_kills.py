"""SIGKILL on a Ray cluster: of workers, of the driver, and of the whole cluster.

    python -m torture.ray_kills [--workers 30] [--drivers 10] [--clusters 5] [--seed 1] [--keep FILE]

Needs the extra ``ray``. Every run must end with the bytes of a run without Ray, no stored answer may be
asked again, and nothing may be left running. Exit code 1 means that something was lost. With ``--keep``
the trials are added to those of earlier runs in a file, and the rows of benchmarks/TORTURE.md are made
of all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from torture import table
from torture.__main__ import PAGE, PARTS
from torture.kill import count_answers
from torture.local_ray import LocalRay, start_ray
from torture.place import Ended, Place, wait_for_end
from torture.processes import is_alive, list_descendants, list_workers
from torture.sleeping_model import Log, install, read_log
from torture.trial import Outcome, Trial

_LONGEST = 400  # seconds that a run may take
_SLEEPING = ("sleep:ms=60", ["--tasks", "lm-abc", "--sample", "2000"])
_REAL = ("demo-lm", ["--tasks", "lm-abc,lm-dawinobias", "--sample", "200"])
_ALWAYS = ["--data", "builtin", "--offline", "--batch-tokens", "256"]
_KILLS_A_RUN = 6
_LINGERING = 120  # seconds that Ray's own processes may take to notice that nobody needs them
_EARLY = 0.2  # of the drivers and clusters are killed before there are answers
#: Ray ends the process by itself if its cluster is killed while it is started: see torture/table.py.
_RAYS_ENDS = ("GCS may have been killed", "Failed to register worker to Raylet")
_LAST_BATCHES = 2  # that a worker may have answered without the driver's knowing


@dataclass
class Bench:
    """A working folder, and what all trials share."""

    work: Path
    seed: int
    plugins: Path

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        self._at_home: dict[str, dict[str, bytes]] = {}

    def place(self, name: str) -> Place:
        """A new place."""
        return Place(self.work / name, self.work / "pages")

    def start(self, place: Place, arguments: list[str]) -> subprocess.Popen[str]:
        """Start a run, for which the sleeping model is known."""
        environment = {
            "PYTHONPATH": os.pathsep.join((str(self.plugins), str(Path.cwd()))),
            "GENDALENS_PLUGINS": "on",
        }
        return place.start(arguments, environment)

    def run(self, place: Place, arguments: list[str]) -> Ended:
        """Run to the end."""
        return wait_for_end(self.start(place, arguments), _LONGEST)

    def arguments(self, place: Place, model: tuple[str, list[str]] = _SLEEPING) -> list[str]:
        """What is run; the sleeping model notes what it is asked."""
        name, asked = model
        name += f"&log={place.folder / 'asked'}" if model is _SLEEPING else ""
        return [name, *asked, *_ALWAYS]

    def at_home(self, model: tuple[str, list[str]] = _SLEEPING) -> dict[str, bytes]:
        """The results without Ray."""
        if model[0] not in self._at_home:
            place = self.place(f"home-{len(self._at_home)}")
            ended = self.run(place, self.arguments(place, model))
            if ended.code:
                sys.exit(f"The undisturbed run failed: {ended.errors}")
            self._at_home[model[0]] = read_files(place)
        return self._at_home[model[0]]

    def log(self, place: Place) -> Log:
        """The batches that the sleeping model was asked."""
        return read_log(place.folder / "asked")


def read_files(place: Place) -> dict[str, bytes]:
    """The results and records of a run, with the name of the log taken out."""
    found: dict[str, bytes] = {}
    for path in sorted(place.out.rglob("*")):
        if path.name in ("result.json", "records.jsonl"):
            name = f"{path.parent.name.partition('-')[0]}/{path.name}"
            found[f"{name} {len(found)}"] = path.read_bytes().replace(
                str(place.folder).encode(), b"PLACE"
            )
    return found


def describe_difference(one: dict[str, bytes], other: dict[str, bytes]) -> str:
    """What differs; empty if nothing does."""
    if one == other:
        return ""
    return (
        f"other files: {sorted(name for name in one | other if one.get(name) != other.get(name))}"
    )


def kill_workers(bench: Bench, count: int) -> Iterator[Trial]:
    """Kill workers at random moments of their life, loading included, several in a run."""
    for model in (_SLEEPING, _REAL):
        bench.at_home(model)
    with start_ray(bench.plugins) as ray:
        left, number = count, 0
        while left > 0:
            model = _REAL if number % 3 == 2 else _SLEEPING
            place = bench.place(f"workers-{number}")
            arguments = [*bench.arguments(place, model), *on(ray)]
            process = bench.start(place, arguments)
            killed = _kill_some(bench, ray, process, min(left, _KILLS_A_RUN))
            ended = wait_for_end(process, _LONGEST)
            if not killed:
                sys.exit(f"The run ended before a worker was killed: {ended.errors}")
            note = ended.fault or find_needless(bench.log(place), killed)
            if ended.code:
                note = note or _resume(bench, place, arguments, model, ray.pid)
            note = note or describe_difference(bench.at_home(model), read_files(place))
            outcome: Outcome = "lost" if note else "sentence" if ended.code else "same"
            name = "sleeping model" if model is _SLEEPING else model[0]
            for _ in killed:
                yield Trial(f"kill −9, a worker on Ray, {name}", bench.seed, outcome,
                            note or " ".join(ended.sentences))  # fmt: skip
            left, number = left - len(killed), number + 1


def _kill_some(
    bench: Bench, ray: LocalRay, process: subprocess.Popen[str], several: int
) -> set[int]:
    killed: set[int] = set()
    while len(killed) < several and process.poll() is None:
        time.sleep(bench.dice.uniform(0.2, 4))
        if workers := list_workers(ray.pid):
            chosen = bench.dice.choice(workers)
            os.kill(chosen, signal.SIGKILL)
            killed.add(chosen)
    return killed


def find_needless(log: Log, killed: set[int]) -> str:
    """Whether something was asked again although its first answer had arrived."""
    batches: dict[int, list[tuple[str, ...]]] = {}
    for pid, batch in log:
        batches.setdefault(pid, []).append(batch)
    asked = Counter(request for _, batch in log for request in batch)
    lost = Counter(
        request
        for pid in killed
        for batch in batches.get(pid, [])[-_LAST_BATCHES:]
        for request in batch
    )
    needless = asked - Counter(dict.fromkeys(asked, 1)) - lost
    return f"{needless.total()} requests asked again for no reason" if needless else ""


def on(ray: LocalRay | None) -> list[str]:
    """The options of a run on two workers."""
    where = "ray" if ray is None else f"ray:{ray.address}"
    return ["--executor", where, "--workers", "2"]


def kill_drivers(bench: Bench, count: int) -> Iterator[Trial]:
    """Kill the driver while answers arrive, and run again; some of them with a cluster of their own."""
    with start_ray(bench.plugins) as ray:
        for number in range(count):
            own = number % 2 == 1
            place = bench.place(f"driver-{number}")
            arguments = [*bench.arguments(place), *on(None if own else ray)]
            process = bench.start(place, arguments)
            _wait_for_answers(bench, place, process)
            pid = process.pid if own else ray.pid
            below = list_descendants(process.pid)
            process.kill()
            process.wait()
            note = _resume(bench, place, arguments, _SLEEPING, pid, below)
            what = "kill −9, the driver of its own Ray" if own else "kill −9, the driver on Ray"
            yield Trial(what, bench.seed, "lost" if note else "same", note)


def kill_clusters(bench: Bench, count: int) -> Iterator[Trial]:
    """Kill every process of the cluster that a run has started, but not the run."""
    for number in range(count):
        place = bench.place(f"cluster-{number}")
        arguments = [*bench.arguments(place), *on(None)]
        process = bench.start(place, arguments)
        _wait_for_answers(bench, place, process)
        while not (below := list_descendants(process.pid)) and process.poll() is None:
            time.sleep(0.05)
        has_answers = count_answers(place) > 0
        for pid in below:
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)
        began = time.monotonic()
        ended = wait_for_end(process, _LONGEST)
        took = time.monotonic() - began
        is_end_by_ray = (
            not has_answers
            and ended.code == 1
            and any(words in ended.errors for words in _RAYS_ENDS)
        )
        note = "" if is_end_by_ray else ended.fault or ""
        if ended.code:
            note = note or _resume(bench, place, arguments, _SLEEPING, process.pid, below)
        note = note or describe_difference(bench.at_home(), read_files(place))
        # A cluster that was killed before it was ready is started again.
        outcome: Outcome = "lost" if note else "sentence" if ended.code else "same"
        said = ["Ray ended the run"] if is_end_by_ray else ended.sentences
        told = f"{len(below)} processes; ended after {took:.1f} s: {' '.join(said)}"
        what = "the whole Ray cluster" if has_answers else "a Ray cluster that starts"
        yield Trial(f"kill −9, {what}", bench.seed, outcome, note or told)


def _wait_for_answers(bench: Bench, place: Place, process: subprocess.Popen[str]) -> None:
    """Wait for some answers, or now and then only until the run has begun to start its workers."""
    if bench.dice.random() < _EARLY:
        time.sleep(bench.dice.uniform(1, 8))
        return
    wanted = bench.dice.randint(1, 5000)
    while process.poll() is None and count_answers(place) < wanted:
        time.sleep(0.05)
    if process.poll() is not None:
        sys.exit(f"The run ended before it was killed: {wait_for_end(process).errors}")


def _resume(
    bench: Bench,
    place: Place,
    arguments: list[str],
    model: tuple[str, list[str]],
    cluster: int,
    below: dict[int, str] | None = None,
) -> str:
    """Run again; what was lost, or asked although it was stored.

    No process ``below`` the first run and no worker of its ``cluster`` may live on.
    """
    below = below or {}
    end = time.monotonic() + _LINGERING
    while running := [pid for pid in {*below, *list_workers(cluster)} if is_alive(pid)]:
        if time.monotonic() > end:
            break
        time.sleep(0.1)
    stored, before = count_answers(place), len(bench.log(place))
    ended = bench.run(place, arguments)
    if running:
        return f"still running: {below.get(running[0], 'a worker')[:80]}"
    if ended.code or ended.fault:
        return ended.fault or ended.errors[-300:]
    if ended.cached != stored:
        return f"{stored} answers were stored, {ended.cached} taken from the cache"
    asked, missing = bench.log(place)[before:], count_answers(place) - stored
    count = sum(len(batch) for _, batch in asked)
    if model is _SLEEPING and count != missing:
        return f"{count} asked, {missing} were missing"
    return describe_difference(bench.at_home(model), read_files(place))


def keep(file: Path, trial: Trial) -> None:
    """Add a trial to a file, and write the rows of the page from all that are in it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as stream:
        stream.write(f"{json.dumps(asdict(trial), ensure_ascii=False)}\n")
    found: dict[str, list[Trial]] = {}
    for line in file.read_text("utf-8").splitlines():
        kept = Trial(**json.loads(line))
        found.setdefault(kept.what, []).append(kept)
    rows = {what: table.row(what, some) for what, some in sorted(found.items())}
    table.write(PAGE, table.rows_of(PAGE) | rows, PARTS)


def main() -> int:
    """The exit code: 1 if something was lost."""
    parser = argparse.ArgumentParser(prog="python -m torture.ray_kills", description=__doc__)
    parser.add_argument("--workers", type=int, default=30)
    parser.add_argument("--drivers", type=int, default=10)
    parser.add_argument("--clusters", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, metavar="FILE")
    asked = parser.parse_args()
    parts: list[tuple[Callable[[Bench, int], Iterator[Trial]], int]] = [
        (kill_workers, asked.workers),
        (kill_drivers, asked.drivers),
        (kill_clusters, asked.clusters),
    ]
    trials = []
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        work = Path(folder)
        bench = Bench(work, asked.seed, install(work / "plugins"))
        for part, count in parts:
            for trial in part(bench, count) if count else ():
                trials.append(trial)
                print(f"{trial.what}: {trial.outcome} {trial.note}", flush=True)
                if asked.keep is not None:
                    keep(asked.keep, trial)
    return 1 if any(trial.outcome == "lost" for trial in trials) else 0


if __name__ == "__main__":
    sys.exit(main())
