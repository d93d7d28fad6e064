"""The official data sets on disk: fetched, checked, found.

They are other people's work and no part of this package. A set is fetched on first use, from a wheel
of the user's package index or from the hub, and its files are checked at every use. A user may name
files of their own instead, or ask for the set of the same name that comes with this package.
"""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from gendalens.data import hub
from gendalens.data.builtin import catalogue as builtin
from gendalens.data.catalogue import SETS, DataFile, DataSet, Hub, Wheel
from gendalens.data.choice import BUILTIN, Choice
from gendalens.data.fetch import download, sha256, unpack
from gendalens.data.home import home
from gendalens.errors import UserError
from gendalens.version import __version__

__all__ = ["SETS", "DataFile", "DataSet", "Hub", "Source", "Status", "Wheel"]
__all__ += ["builtin_status", "checksum", "find", "folder", "locate", "pull", "source", "status"]

State = Literal["cached", "absent", "damaged", "built in"]


@dataclass(frozen=True, slots=True)
class Status:
    """A line of ``gendalens data list``."""

    name: str
    holds: str
    source: str
    terms: str
    state: State
    checksum: str


def find(name: str) -> DataSet:
    """The data set of that name."""
    if name not in SETS:
        raise UserError(f"There is no data set '{name}': choose one of {', '.join(SETS)}.")
    return SETS[name]


def folder(name: str) -> Path:
    """Where a data set lies once it has been fetched."""
    return home() / "data" / name


def locate(name: str, *, override: Path | None = None, offline: bool = False) -> Path:
    """The folder that holds a data set: fetched on first use, checked at every use.

    With ``override`` it is the user's own folder (or the one of the user's own file), whose files must
    be there and may differ from the official ones; ``checksum`` and ``source`` then tell so.
    """
    data = find(name)
    if override is not None:
        return _own_files(data, override)[0].parent
    here = folder(name)
    state, bad = _inspect(data, here)
    if state == "damaged":
        raise UserError(
            f"{here / bad} is not the published file (its SHA-256 differs), so it is not used: "
            f"fetch it again with `gendalens data pull {name}`."
        )
    if state == "absent":
        if offline:
            own = f", or {hub.INSTEAD}" if isinstance(data.origin, Hub) else ""
            raise UserError(
                f"The data set '{name}' is not in {here} and may not be fetched offline: run "
                f"`gendalens data pull {name}` once with a network{own}."
            )
        pull(name)
    return here


def _own_files(data: DataSet, path: Path) -> tuple[Path, ...]:
    """The user's own files in place of the published ones, in their order."""
    try:
        if isinstance(data.origin, Wheel):
            return _in_folder(data, path)
        return (_single_file(data, path),)
    except OSError as error:  # a forbidden folder, a long name
        raise UserError(
            f"{path} cannot be read ({error.strerror or error}): check the path to your own "
            f"'{data.name}'."
        ) from error


def _in_folder(data: DataSet, path: Path) -> tuple[Path, ...]:
    """The files of a set in the user's own folder."""
    missing = [f.name for f in data.files if not (path / f.name).is_file()]
    if not path.is_dir():
        raise UserError(f"{path} is no folder: name one that holds {data.files[0].name}.")
    if missing:
        raise UserError(
            f"{path} does not hold {missing[0]}, which '{data.name}' needs: put the file there, "
            "or leave the option out to use the official set."
        )
    return tuple(path / f.name for f in data.files)


def _single_file(data: DataSet, path: Path) -> Path:
    """The user's own file for a set of the hub, which is one of a well-known format under any name."""
    (file,) = data.files
    suffix = PurePosixPath(file.name).suffix
    if path.is_file():
        return path
    if not path.is_dir():
        raise UserError(f"{path} does not exist: name a {suffix} file, or a folder that holds one.")
    for pattern in (file.name, f"*test*{suffix}", f"*{suffix}"):
        found = sorted(path.glob(pattern))
        if len(found) == 1:
            return found[0]
        if found:
            raise UserError(f"{path} holds {len(found)} {suffix} files: name one of them.")
    raise UserError(f"{path} does not hold {file.name} or another {suffix} file.")


def pull(name: str) -> Path:
    """Fetch a data set, replacing what is there; other sets of the same wheel come along.

    Files are complete and checked before they get their name, so processes may pull at once.
    """
    wanted = find(name)
    root = home() / "data"
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".pull-", dir=root) as made:
            if isinstance(wanted.origin, Hub):
                _fetch(wanted, wanted.origin, Path(made), root / name)
                return folder(name)
            archive = download(wanted.origin.requirement, wanted.origin.sha256, Path(made))
            for data in SETS.values():
                if data.origin == wanted.origin:
                    _store(data, archive, Path(made) / data.name, root / data.name)
    except OSError as error:
        raise UserError(
            f"{root} cannot be written ({error.strerror or error}): set GENDALENS_HOME to a folder "
            "that can."
        ) from error
    return folder(name)


