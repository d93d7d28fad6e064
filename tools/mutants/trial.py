"""A mutant on trial: the tests that reach it run on a copy of the package until one fails."""

from __future__ import annotations

import importlib
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tools.mutants.operators import Mutant

ROOT = Path(__file__).parents[2]
# Imported once, before processes are forked off: most of the time that a short test takes.
_HEAVY = (
    "numpy",
    "pandas",
    "scipy.stats",
    "torch",
    "transformers",
    "altair",
    "spacy",
    "rich",
    "typer",
)
# A process that waits uses no processor: it is ended after so many times the limit.
_PATIENCE = 4
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S.*?)(?: - |$)", re.MULTILINE)


class Verdict(NamedTuple):
    """How a trial ended: the test that noticed the mutant, or that none did.

    ``outcome`` is "killed", "timeout" (the tests did not end), "survived", "equivalent" (not tried),
    "untried" (the run ended before) or "failed" (the tests do not pass on the package as it is).
    """

    outcome: str
    test: str
    seconds: float


EQUIVALENT = Verdict("equivalent", "", 0.0)


def warm_up() -> None:
    """Import the libraries that every trial needs."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for name in _HEAVY:
        with suppress(ImportError):
            importlib.import_module(name)


@contextmanager
def copy_package() -> Iterator[Path]:
    """A copy of ``src`` that mutants are written into."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder) / "src"
        shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
        yield copy


class Court:
    """Tries one mutant after the other on a copy of the package."""

    def __init__(self, copy: Path) -> None:
        self._copy = copy
        self._clock = int(time.time())
        self._passing: set[str] = set()

    def judge(self, mutant: Mutant, tests: Sequence[str], limit: float) -> Verdict:
        """The verdict on a mutant; ``limit`` is the time that its tests may take."""
        path = self._copy / "gendalens" / mutant.file
        source = path.read_bytes()
        began = time.monotonic()
        try:
            self._write(path, mutant.apply(source))
            code, said = self._run(tests, limit)
        finally:
            self._write(path, source)
        seconds = time.monotonic() - began
        if code is None:
            return Verdict("timeout", "", seconds)
        if code == 0:
            return Verdict("survived", "", seconds)
        named = _FAILED.search(said)
        return Verdict("killed", named[1] if named else "collection", seconds)

    def find_failing(self, tests: Sequence[str]) -> str | None:
        """What fails on the package as it is: a test, "collection", or nothing (None)."""
        if self._passing.issuperset(tests):
            return None
        code, said = self._run(tests, 600)
        if code != 0:
            named = _FAILED.search(said)
            return named[1] if named else "collection"
        self._passing.update(tests)
        return None

    def _write(self, path: Path, source: bytes) -> None:
        path.write_bytes(source)
        # Compiled files are recognised by the source's time, in whole seconds.
        self._clock += 2
        os.utime(path, (self._clock, self._clock))

    def _run(self, tests: Sequence[str], limit: float) -> tuple[int | None, str]:
        with tempfile.TemporaryFile() as output:
            child = os.fork()
            if child == 0:
                _limit_time(limit)
                _run_tests(self._copy, tests, output.fileno())
            code = _wait(child, _PATIENCE * limit)
            output.seek(0)
            return code, output.read().decode(errors="replace")


def _limit_time(seconds: float) -> None:
    """End this process when it has used so much of a processor: a clock depends on what else runs."""
    whole = int(seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 5))


def _run_tests(copy: Path, tests: Sequence[str], output: int) -> None:
    """Run the tests in this process, and end it."""
    code = 3
    try:
        os.setsid()
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(copy))
        os.environ |= {"PYTHONPATH": str(copy), "HYPOTHESIS_PROFILE": "ci"}
        os.chdir(ROOT)
        import pytest

        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "-rfE"]
        # Plug-ins of pytest that came with the libraries are imported already.
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        options += [f"--basetemp={copy.parent / 'tests'}"]
        code = int(pytest.main([*options, "--tb=no", *tests]))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _wait(child: int, limit: float) -> int | None:
    """The exit code of a child; None if it had to be stopped."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            code = os.waitstatus_to_exitcode(status)
            return None if code in (-signal.SIGXCPU, -signal.SIGKILL) else code
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None
