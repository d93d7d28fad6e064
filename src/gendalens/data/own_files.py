"""The user's own files, used in place of an official set.

They have the layout of the published files. ABC may also be a single file, as its first version is.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from gendalens.data.catalogue import DataSet, Wheel
from gendalens.errors import UserError

#: Sets that may also be a single file, with the name under which its checksum is taken.
SINGLE_FILES = {"abc": "coref_lm.da"}


def find_own_files(data: DataSet, path: Path) -> tuple[Path, ...]:
    """The user's own files for a set, in the order of the published ones, or its single file."""
    try:
        if data.name in SINGLE_FILES and path.is_file():
            return (path,)
        if isinstance(data.origin, Wheel):
            return _find_in_folder(data, path)
        return (_find_single_file(data, path),)
    except OSError as error:  # a forbidden folder, an over-long name
        raise UserError(
            "{path} cannot be read ({reason}): check the path to your own '{data}'.",
            path=str(path),
            reason=error.strerror or str(error),
            data=data.name,
        ) from error


def _find_in_folder(data: DataSet, path: Path) -> tuple[Path, ...]:
    """The files of a set in the user's own folder."""
    missing = [f.name for f in data.files if not (path / f.name).is_file()]
    if not path.is_dir() and data.name in SINGLE_FILES:
        raise UserError(
            "{path} does not exist: name a folder that holds {file}, or a single file like {single}.",
            path=str(path),
            file=data.files[0].name,
            single=SINGLE_FILES[data.name],
        )
    if not path.is_dir():
        raise UserError(
            "{path} is not a folder: name one that holds {file}.",
            path=str(path),
            file=data.files[0].name,
        )
    if missing:
        raise UserError(
            "{path} does not hold {file}, which '{data}' needs: put the file there, or leave the "
            "option out to use the official set.",
            path=str(path),
            file=missing[0],
            data=data.name,
        )
    return tuple(path / f.name for f in data.files)


def _find_single_file(data: DataSet, path: Path) -> Path:
    """The user's own file for a set from the hub; its format is known, and it may have any name."""
    (file,) = data.files
    suffix = PurePosixPath(file.name).suffix
    if path.is_file():
        return path
    if not path.is_dir():
        raise UserError(
            "{path} does not exist: name a {suffix} file, or a folder that holds one.",
            path=str(path),
            suffix=suffix,
        )
    for pattern in (file.name, f"*test*{suffix}", f"*{suffix}"):
        found = sorted(path.glob(pattern))
        if len(found) == 1:
            return found[0]
        if found:
            raise UserError(
                "{path} holds {count} {suffix} files: name one of them.",
                path=str(path),
                count=len(found),
                suffix=suffix,
            )
    raise UserError(
        "{path} holds neither {file} nor any other {suffix} file: name a file.",
        path=str(path),
        file=file.name,
        suffix=suffix,
    )
