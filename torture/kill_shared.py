"""SIGKILL while four processes use one cache: no stored answer is lost, and every result is the same."""

from __future__ import annotations

import random
import signal
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from torture.forked import Forked
from torture.place import Place, wait_for_end
from torture.sameness import runs_differ
from torture.trial import Trial

WHAT = "kill −9, one of four processes on one cache"
KILLS_A_ROUND = 12


def kills(
    runs: Sequence[tuple[str, Sequence[str]]],
    *,
    count: int,
    seed: int,
    work: Path,
    whole: Mapping[str, Path],
) -> Iterator[Trial]:
    """``count`` kills, each of a live process; ``whole`` has the undisturbed run of each name."""
    dice = random.Random(seed)
    left, number = count, 0
    while left:
        places = share_home(work / f"round-{number}", work / "pages", len(runs))
        arguments = [asked for _, asked in runs]
        killed, note, processes = _kill_some(places, arguments, min(left, KILLS_A_ROUND), dice)
        for (name, _), place, process in zip(runs, places, processes, strict=True):
            end = wait_for_end(process)
            fault = end.fault or (end.errors if end.code else None)
            note = note or fault or runs_differ(whole[name], place.out)
        for _ in range(killed):
            yield Trial(WHAT, seed, "lost" if note else "same", note or "")
        left, number = left - killed, number + 1


def share_home(folder: Path, pages: Path, count: int) -> list[Place]:
    """Places with run folders of their own, and one home."""
    first = Place(folder / "0", pages)
    places = [first]
    for number in range(1, count):
        (folder / f"{number}").mkdir()
        (folder / f"{number}" / "home").symlink_to(first.home, target_is_directory=True)
        places.append(Place(folder / f"{number}", pages))
    return places


def _kill_some(
    places: Sequence[Place], arguments: Sequence[Sequence[str]], several: int, dice: random.Random
) -> tuple[int, str | None, list[Forked]]:
    """Start a process in each place, and kill and restart one of them repeatedly.

    Returns the kills that hit a live process, what was lost, and the processes that run at the end.
    """
    processes = [place.fork(asked) for place, asked in zip(places, arguments, strict=True)]
    stored: frozenset[bytes] = frozenset()
    killed = 0
    while killed < several:
        if dice.random() < 0.75:  # most kills fall while answers come in
            _wait_for_answers(places[0], len(stored) + dice.randint(1, 12), processes)
        time.sleep(dice.uniform(0, 0.3))
        live = [number for number, process in enumerate(processes) if process.poll() is None]
        if not live:
            break
        at = dice.choice(live)
        processes[at].kill()
        if processes[at].wait() != -signal.SIGKILL:  # it ended just before the kill
            continue
        killed += 1
        now = list_keys(places[0])
        if lost := stored - now:
            return killed, f"{len(lost)} of {len(stored)} answers lost after a kill", processes
        stored = now
        processes[at] = places[at].fork(arguments[at])
    return killed, None, processes


def _wait_for_answers(place: Place, count: int, processes: Sequence[Forked]) -> None:
    end = time.monotonic() + 10
    while len(list_keys(place)) < count and time.monotonic() < end:
        if all(process.poll() is not None for process in processes):
            return
        time.sleep(0.02)


def list_keys(place: Place) -> frozenset[bytes]:
    """The keys of all stored answers."""
    if not place.cache.exists():
        return frozenset()
    with closing(sqlite3.connect(place.cache, timeout=30)) as db:
        try:
            return frozenset(key for (key,) in db.execute("SELECT key FROM answers"))
        except sqlite3.OperationalError:  # no table yet
            return frozenset()
