"""SIGTERM and SIGINT at random points, and readers that close the pipe."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from torture.place import Ended, Place, wait_for_end
from torture.sameness import runs_differ
from torture.trial import Trial, judge

# Earlier, Python itself is still starting, and our code cannot react.
STARTED = 0.3


def signals(
    number: signal.Signals,
    arguments: Sequence[str],
    *,
    count: int,
    seed: int,
    work: Path,
    whole: Path,
) -> Iterator[Trial]:
    """Runs that are each sent the signal once."""
    dice = random.Random(seed + number)
    began = time.monotonic()
    Place(work / f"{number.name}-undisturbed", work / "pages").run(arguments)
    longest = time.monotonic() - began
    for trial in range(count):
        place = Place(work / f"{number.name}-{seed}-{trial}", work / "pages")
        process = place.fork(arguments)
        time.sleep(STARTED + dice.uniform(0, longest))
        if process.poll() is None:
            os.kill(process.pid, number)
        yield judge(number.name, seed, wait_for_end(process), place, arguments, whole)


def commands(whole: Path) -> tuple[list[str], ...]:
    """Other commands with much output, and their input."""
    return (
        ["show", str(whole), "--json"],
        ["show", str(whole)],
        ["gate", str(whole), "--max-effect", "99"],
        ["requests", "lm-abc", "--data", "builtin", "-o", "-"],
        ["requests", "lm-abc", "--data", "builtin", "-o", "/dev/stdout"],
    )


def closed_pipes(
    arguments: Sequence[str],
    *,
    seed: int,
    work: Path,
    whole: Path,
    lines: Sequence[int],
    commands: Sequence[list[str]],
) -> Iterator[Trial]:
    """Runs whose reader closes standard output, or both streams, after some lines."""
    for count in lines:
        for both in (False, True):
            place = Place(work / f"pipe-{count}-{both}", work / "pages")
            errors = subprocess.STDOUT if both else subprocess.PIPE
            end = _cut(place.start(arguments, stderr=errors), count)
            note = end.fault or (f"exit code {end.code}" if end.code not in (0, 141) else None)
            note = note or runs_differ(whole, place.out)
            note = note or (None if (place.out / "report.html").exists() else "no report")
            what = "reader closes the pipe of a run"
            yield Trial(what, seed, "lost" if note else "same", note or "")
    place = Place(work / "pipe-others", work / "pages")
    for command in commands:
        end = _cut(place.command(command), 0)
        note = end.fault or (None if end.code in (2, 141) else f"exit code {end.code}")
        what = "reader closes the pipe of show, gate, requests"
        yield Trial(what, seed, "lost" if note else "sentence", note or f"exit code {end.code}")


def _cut(process: subprocess.Popen[str], lines: int) -> Ended:
    assert process.stdout is not None
    for _ in range(lines):
        process.stdout.readline()
    process.stdout.close()
    errors = ""
    if process.stderr:
        with process.stderr:
            errors = process.stderr.read()
    return Ended(process.wait(timeout=240), "", errors)
