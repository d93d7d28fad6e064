"""The command line in a forked process, which has torch imported already.

Importing takes seconds in which nothing can be lost; the kills should hit the actual work.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

#: The threads of a disturbed run; with two, batches are answered in parallel, as on a user's machine.
THREADS = 2


@cache
def warm_up() -> None:
    """Import what a run imports, so that no child needs to.

    Uses one thread (set by ``python -m torture``): a child would wait for others, which a fork does not
    copy.
    """
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import altair  # noqa: F401
    import vl_convert  # noqa: F401

    import gendalens
    import gendalens.cli.run
    import gendalens.report.html.run_page

    few: dict[str, Any] = {"data": "builtin", "sample": 2, "cache": False}
    gendalens.run("demo-lm", **few)
    gendalens.run("demo-ner", repeats=1, **few)


class Forked:
    """A running command; its two output streams go to files in ``folder``."""

    def __init__(self, arguments: Sequence[str], home: Path, folder: Path) -> None:
        warm_up()
        self.out, self.errors = folder / "stdout", folder / "stderr"
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            self._work(arguments, home)

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float = 240) -> int:
        """Wait for the exit code."""
        end = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > end:
                self.kill()
                raise TimeoutError(f"process {self.pid} hangs")
            time.sleep(0.005)
        return code

    def kill(self) -> None:
        """Send SIGKILL."""
        os.kill(self.pid, signal.SIGKILL)

    def _work(self, arguments: Sequence[str], home: Path) -> NoReturn:
        code = 1
        try:
            for number, path in ((1, self.out), (2, self.errors)):
                file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(file, number)
            # Background jobs of a shell, and their children, ignore SIGINT by default.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.environ["GENDALENS_HOME"] = str(home)
            import torch

            torch.set_num_threads(THREADS)
            sys.argv = ["gendalens", *arguments]
            sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
            from gendalens.cli.app import main

            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
        except BaseException:
            traceback.print_exc()
        finally:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
            os._exit(code)
