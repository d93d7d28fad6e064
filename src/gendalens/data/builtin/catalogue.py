"""The built-in sets: the content and the files of each.

A built-in set replaces the official one of the same name only if the user asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gendalens.version import __version__
from gendalens.words import N_

FOLDER = Path(__file__).parent
TERMS = "CC BY 4.0"
ORIGIN = f"gendalens {__version__}, {TERMS}"


@dataclass(frozen=True, slots=True)
class BuiltinSet:
    """A built-in set, which has the name of the official one that it can replace."""

    name: str
    holds: str
    members: tuple[str, ...]

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that the reader uses, occupations included."""
        return tuple(FOLDER / member for member in self.members)


SETS: dict[str, BuiltinSet] = {
    data.name: data
    for data in (
        BuiltinSet(
            name="dawinobias",
            holds=N_("414 schemas of two lines, each with and against the stereotype"),
            members=("schemas.csv", "occupations.csv"),
        ),
        BuiltinSet(
            name="abc",
            holds=N_("5,614 sentence triples: 80 occupations, 36 frames, present and past"),
            members=("frames.csv", "occupations.csv"),
        ),
        BuiltinSet(
            name="names",
            holds=N_("first names of women and of men and surnames, with the number of bearers"),
            members=("names.csv",),
        ),
        BuiltinSet(
            name="minority-names",
            holds=N_("which of these names are the majority's and which the minority's"),
            members=("names.csv",),
        ),
        BuiltinSet(
            name="dane",
            holds=N_(
                "344 sentences with 307 persons, and with places, organisations and other names"
            ),
            members=("ner.conllu",),
        ),
    )
}
