"""What built-in sets there are: what each holds, and its files beside this one.

A built-in set stands in for the official one of the same name where the user asks for it, and only
there.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gendalens.version import __version__

FOLDER = Path(__file__).parent
TERMS = "CC BY 4.0"
BUILT_IN = "built in"  # what the origin of such a set begins with
ORIGIN = f"{BUILT_IN} (gendalens {__version__}, {TERMS})"


@dataclass(frozen=True, slots=True)
class BuiltinSet:
    """A built-in set, under the name of the official one that it can stand in for."""

    name: str
    holds: str
    members: tuple[str, ...]

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that decide what is read, occupations included."""
        return tuple(FOLDER / member for member in self.members)


SETS: dict[str, BuiltinSet] = {
    data.name: data
    for data in (
        BuiltinSet(
            name="dawinobias",
            holds="160 schemas of two lines, with and against the stereotype",
            members=("schemas.csv", "occupations.csv"),
        ),
        BuiltinSet(
            name="abc",
            holds="2,952 sentence triples: 41 occupations, 36 frames, present and past",
            members=("frames.csv", "occupations.csv"),
        ),
        BuiltinSet(
            name="names",
            holds="first names of women and of men and last names, with the number of bearers",
            members=("names.csv",),
        ),
        BuiltinSet(
            name="minority-names",
            holds="which of these names are the majority's and which the minority's",
            members=("names.csv",),
        ),
        BuiltinSet(
            name="dane",
            holds="344 sentences with 307 persons, and places, organisations, other names",
            members=("ner.conllu",),
        ),
    )
}
