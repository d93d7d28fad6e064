"""The one place that writes files: whole or not at all, and not through a link that somebody else made.

A folder may have come from somebody else, with links in it that point elsewhere. So a file is written
under a random name that nobody can have prepared, in the folder as it was opened, and then renamed; a
link of the same name is replaced, not followed.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeAlias

from gendalens.words import say

Content: TypeAlias = str | bytes | Iterable[str] | Iterable[bytes | memoryview]

# Windows has no handles of directories, and no links that every user can make.
_HAS_HANDLES = os.open in os.supports_dir_fd
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
_NEW |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
# Names for the streams of this process.
_STREAMS = ("/dev/fd/", "/dev/std", "/proc/")
#: How the names of folders begin that are still being written.
UNFINISHED = ".unfinished-"


def replace_file(
    path: Path, content: Content, *, root: Path | None = None, mode: int = 0o666
) -> None:
    """Write a file atomically, in place of a file or a link of that name; it may come in parts.

    No folder below ``root`` may be a link, not even one that was put there a moment ago.
    """
    with _open_folder(path.parent, root) as folder:
        here = None if folder is None else path.parent
        temporary = f".{secrets.token_hex(8)}.tmp"
        source = Path(temporary) if here else path.with_name(temporary)
        target = Path(path.name) if here else path
        descriptor = os.open(source, _NEW, mode, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                _write(file, content)
                file.flush()
                os.fsync(file.fileno())
            _check_replaceable(target, folder)
            os.replace(source, target, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(source, dir_fd=folder)
            raise


def write_target(path: Path, content: Content) -> None:
    """Write to a path that the user typed.

    A link is followed, because the user named it; a pipe or a device is written to and stays what it is.
    """
    if _is_stream(path):
        with path.open("wb") as file:
            _write(file, content)
    else:
        replace_file(path.resolve(), content)


def append_text(path: Path, text: str) -> None:
    """Add text to the end of a file, which must be an ordinary one without another name."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NO_LINK
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
    with os.fdopen(os.open(path, flags, 0o666), "ab") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise OSError(errno.EEXIST, say("it is not an ordinary file"), str(path))
        file.write(text.encode())


def make_folders(root: Path, *names: str) -> Path:
    """The folder of these names below ``root``, created if necessary; none of them may be a link."""
    folder = root
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        folder /= name
        with suppress(FileExistsError):
            folder.mkdir()
        if folder.is_symlink() or not folder.is_dir():
            raise OSError(errno.ENOTDIR, say("{name} is a link or a file", name=name), str(folder))
    return folder


def make_private_folder(folder: Path) -> None:
    """Create a folder that only the user can read and write; one that exists stays as it is."""
    missing = [part for part in (folder, *folder.parents) if not part.exists()]
    for part in reversed(missing):
        with suppress(FileExistsError):
            part.mkdir(mode=0o700)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))


def remove_path(path: Path) -> None:
    """Remove a file, a folder with all that is in it, or a link, but not what the link points to."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def make_whole_folder(target: Path) -> Iterator[Path]:
    """A new folder of a random name, which gets the name ``target`` at the end, or goes with an error.

    If there is a ``target`` by then, the new folder goes too: somebody else was faster.
    """
    make_private_folder(target.parent)
    folder = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=target.parent))
    try:
        yield folder
        with suppress(FileExistsError, NotADirectoryError):
            _rename_folder(folder, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _rename_folder(folder: Path, target: Path) -> None:
    try:
        folder.rename(target)
    except OSError as error:  # what POSIX calls it if the target is not empty
        if error.errno != errno.ENOTEMPTY:
            raise


def _write(file: BinaryIO, content: Content) -> None:
    if isinstance(content, bytes):
        file.write(content)
    else:
        parts: Iterable[str | bytes | memoryview] = (
            [content] if isinstance(content, str) else content
        )
        file.writelines(part.encode() if isinstance(part, str) else part for part in parts)


@contextmanager
def _open_folder(folder: Path, root: Path | None) -> Iterator[int | None]:
    """A handle of a folder: what happens to its path in the meantime makes no difference."""
    if not _HAS_HANDLES:
        yield None
        return
    handle = os.open(folder if root is None else root, _FOLDER)
    try:
        for name in () if root is None else folder.relative_to(root).parts:
            inner = os.open(name, _FOLDER | _NO_LINK, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle
    finally:
        os.close(handle)


def _check_replaceable(target: Path, folder: int | None) -> None:
    """Raise if something else than a file or a link has the name, such as a pipe."""
    try:
        mode = os.stat(target, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        raise OSError(errno.EEXIST, say("it is not an ordinary file"), str(target))


def _is_stream(path: Path) -> bool:
    """Whether a path is a pipe or a device, or stands for a stream of this process."""
    if str(path).startswith(_STREAMS):
        return True
    return path.exists() and not path.is_file() and not path.is_dir()
