"""The one place that opens files that come from somebody else: ordinary files of a bounded size only.

A model's folder may hold a pipe, which blocks whoever opens it, or a link to a device that never ends.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

from gendalens.words import say

#: The largest text file of a model, in bytes; the largest vocabularies have a tenth of it.
LARGEST_TEXT = 512 * 1024**2
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_FLAGS |= getattr(os, "O_BINARY", 0)


def open_ordinary(path: Path, largest: int | None = None) -> BufferedReader:
    """The file, opened once, and checked after it was opened, so that it cannot be exchanged."""
    descriptor = os.open(path, _FLAGS)
    try:
        status = os.fstat(descriptor)
        _check(path, status, largest)
        return os.fdopen(descriptor, "rb", buffering=-1)
    except BaseException:
        os.close(descriptor)
        raise


def open_given(path: Path) -> BufferedReader:
    """A file that the user typed, which may be a pipe, and is waited for; a device may never end."""
    descriptor = os.open(path, _FLAGS & ~getattr(os, "O_NONBLOCK", 0))
    try:
        if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            _check(path, os.fstat(descriptor), None)
        return os.fdopen(descriptor, "rb", buffering=-1)
    except BaseException:
        os.close(descriptor)
        raise


def read_ordinary(path: Path, largest: int = LARGEST_TEXT) -> bytes:
    """The content of an ordinary file."""
    with open_ordinary(path, largest) as file:
        # A file may grow after it was opened.
        content = file.read(largest + 1)
        if len(content) > largest:
            raise _too_large(path, largest)
        return content


def check_ordinary(path: Path, largest: int | None = None) -> None:
    """Raise unless other libraries can open the file without blocking, and read it to its end."""
    _check(path, path.stat(), largest)


def _check(path: Path, status: os.stat_result, largest: int | None) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, say("it is not an ordinary file"), str(path))
    if largest is not None and status.st_size > largest:
        raise _too_large(path, largest)


def _too_large(path: Path, largest: int) -> OSError:
    megabytes = largest // 1024**2
    return OSError(errno.EFBIG, say("it is larger than {limit} MB", limit=megabytes), str(path))
