"""What the machine does to a run: a full disk, a clock set back, too little memory."""

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

from torture.place import Ended, Place, ended
from torture.trial import Trial, judged

KIB = 1024
#: Where Debian's package faketime has its library.
FAKETIME = "/usr/lib/*/faketime/libfaketime.so.1"


def may_mount() -> bool:
    """Whether small disks can be made here: root in a container may not be allowed to."""
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
    """A disk of so many KiB at this folder; needs root."""
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def grow(folder: Path) -> None:
    """Make room on a small disk, as its user would."""
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
    """The disk under ``home`` (the cache) or ``run`` (results and report) is so many KiB small."""
    what = f"disk full ({what})"
    if not may_mount():
        yield Trial(what, seed, "skipped", "mounting a small disk needs root")
        return
    for size in sizes:
        folder = work / f"{what}-{size}"
        with small_disk(folder / part, size):
            place = Place(folder, work / "pages")
            end = place.run(arguments)
            grow(folder / part)
            yield judged(what, seed, end, place, arguments, whole)


def clock_set_back(
    arguments: Sequence[str], *, count: int, seed: int, work: Path, whole: Path
) -> Iterator[Trial]:
    """The clock falls back by up to years at a random moment of a run."""
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
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",  # nobody can set that one back
        }
        process = place.start(arguments, env)
        time.sleep(dice.uniform(0.5, 6))
        clock.write_text(f"-{dice.randint(1, 9000)}d\n")
        yield judged(what, seed, ended(process), place, arguments, whole)


#: How far numbers may move where a batch was halved for want of memory: the rounding of single precision,
#: 3e-7 of a perplexity, in differences of perplexities of hundreds.
SMALLER_BATCHES = 1e-3
#: By the limit's name, what it bounds.
LIMITS = {"RLIMIT_DATA": "memory", "RLIMIT_AS": "address space"}


def little_memory(
    name: str, arguments: Sequence[str], *, sizes: Sequence[int], seed: int, work: Path, whole: Path
) -> Iterator[Trial]:
    """The process may have so many MiB of memory of its own, or of addresses (``ulimit -d``, ``-v``).

    As many threads as a user has: they are what finds no room. The chart library is made anew.
    """
    what = f"{LIMITS[name]} limited to {min(sizes)}–{max(sizes):,} MiB"
    env = {"OMP_NUM_THREADS": str(os.cpu_count() or 1)}
    for size in sizes:
        folder = work / f"{name}-{size}"
        place = Place(folder, folder / "pages")
        limit = partial(resource.setrlimit, getattr(resource, name), (size * KIB**2,) * 2)
        process = place.start(arguments, env, preexec_fn=limit)
        try:
            end = ended(process, timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            end = Ended(1, "", f"with {size} MiB the process hangs")
        yield judged(what, seed, end, place, arguments, whole, tolerance=SMALLER_BATCHES)
        shutil.rmtree(place.folder)
