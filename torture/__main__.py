"""``python -m torture``: run every disturbance and count the outcomes in benchmarks/TORTURE.md."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # in this process, not in the runs: see torture.forked

from torture import (
    cache_file,
    hostile,
    hostile_attacks,
    hostile_table,
    hostile_variants,
    interruptions,
    kill,
    kill_shared,
    kinds,
    surroundings,
    table,
    weights,
)
from torture.forked import warm_up
from torture.kinds import KINDS, SHORT
from torture.place import Place
from torture.trial import Trial

PAGE = Path(__file__).parent.parent / "benchmarks" / "TORTURE.md"
KILLS = 25  # of each kind of model
SHARED_KILLS = 100
HOSTILE = "hostile"  # a part with a page of its own


@dataclass
class Bench:
    """A working folder, and the undisturbed runs that everything is compared with."""

    work: Path
    seed: int
    _whole: dict[str, Path] = field(default_factory=dict)

    def whole(self, name: str, arguments: list[str]) -> Path:
        """The run folder of the undisturbed run, which runs once."""
        if name not in self._whole:
            place = Place(self.work / f"whole-{name}", self.work / "pages")
            end = place.run(arguments)
            if end.code:
                sys.exit(f"The undisturbed run failed: {end.errors}")
            self._whole[name] = place.out
        return self._whole[name]

    @property
    def short(self) -> Path:
        """The run folder of the shortest run."""
        return self.whole("short", SHORT)


def kills(bench: Bench) -> Iterator[Trial]:
    """100 kills over the four kinds of model."""
    causal = kinds.make_causal(bench.work / "causal-lm")
    for name, arguments in (KINDS | kinds.causal(causal)).items():
        whole = bench.whole(name, arguments)
        yield from kill.kills(
            f"kill −9, {name}", arguments, count=KILLS, seed=bench.seed, work=bench.work / name,
            whole=whole,
        )  # fmt: skip


def shared_kills(bench: Bench) -> Iterator[Trial]:
    """100 kills among four processes on one cache, two of which ask the same."""
    runs = [
        (f"shared-{number}", arguments) for number, arguments in enumerate((SHORT, *kinds.SHORTER))
    ]
    whole = {name: bench.whole(name, arguments) for name, arguments in runs}
    yield from kill_shared.kills(
        [runs[0], *runs], count=SHARED_KILLS, seed=bench.seed, work=bench.work, whole=whole
    )


def stops(bench: Bench) -> Iterator[Trial]:
    """SIGTERM and SIGINT."""
    for number in (signal.SIGTERM, signal.SIGINT):
        yield from interruptions.signals(
            number, SHORT, count=10, seed=bench.seed, work=bench.work, whole=bench.short
        )


def pipes(bench: Bench) -> Iterator[Trial]:
    """Readers that close the pipe."""
    whole = bench.short
    yield from interruptions.closed_pipes(
        SHORT,
        seed=bench.seed,
        work=bench.work,
        whole=whole,
        lines=(0, 1),
        commands=interruptions.commands(whole),
    )


def damage(bench: Bench) -> Iterator[Trial]:
    """The cache truncated, and its bits flipped."""
    for what, how, count in (
        ("cache truncated", cache_file.truncate, 50),
        ("bit flipped in the cache", cache_file.flip_bit, 150),
        ("bit flipped in the cache's log", cache_file.flip_log_bit, 50),
    ):
        yield from cache_file.run_damaged(what, how, count=count, seed=bench.seed, work=bench.work)


def sharing(bench: Bench) -> Iterator[Trial]:
    """The cache locked, and used by two processes at once."""
    options = {"seed": bench.seed, "work": bench.work, "whole": bench.short}
    yield from cache_file.run_locked(SHORT, seconds=(10, 90), **options)  # type: ignore[arg-type]
    yield from cache_file.run_shared(SHORT, count=4, **options)  # type: ignore[arg-type]


def disk(bench: Bench) -> Iterator[Trial]:
    """A full disk under the cache, under results and report, and under rows written in portions."""
    name = "masked language model"
    few, many = KINDS[name], kinds.PORTIONS
    for what, part, arguments, sizes in (
        ("cache", "home", few, (4, 16, 40, 64, 72, 88, 120)),
        ("run folder", "run", few, (4, 40, 96, 400)),
        ("records of a run in portions", "run", many, (16, 400, 1600, 4000)),
    ):
        yield from surroundings.full_disk(
            what, part, arguments, sizes=sizes, seed=bench.seed, work=bench.work,
            whole=bench.whole(what, arguments),
        )  # fmt: skip


def clock(bench: Bench) -> Iterator[Trial]:
    """The clock set back."""
    yield from surroundings.clock_set_back(
        SHORT, count=5, seed=bench.seed, work=bench.work, whole=bench.short
    )


def memory(bench: Bench) -> Iterator[Trial]:
    """Too little memory, and too small an address space."""
    for name, sizes in (
        ("RLIMIT_DATA", (20, 40, 60, 90, 120, 180, 240, 320, 360, 400, 440, 500, 600)),
        ("RLIMIT_AS", (60, 120, 180, 240, 300, 900, *range(1060, 1600, 60), 2000)),
    ):
        yield from surroundings.little_memory(
            name, SHORT, sizes=sizes, seed=bench.seed, work=bench.work, whole=bench.short
        )


def replacing(bench: Bench) -> Iterator[Trial]:
    """Weights replaced."""
    yield from weights.run_replaced(SHORT[1:], count=12, seed=bench.seed, work=bench.work)


PARTS: dict[str, Callable[[Bench], Iterator[Trial]]] = {
    "kill": kills,
    "kill-shared": shared_kills,
    "stop": stops,
    "pipe": pipes,
    "damage": damage,
    "share": sharing,
    "disk": disk,
    "clock": clock,
    "memory": memory,
    "weights": replacing,
}


def try_hostile_files() -> int:
    """Try every attack, print the failures, and write their own page; returns the failures."""
    warm_up()
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        work = Path(folder)
        os.environ["GENDALENS_HOME"] = str(work / "home")
        found = []
        attacks = chain(
            hostile_attacks.attacks(work), hostile_variants.attacks(hostile_attacks.make_run(work))
        )
        for one in hostile.try_attacks(attacks, work):
            found.append(one)
            if one.outcome == "failed":
                print(f"{one.attack.kind} ({one.attack.name}): {one.note}", flush=True)
    hostile_table.write(hostile_table.PAGE, found, seconds=hostile.LONGEST, memory=hostile.MEMORY)
    return sum(one.outcome == "failed" for one in found)


def main() -> int:
    """Run the parts, print the losses, and write the page; rows of parts that did not run are kept."""
    reader = argparse.ArgumentParser(prog="torture", description=__doc__)
    reader.add_argument("--only", default=",".join((*PARTS, HOSTILE)), help="comma-separated parts")
    reader.add_argument("--seed", type=int, default=1)
    asked = reader.parse_args()
    parts, lost = asked.only.split(","), 0
    rows = table.rows_of(PAGE)
    if set(PARTS) <= set(parts):
        # A new page, because row names may have changed; the rows on Ray are those of torture.ray_kills.
        rows = {what: row for what, row in rows.items() if "Ray" in what}
    if HOSTILE in parts:
        lost += try_hostile_files()
        parts.remove(HOSTILE)
    for part in parts:
        with tempfile.TemporaryDirectory(prefix="torture-") as folder:
            found: dict[str, list[Trial]] = {}
            for trial in PARTS[part](Bench(Path(folder), asked.seed)):
                found.setdefault(trial.what, []).append(trial)
                lost += trial.outcome == "lost"
                print(f"{trial.what} (seed {trial.seed}): {trial.outcome} {trial.note}", flush=True)
        rows |= {what: table.row(what, trials) for what, trials in found.items()}
        table.write(PAGE, rows, PARTS)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
