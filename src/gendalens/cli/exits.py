"""How the command line exits when something outside it fails: with one sentence, and nothing lost.

A closed pipe does not stop a run, because its results are also written to its folder. A process
stopped by Ctrl-C or SIGTERM (as batch systems send it) says how to resume. A full disk, a lack of
memory and an inaccessible file are reported as such. Output to a closed standard stream is dropped.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from gendalens.errors import UserError
from gendalens.words import N_, Message

STOPPED = N_("Stopped; run the same command again to resume.")
FULL = N_("The output cannot be written, the disk is full; free some space and run again.")
NO_MEMORY = N_(
    "There is not enough memory; close other programs, raise the limit, or test a smaller model, "
    "and run again: stored answers are kept."
)
NO_FILE = N_(
    "{file} cannot be used ({reason}); check that it exists and that you may read and write it."
)
#: The exit codes that a shell reports for a program killed by SIGPIPE or SIGINT.
READER_GONE, INTERRUPTED = 128 + 13, 128 + 2
#: The exit code for an internal error (EX_SOFTWARE), because 1 means that a run fails its gate.
DEFECT = 70
#: Error handlers that raise on a character which the encoding lacks.
FRAGILE = ("strict", "surrogateescape")
#: The handler used instead: it escapes the character, so that no figure loses its minus sign.
SAFE = "backslashreplace"


class Outlet(io.FileIO):
    """Standard output or error as a file that drops what it can no longer write.

    ``trouble`` is the last error, such as EPIPE (the reader has gone), ENOSPC (the disk is full) or
    EFBIG (a limit on file sizes).
    """

    trouble: OSError | None = None

    def write(self, data: Any) -> int:
        """Write the data; if that fails, keep the error and drop the data."""
        try:
            return super().write(data)
        except OSError as error:
            self.trouble = error
            return memoryview(data).nbytes


def run(command: Callable[[], object]) -> NoReturn:
    """Run the command and exit the process; the exit code of a user error or a limit is 2."""
    outlets = [_replace_stream(name) for name in ("stdout", "stderr")]
    signal.signal(signal.SIGTERM, _stop)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # as __main__ leaves it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        code = _run_and_explain(command)
    except Exception:
        traceback.print_exc()
        code = DEFECT
    # The outcome is reported: a second Ctrl-C could only interrupt the clean-up.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for outlet in outlets:
        if outlet is not None and outlet.trouble is not None:
            code = _report_lost_output(outlet.trouble)
    sys.exit(code)


def _report_lost_output(trouble: OSError) -> int:
    """Report why output was lost, unless its reader has gone; return the exit code."""
    if trouble.errno == errno.EPIPE:
        return READER_GONE
    if trouble.errno == errno.ENOSPC:
        return _report(FULL)
    return _report(
        "The output cannot be written ({reason}); send it to another place.",
        reason=str(trouble.strerror),
    )


def _run_and_explain(command: Callable[[], object]) -> int | str | None:
    try:
        try:
            command()
        finally:
            sys.stdout.flush()
    except UserError as error:
        return _print_error(str(error))
    except KeyboardInterrupt:
        return _report(STOPPED)
    except MemoryError:
        return _report(NO_MEMORY)
    except OSError as error:
        if error.errno == errno.ENOMEM:
            return _report(NO_MEMORY)
        if error.errno == errno.ENOSPC:
            return _report(FULL)
        if error.filename is None:  # not about a file, so there is no advice to give
            raise
        return _report(NO_FILE, file=str(error.filename), reason=str(error.strerror))
    except SystemExit as end:
        if end.code == INTERRUPTED:  # Typer turns Ctrl-C into this exit code without a message
            return _report(STOPPED)
        return end.code
    return 0


def _report(sentence: str | Message, **values: str) -> int:
    return _print_error(str(UserError(sentence, **values)))


def _print_error(sentence: str) -> int:
    sys.stderr.write(f"gendalens: {sentence}\n")
    return 2


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _replace_stream(name: str) -> Outlet | None:
    """Replace a standard stream by an outlet, unless it has already been replaced.

    A terminal is kept, but escapes characters that its encoding lacks, as all streams then do.
    """
    stream: io.TextIOWrapper | None = getattr(sys, name)
    if stream is None:  # closed, as `>&-` does
        nowhere = Path(os.devnull).open("w", encoding="utf-8", errors=SAFE)  # noqa: SIM115 (stays)
        setattr(sys, name, nowhere)
        return None
    if stream is not getattr(sys, f"__{name}__"):
        return None
    errors = SAFE if stream.errors in FRAGILE else stream.errors
    if stream.isatty():
        stream.reconfigure(errors=errors)
        return None
    outlet = Outlet(stream.fileno(), "w", closefd=False)
    text = io.TextIOWrapper(
        io.BufferedWriter(outlet),
        encoding=stream.encoding,
        errors=errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
    setattr(sys, name, text)
    return outlet
