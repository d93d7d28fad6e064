"""The folders of one disturbed run, and the command line run in them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torture.forked import THREADS, Forked

ENDS = (2, 141, -signal.SIGTERM, -signal.SIGINT, -signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a process: its exit code (negative for a signal) and its output."""

    code: int
    out: str
    errors: str

    @property
    def sentences(self) -> list[str]:
        """The errors that the command line reported."""
        return [line for line in self.errors.splitlines() if line.startswith("gendalens: ")]

    @property
    def cached(self) -> int:
        """How many answers came from the cache."""
        words = self.errors.replace(",", "").split()
        return sum(
            int(words[i - 1]) for i in range(1, len(words) - 1) if words[i : i + 2] == FROM_CACHE
        )

    @property
    def fault(self) -> str | None:
        """What is wrong with this end; None if it is acceptable."""
        if "Traceback" in self.errors:
            return "a traceback: " + self.errors.strip().splitlines()[-1]
        if self.code == 0:
            return None
        if self.code not in ENDS:
            return f"exit code {self.code}: {self.errors.strip()[-200:]}"
        # One error for each thing that failed (two results, a report), and none twice.
        if self.code == 2 and not 0 < len(set(self.sentences)) == len(self.sentences):
            return f"exit code 2 with {len(self.sentences)} sentences: {self.errors[-300:]}"
        return None


FROM_CACHE = ["from", "the"]


@dataclass(frozen=True, slots=True)
class Place:
    """A folder with its own home (including the cache) and run folder."""

    folder: Path
    pages: Path  # the chart library, which takes seconds to build and is not under test

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.pages.mkdir(parents=True, exist_ok=True)
        if not (self.home / "pages").exists():
            (self.home / "pages").symlink_to(self.pages, target_is_directory=True)

    @property
    def home(self) -> Path:
        """The folder that GENDALENS_HOME is set to."""
        return self.folder / "home"

    @property
    def cache(self) -> Path:
        """The cache of answers."""
        return self.home / "cache.sqlite"

    @property
    def out(self) -> Path:
        """The run folder."""
        return self.folder / "run"

    def start(
        self, arguments: Sequence[str], env: Mapping[str, str] | None = None, **options: Any
    ) -> subprocess.Popen[str]:
        """Start ``gendalens run`` with these arguments; its streams are pipes by default."""
        return self.command(["run", *arguments, "--out", str(self.out)], env, **options)

    def command(
        self, arguments: Sequence[str], env: Mapping[str, str] | None = None, **options: Any
    ) -> subprocess.Popen[str]:
        """Start any ``gendalens`` command."""
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        here = {"GENDALENS_HOME": str(self.home), "OMP_NUM_THREADS": str(THREADS)}
        return subprocess.Popen(
            [sys.executable, "-m", "gendalens", *arguments],
            env=os.environ | here | dict(env or {}),
            text=True,
            encoding="utf-8",
            **streams,
        )

    def fork(self, arguments: Sequence[str]) -> Forked:
        """Start ``gendalens run`` in a fork, where slow imports are already done."""
        return Forked(["run", *arguments, "--out", str(self.out)], self.home, self.folder)

    def run(self, arguments: Sequence[str]) -> Ended:
        """Run ``gendalens run`` in a fork to its end."""
        return wait_for_end(self.fork(arguments))


def wait_for_end(process: subprocess.Popen[str] | Forked, timeout: float = 240) -> Ended:
    """Wait for a process."""
    if isinstance(process, Forked):
        code = process.wait(timeout)
        return Ended(code, process.out.read_text("utf-8"), process.errors.read_text("utf-8"))
    out, errors = process.communicate(timeout=timeout)
    return Ended(process.returncode, out or "", errors or "")
