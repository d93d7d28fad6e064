"""How the command line ends when something outside it does: one sentence, and nothing lost.

A reader that closes the pipe does not stop a run, whose results go to its folder as well; a stopped
process (Ctrl-C, or SIGTERM as batch systems send it) says how to go on; a full disk, a lack of
memory and a file out of reach are told as what they are. Where standard output or error is closed, what
goes there is dropped.
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

STOPPED = N_("Stopped; run the same command again to go on.")
FULL = N_("The output cannot be written, the disk is full; free some space and run again.")
NO_MEMORY = N_(
    "There is not enough memory; close other programs, raise the limit, or test a smaller model, "
    "and run again: stored answers are kept."
)
NO_FILE = N_(
    "{file} cannot be used ({reason}); check that it is there and that you may read and write it."
)
#: What a shell shows of a program that SIGPIPE or SIGINT ended.
READER_GONE, INTERRUPTED = 128 + 13, 128 + 2
#: The exit code of a defect of ours (EX_SOFTWARE): 1 is what a run gets that fails its gate.
DEFECT = 70
#: Ways to encode that fail on a sign which the encoding lacks.
FRAGILE = ("strict", "surrogateescape")
#: How such a sign is written instead: no figure loses its minus.
SAFE = "backslashreplace"


class Outlet(io.FileIO):
    """Standard output or error as a file; what can no longer be written is dropped.

    ``trouble`` is the error that was met: EPIPE where the reader has gone, ENOSPC where the disk is
    full, and others, such as EFBIG where files may not be as large.
    """

    trouble: OSError | None = None

    def write(self, data: Any) -> int:
        """Write, or drop what has no place to go."""
        try:
            return super().write(data)
        except OSError as error:
            self.trouble = error
            return memoryview(data).nbytes


def run(command: Callable[[], object]) -> NoReturn:
    """Run the command line and end the process; the exit code of a mistake or a limit is 2."""
    outlets = [_replace_stream(name) for name in ("stdout", "stderr")]
    signal.signal(signal.SIGTERM, _stop)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # as __main__ leaves it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        code = _run_and_explain(command)
    except Exception:
        traceback.print_exc()
        code = DEFECT
    # Everything is done and said: a second Ctrl-C has nothing left to stop but the tidying up.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for outlet in outlets:
        if outlet is not None and outlet.trouble is not None:
            code = _report_lost_output(outlet.trouble)
    sys.exit(code)


def _report_lost_output(trouble: OSError) -> int:
    """Say why output was lost, unless nobody reads it any more; gives the exit code."""
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
        if error.filename is None:  # no file that the user could do something about
            raise
        return _report(NO_FILE, file=str(error.filename), reason=str(error.strerror))
    except SystemExit as end:
        if end.code == INTERRUPTED:  # Typer makes this of Ctrl-C, without a word
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
    """Put an outlet in the place of a standard stream, unless somebody has put something there.

    A terminal stays, but like every stream it shows a sign that its encoding lacks as an escape.
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
