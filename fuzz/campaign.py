"""Many inputs for one target, in a separate process, so that a crash or a hang is a mere failure."""

from __future__ import annotations

import mmap
import os
import resource
import shutil
import signal
import struct
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from fuzz.target import Target
from fuzz.watch import Outcome, run_input

MEMORY = 16 * 1024**3
SHOWN = 5  # failures kept per kind
# In memory: the readers are tested, not the disk.
SCRATCH = Path("/dev/shm")
NUMBERS = struct.Struct(
    "5q"
)  # next input, accepted, refused, failed, whether an input is under way


@dataclass(frozen=True, slots=True)
class Counts:
    """The outcomes of a target's inputs."""

    target: str
    meaning: str
    accepted: int
    refused: int
    failed: int
    seconds: float

    @property
    def inputs(self) -> int:
        """The total number of inputs."""
        return self.accepted + self.refused + self.failed

    def __str__(self) -> str:
        return (
            f"{self.target}: {self.inputs:,} inputs, {self.accepted:,} accepted, "
            f"{self.refused:,} refused, {self.failed:,} failed, {self.seconds:,.0f} s"
        )


def run(kind: type[Target], inputs: int, *, seed: int, kept: Path) -> Counts:
    """Run inputs 0, 1, 2, …; those that fail are kept in a folder."""
    began = time.monotonic()
    state = mmap.mmap(-1, NUMBERS.size)
    with _make_scratch() as folder:
        while NUMBERS.unpack(state[:])[0] < inputs:
            here = Path(tempfile.mkdtemp(dir=folder))
            process = os.fork()
            if process == 0:
                _run_inputs(kind, here, inputs, seed, kept, state)
            _wait_for(process, state, kind.limit)
            at, accepted, refused, failed, busy = NUMBERS.unpack(state[:])
            if busy:  # it died on this input; the next process keeps the input and skips it
                state[:] = NUMBERS.pack(at, accepted, refused, failed + 1, 2)
            elif at < inputs:
                raise RuntimeError(f"{kind.name} ended early, not over an input: see above")
            shutil.rmtree(here, ignore_errors=True)
    _, accepted, refused, failed, _ = NUMBERS.unpack(state[:])
    meaning = (kind.__doc__ or "").strip().splitlines()[0].removeprefix("Accepted: ")
    return Counts(kind.name, meaning, accepted, refused, failed, time.monotonic() - began)


def make_dice(kind: type[Target], seed: int, number: int) -> Random:
    """The random generator of one input."""
    return Random(f"{seed} {kind.name} {number}")


def _run_inputs(
    kind: type[Target], here: Path, inputs: int, seed: int, kept: Path, state: mmap.mmap
) -> None:
    """Run inputs in the child process; never returns."""
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.environ["GENDALENS_HOME"] = str(here / "gendalens-home")
        target = kind(here)
        seen: Counter[str] = Counter()
        start, accepted, refused, failed, busy = NUMBERS.unpack(state[:])
        for number in range(start, inputs):
            given = target.draw_input(make_dice(kind, seed, number))
            if busy == 2:
                _save_failure(
                    kept / kind.name / str(number), given.base, given.file, given.content, "died"
                )
                busy = 0
                state[:] = NUMBERS.pack(number + 1, accepted, refused, failed, 0)
                continue
            state[:] = NUMBERS.pack(number, accepted, refused, failed, 1)
            outcome, why = run_input(target, given)
            accepted += outcome is Outcome.ACCEPTED
            refused += outcome is Outcome.REFUSED
            if outcome is Outcome.FAILED:
                failed += 1
                short = why.partition(": ")[0]
                seen[short] += 1
                if seen[short] <= SHOWN:
                    place = kept / kind.name / str(number)
                    _save_failure(place, given.base, given.file, given.content, why)
            state[:] = NUMBERS.pack(number + 1, accepted, refused, failed, 0)
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def _save_failure(place: Path, base: str, file: str, content: bytes, why: str) -> None:
    path = place / base / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    (place / "why.txt").write_text(why + "\n", encoding="utf-8", errors="backslashreplace")


def _wait_for(process: int, state: mmap.mmap, limit: float) -> None:
    """Wait until the process ends; kill it if it is stuck and no longer handles signals."""
    last, since = -1, time.monotonic()
    while os.waitpid(process, os.WNOHANG)[0] == 0:
        time.sleep(0.05)
        at, *_, busy = NUMBERS.unpack(state[:])
        if at != last or not busy:
            last, since = at, time.monotonic()
        elif time.monotonic() - since > 3 * limit + 10:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return


@contextmanager
def _make_scratch() -> Iterator[Path]:
    where = SCRATCH if SCRATCH.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="gendalens-fuzz-", dir=where) as made:
        yield Path(made)
