"""Where one disturbed run lives, and the command line at work there."""

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
    """How a process ended: its code (negative for a signal) and what it wrote."""

    code: int
    out: str
    errors: str

    @property
    def sentences(self) -> list[str]:
        """What the command line says went wrong."""
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
        """What is wrong with this end, if it is no good one."""
        if "Traceback" in self.errors:
            return "a traceback: " + self.errors.strip().splitlines()[-1]
        if self.code == 0:
            return None
        if self.code not in ENDS:
            return f"exit code {self.code}: {self.errors.strip()[-200:]}"
        # One for each thing that could not be done (two results, a report), and none twice.
        if self.code == 2 and not 0 < len(set(self.sentences)) == len(self.sentences):
            return f"exit code 2 with {len(self.sentences)} sentences: {self.errors[-300:]}"
        return None


FROM_CACHE = ["from", "the"]


@dataclass(frozen=True, slots=True)
class Place:
    """A folder with a home (and its cache) and a run folder of its own."""

    folder: Path
    pages: Path  # the charts' library, which takes seconds to make and is no part of any trial

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.pages.mkdir(parents=True, exist_ok=True)
        if not (self.home / "pages").exists():
            (self.home / "pages").symlink_to(self.pages, target_is_directory=True)

    @property
    def home(self) -> Path:
        """What GENDALENS_HOME is set to."""
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
        """``gendalens run`` with these arguments, here; its streams are pipes unless told otherwise."""
        return self.command(["run", *arguments, "--out", str(self.out)], env, **options)

    def command(
        self, arguments: Sequence[str], env: Mapping[str, str] | None = None, **options: Any
    ) -> subprocess.Popen[str]:
        """Any command of ``gendalens``, here."""
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
        """``gendalens run`` here, with what takes long to import imported already."""
        return Forked(["run", *arguments, "--out", str(self.out)], self.home, self.folder)

    def run(self, arguments: Sequence[str]) -> Ended:
        """The same to its end."""
        return ended(self.fork(arguments))


def ended(process: subprocess.Popen[str] | Forked, timeout: float = 240) -> Ended:
    """Wait for a process."""
    if isinstance(process, Forked):
        code = process.wait(timeout)
        return Ended(code, process.out.read_text("utf-8"), process.errors.read_text("utf-8"))
    out, errors = process.communicate(timeout=timeout)
    return Ended(process.returncode, out or "", errors or "")