def _fetch(data: DataSet, origin: Hub, made: Path, here: Path) -> None:
    """Fetch a set from the hub and put its file in place, and the checksum that it has beside it."""
    (file,) = data.files
    hub.fetch(origin.repo, made / file.name)
    here.mkdir(exist_ok=True)
    fresh = _kept_sum(made, file)
    fresh.write_text(sha256(made / file.name), encoding="ascii")
    (made / file.name).replace(here / file.name)
    fresh.replace(_kept_sum(here, file))


def _kept_sum(here: Path, file: DataFile) -> Path:
    """Where the checksum of a file from the hub is kept."""
    return here / f"{file.name}.sha256"


def _store(data: DataSet, archive: Path, fresh: Path, here: Path) -> None:
    """Unpack a set's files, check them, and put them in place one by one."""
    fresh.mkdir()
    here.mkdir(exist_ok=True)
    unpack(archive, {f.member: f.name for f in data.files}, fresh)
    for file in data.files:
        if sha256(fresh / file.name) != file.sha256:
            raise UserError(
                f"{file.name} in {archive.name} is not the published file (its SHA-256 differs), "
                "so it was not stored: report this, please."
            )
        (fresh / file.name).replace(here / file.name)


def _inspect(data: DataSet, here: Path) -> tuple[State, str]:
    """Whether a set is there and sound, and the first file that is not."""
    for file in data.files:
        if not (here / file.name).is_file():
            return "absent", file.name
    for file in data.files:
        try:
            wanted = file.sha256
            if isinstance(data.origin, Hub) and _kept_sum(here, file).is_file():
                wanted = _kept_sum(here, file).read_text(encoding="ascii", errors="replace")
            sound = sha256(here / file.name) == wanted
        except OSError:
            sound = False
        if not sound:
            return "damaged", file.name
    return "cached", ""


def at_hand(name: str) -> bool:
    """Whether a set is here already or comes with the package index, which every user has."""
    data = find(name)
    return isinstance(data.origin, Wheel) or _inspect(data, folder(name))[0] == "cached"


def status() -> list[Status]:
    """Every official data set, and whether it is there."""
    return [
        Status(
            name=data.name,
            holds=data.holds,
            source=data.origin.title,
            terms=data.terms,
            state=_inspect(data, folder(data.name))[0],
            checksum=checksum(data.name)[:8],
        )
        for data in SETS.values()
    ]


def builtin_status() -> list[Status]:
    """Every built-in set; one is damaged where a file of the installation is missing."""
    found = []
    for data in builtin.SETS.values():
        state: State = "built in" if all(file.is_file() for file in data.files) else "damaged"
        digest = _builtin_source(data.name).checksum[:8] if state == "built in" else "-"
        found.append(
            Status(data.name, data.holds, f"gendalens {__version__}", builtin.TERMS, state, digest)
        )
    return found


def checksum(name: str, *, override: Path | None = None) -> str:
    """One SHA-256 over a set's files: the published ones, or those that the user named."""
    data = find(name)
    if override is None:
        return _combined(data, [file.sha256 for file in data.files])
    return _combined(data, [sha256(file) for file in _own_files(data, override)])


def _combined(data: DataSet, sums: list[str]) -> str:
    return _digest([file.name for file in data.files], sums)


def _digest(names: list[str], sums: list[str]) -> str:
    named = sorted(zip(names, sums, strict=True))
    text = "".join(f"{digest}  {file}\n" for file, digest in named)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Source:
    """A data set as one run reads it: its files, its checksum, whose it is.

    ``official`` and ``builtin``: the published files or the built-in ones; neither, the user's own.
    ``origin`` is how a result names where it came from.
    """

    name: str
    folder: Path
    files: tuple[Path, ...]
    checksum: str
    official: bool
    origin: str
    builtin: bool = False


def source(name: str, *, override: Choice | None = None, offline: bool = False) -> Source:
    """A data set ready to be read; errata fit the official files only, wherever they lie."""
    data = find(name)
    if override == BUILTIN:
        return _builtin_source(name)
    here = locate(name, override=override, offline=offline)
    if override is None:
        files = tuple(here / file.name for file in data.files)
    else:
        files = _own_files(data, override)
    try:
        found = _combined(data, [sha256(file) for file in files])
    except OSError as error:
        raise UserError(f"{here} cannot be read ({error.strerror or error}).") from error
    official = found == checksum(name)
    own = "the user's own file" if isinstance(data.origin, Hub) else "the user's own folder"
    origin = data.origin.title if official or override is None else own
    return Source(name, here, files, found, official, origin)


def _builtin_source(name: str) -> Source:
    """A built-in set; nothing is fetched for it, and no erratum concerns it."""
    data = builtin.SETS[name]
    try:
        sums = [sha256(file) for file in data.files]
    except OSError as error:
        raise UserError(
            f"The built-in set '{name}' cannot be read ({error.strerror or error}): install gendalens "
            "again."
        ) from error
    found = _digest(list(data.members), sums)
    return Source(name, builtin.FOLDER, data.files, found, False, builtin.ORIGIN, builtin=True)
