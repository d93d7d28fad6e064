"""Disturbances by the machine: a full disk, a clock set back, too little memory."""

from __future__ import annotations

import os
import random
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from torture.place import Ended, Place, wait_for_end
from torture.trial import Trial, judge

KIB = 1024
#: Where Debian's package faketime has its library.
FAKETIME = "/usr/lib/*/faketime/libfaketime.so.1"


def may_mount() -> bool:
    """Whether small disks can be mounted; even root in a container may not be allowed to."""
    if os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", folder]
        if subprocess.run(mount, capture_output=True).returncode:
            return False
        subprocess.run(["umount", folder], check=True)
    return True


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[None]:
    """Mount a disk of ``size`` KiB at this folder; needs root."""
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def make_room(folder: Path) -> None:
    """Make room on a small disk, as a user would."""
    subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)


def full_disk(
    what: str,
    part: str,
    arguments: Sequence[str],
    *,
    sizes: Sequence[int],
    seed: int,
    work: Path,
    whole: Path,
) -> Iterator[Trial]:
    """Runs on a disk of few KiB under ``home`` (the cache) or ``run`` (results and report)."""
    what = f"disk full ({what})"
    if not may_mount():
        yield Trial(what, seed, "skipped", "mounting a small disk needs root")
        return
    for size in sizes:
        folder = work / f"{what}-{size}"
        with small_disk(folder / part, size):
            place = Place(folder, work / "pages")
            end = place.run(arguments)
            make_room(folder / part)
            yield judge(what, seed, end, place, arguments, whole)


def clock_set_back(
    arguments: Sequence[str], *, count: int, seed: int, work: Path, whole: Path
) -> Iterator[Trial]:
    """Runs whose clock is set back by up to years at a random moment."""
    what = "clock set back during a run"
    library = next(iter(sorted(Path("/").glob(FAKETIME[1:]))), None)
    if library is None:
        yield Trial(what, seed, "skipped", "libfaketime is not installed")
        return
    dice = random.Random(seed)
    for trial in range(count):
        place = Place(work / f"clock-{trial}", work / "pages")
        clock = place.folder / "clock"
        clock.write_text("+0\n")
        env = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(clock),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",  # the monotonic clock never goes back
        }
        process = place.start(arguments, env)
        time.sleep(dice.uniform(0.5, 6))
        clock.write_text(f"-{dice.randint(1, 9000)}d\n")
        yield judge(what, seed, wait_for_end(process), place, arguments, whole)


#: The tolerance for numbers after a batch was halved for lack of memory: single-precision rounding,
#: 3e-7 of a perplexity, in differences of perplexities in the hundreds.
SMALLER_BATCHES = 1e-3
#: What each limit bounds.
LIMITS = {"RLIMIT_DATA": "memory", "RLIMIT_AS": "address space"}


def little_memory(
    name: str, arguments: Sequence[str], *, sizes: Sequence[int], seed: int, work: Path, whole: Path
) -> Iterator[Trial]:
    """Runs with a limit in MiB on memory or on address space (``ulimit -d``, ``-v``).

    With as many threads as a user has, because it is they that need the room. The chart library is
    rebuilt.
    """
    what = f"{LIMITS[name]} limited to {min(sizes)}–{max(sizes):,} MiB"
    env = {"OMP_NUM_THREADS": str(os.cpu_count() or 1)}
    for size in sizes:
        folder = work / f"{name}-{size}"
        place = Place(folder, folder / "pages")
        limit = partial(resource.setrlimit, getattr(resource, name), (size * KIB**2,) * 2)
        process = place.start(arguments, env, preexec_fn=limit)
        try:
            end = wait_for_end(process, timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            end = Ended(1, "", f"with {size} MiB the process hangs")
        yield judge(what, seed, end, place, arguments, whole, tolerance=SMALLER_BATCHES)
        shutil.rmtree(place.folder)
