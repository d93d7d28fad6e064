"""SIGKILL on a Ray cluster: of workers, of the driver, and of the whole cluster.

    python -m torture.ray_kills [--workers 30] [--drivers 10] [--clusters 5] [--seed 1]

Needs the extra ``ray``. Every run must end with the bytes of a run without Ray, no stored answer may be
asked again, and nothing may be left running. Exit code 1 means that something was lost.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from torture.kill import count_answers
from torture.local_ray import LocalRay, start_ray
from torture.place import Ended, Place, wait_for_end
from torture.processes import is_alive, list_descendants, list_workers
from torture.sleeping_model import install

_LONGEST = 400  # seconds that a run may take
_MODEL = "sleep:ms=60"
_ASKED = ["--tasks", "lm-abc", "--data", "builtin", "--offline", "--batch-tokens", "256"]
_REAL = ["demo-lm", "--tasks", "lm-abc,lm-dawinobias", "--data", "builtin", "--offline"]
_REAL += ["--sample", "60", "--batch-tokens", "256"]
_KILLS_A_RUN = 6


@dataclass
class Bench:
    """A working folder, and what all trials share."""

    work: Path
    dice: random.Random
    plugins: Path

    def place(self, name: str) -> Place:
        """A new place."""
        return Place(self.work / name, self.work / "pages")

    def environment(self) -> dict[str, str]:
        """What makes the sleeping model known."""
        return {
            "PYTHONPATH": os.pathsep.join((str(self.plugins), str(Path.cwd()))),
            "GENDALENS_PLUGINS": "on",
            "OMP_NUM_THREADS": "1",
        }

    def start(self, place: Place, arguments: list[str]) -> subprocess.Popen[str]:
        """Start a run."""
        return place.start(arguments, self.environment())

    def run(self, place: Place, arguments: list[str]) -> Ended:
        """Run to the end."""
        return wait_for_end(self.start(place, arguments), _LONGEST)

    def sleeping(self, place: Place) -> list[str]:
        """The arguments that run the sleeping model, which notes what it is asked."""
        return [f"{_MODEL}&log={place.folder / 'asked'}", *_ASKED]

    def log(self, place: Place) -> Counter[str]:
        """How often each request was asked."""
        file = place.folder / "asked"
        return Counter(file.read_text("utf-8").splitlines() if file.is_file() else ())


def files(place: Place) -> dict[str, bytes]:
    """The results and records of a run, with the name of the log taken out."""
    found = {}
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


def kill_workers(bench: Bench, count: int) -> Iterator[tuple[str, int, str]]:
    """Kill workers at random moments of their life, loading included, several in a run."""
    at_home = {}
    for name, arguments in (("sleeping", None), ("real", _REAL)):
        place = bench.place(f"home-{name}")
        bench.run(place, arguments or bench.sleeping(place))
        at_home[name] = files(place)
    with start_ray(bench.plugins) as ray:
        left, number = count, 0
        while left > 0:
            name = "real" if number % 3 == 2 else "sleeping"
            place = bench.place(f"workers-{number}")
            arguments = _REAL if name == "real" else bench.sleeping(place)
            process = bench.start(place, [*arguments, *on(ray)])
            killed = _kill_some(bench, ray, process, min(left, _KILLS_A_RUN))
            ended = wait_for_end(process, _LONGEST)
            note = ended.fault or (ended.errors if ended.code else "")
            note = note or describe_difference(at_home[name], files(place))
            again = bench.log(place)
            twice = sum(times - 1 for times in again.values())
            # Only what two workers had before them can have been asked for nothing.
            if not note and name == "sleeping" and twice > killed * 2 * max(40, 1):
                note = f"{twice} requests asked again after {killed} kills"
            yield f"worker of the {name} model", killed, note
            left, number = left - max(killed, 1), number + 1


def _kill_some(bench: Bench, ray: LocalRay, process: subprocess.Popen[str], several: int) -> int:
    killed = 0
    while killed < several and process.poll() is None:
        time.sleep(bench.dice.uniform(0.2, 2.5))
        if workers := list_workers(ray.pid):
            os.kill(bench.dice.choice(workers), signal.SIGKILL)
            killed += 1
    return killed


def on(ray: LocalRay | None) -> list[str]:
    """The options of a run on two workers."""
    where = "ray" if ray is None else f"ray:{ray.address}"
    return ["--executor", where, "--workers", "2"]


def kill_drivers(bench: Bench, count: int) -> Iterator[tuple[str, int, str]]:
    """Kill the driver while answers arrive, and run again; half of them with a cluster of their own."""
    home = bench.place("home-driver")
    bench.run(home, bench.sleeping(home))
    whole = files(home)
    with start_ray(bench.plugins) as ray:
        for number in range(count):
            own = number % 5 == 4
            place = bench.place(f"driver-{number}")
            arguments = [*bench.sleeping(place), *on(None if own else ray)]
            process = bench.start(place, arguments)
            _wait_for_answers(bench, place, process)
            below = list_descendants(process.pid)
            process.kill()
            process.wait()
            yield "driver", 1, _resume(bench, place, arguments, whole, below)


def kill_clusters(bench: Bench, count: int) -> Iterator[tuple[str, int, str]]:
    """Kill every process of the cluster that a run has started, but not the run."""
    home = bench.place("home-cluster")
    bench.run(home, bench.sleeping(home))
    whole = files(home)
    for number in range(count):
        place = bench.place(f"cluster-{number}")
        arguments = [*bench.sleeping(place), *on(None)]
        process = bench.start(place, arguments)
        _wait_for_answers(bench, place, process)
        below = list_descendants(process.pid)
        for pid in below:
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)
        began = time.monotonic()
        ended = wait_for_end(process, _LONGEST)
        took = time.monotonic() - began
        note = ended.fault or ""
        if ended.code != 2:
            note = note or f"exit code {ended.code}: {ended.errors[-300:]}"
        print(f"  ended after {took:.1f} s: {ended.sentences}", flush=True)
        yield "whole cluster", 1, note or _resume(bench, place, arguments, whole, below)


def _wait_for_answers(bench: Bench, place: Place, process: subprocess.Popen[str]) -> None:
    wanted = bench.dice.randint(1, 1200)
    while process.poll() is None and count_answers(place) < wanted:
        time.sleep(0.05)


def _resume(
    bench: Bench, place: Place, arguments: list[str], whole: dict[str, bytes], below: dict[int, str]
) -> str:
    """Run again; what was lost, or asked although it was stored."""
    for _ in range(200):
        if not any(map(is_alive, below)):
            break
        time.sleep(0.1)
    running = [command for pid, command in below.items() if is_alive(pid)]
    stored, before = count_answers(place), bench.log(place)
    ended = bench.run(place, arguments)
    if running:
        return f"still running: {running[0][:80]}"
    if ended.code or ended.fault:
        return ended.fault or ended.errors[-300:]
    if ended.cached != stored:
        return f"{stored} answers were stored, {ended.cached} taken from the cache"
    asked = bench.log(place) - before
    if asked.total() != count_answers(place) - stored:
        return f"{asked.total()} asked, {count_answers(place) - stored} were missing"
    return describe_difference(whole, files(place))


def main() -> int:
    """The exit code: 1 if something was lost."""
    parser = argparse.ArgumentParser(prog="python -m torture.ray_kills", description=__doc__)
    parser.add_argument("--workers", type=int, default=30)
    parser.add_argument("--drivers", type=int, default=10)
    parser.add_argument("--clusters", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    lost = 0
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        work = Path(folder)
        bench = Bench(work, random.Random(asked.seed), install(work / "plugins"))
        for part, count in (
            (kill_workers, asked.workers),
            (kill_drivers, asked.drivers),
            (kill_clusters, asked.clusters),
        ):
            for what, kills, note in part(bench, count) if count else ():
                counts[what] += kills
                lost += bool(note)
                print(f"{what}: {kills} killed, {note or 'same bytes'}", flush=True)
    print(f"{dict(counts)}, {lost} runs lost something")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
