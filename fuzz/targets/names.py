"""Lists of names: ``--data names=FOLDER``, ``--data minority-names=FOLDER``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from fuzz.target import Input, Target
from gendalens.data import names
from gendalens.data.names import HOWS, Group, How, NamePool

PLACES = (0.0, 0.25, 0.5, 0.999, math.nextafter(1, 0))


# Every group has names of equal length and octave of bearers, so that lists can be matched.
EVEN = {
    "names/first_names_2023_women.csv": "Navn,Antal\nMETTE,900\nLEILA,800\nKAREN,700\nSARA,90\nKIM,120\n",
    "names/first_names_2023_men.csv": "Navn,Antal\nLASSE,950\nHAMZA,850\nPETER,600\nOMAR,80\nKIM,180\n",
    "names/last_names_2023.csv": "Navn,Antal\nHANSEN,5000\nKHALIL,4500\nO'NEILL,300\nALI,900\n",
    "names/overlapping_names.csv": ",duplicates,origin\n0,Sara,M\n1,Maria,DK\n",
    "minority-names/names.csv": "count,name,ethnicity,gender,first_name\n"
    + "".join(
        f"{count},{name},{kind},{gender},{first}\n"
        for count, name, kind, gender, first in (
            *(
                ("900.0", "Mette", "danish", "female", "True"),
                ("7", "Karen", "danish", "female", "True"),
            ),
            *(
                ("950.0", "Lasse", "danish", "male", "True"),
                ("600.0", "Peter", "danish", "male", "True"),
            ),
            *(
                ("800.0", "Leila", "muslim", "female", "True"),
                ("9.0", "Sara", "muslim", "female", "True"),
            ),
            *(
                ("850.0", "Hamza", "muslim", "male", "True"),
                ("80.0", "Omar", "muslim", "male", "True"),
            ),
            *(
                ("5000.0", "Hansen", "danish", "both", "False"),
                ("", "Khalil", "muslim", "both", "False"),
            ),
        )
    ),
}


class Names(Target):
    """Accepted: names in every group, none in two groups; every draw gives a name."""

    name: ClassVar[str] = "names"
    share: ClassVar[float] = 200
    words: ClassVar[tuple[bytes, ...]] = (
        *(b"Navn,Antal", b"danish", b"muslim", b"female", b"male", b"both", b"True", b"False"),
        *(b",DK", b",M", b",B", b"METTE", b"Ali", b'"', b'""', b'"a\nb"', b",,"),
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.bases = {
            (way, file): text.encode() for way in (*HOWS, "classic") for file, text in EVEN.items()
        }
        for (_, file), content in self.bases.items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_bytes(content)

    def check_input(self, given: Input) -> None:
        """Read the lists for one way to draw, or for protocol 1."""
        path = self.folder / given.file
        path.write_bytes(given.content)
        lists = self.folder / "names", self.folder / "minority-names"
        try:
            if given.base == "classic":
                pools = names.read_classic(*lists)
            else:
                how: How = "top" if given.base == "top" else "matched"
                pools = names.read(*lists, how)
        finally:
            path.write_bytes(self.bases[given.base, given.file])
        _check_pools(pools, apart=given.base != "classic")


def _check_pools(pools: Mapping[Group, NamePool], *, apart: bool) -> None:
    seen: set[str] = set()
    for group in names.GROUPS:
        pool = pools[group]
        first = {name.text for name in pool.first.names}
        assert first, "a group without names"
        assert not apart or not first & seen, f"{first & seen} in two groups"
        seen |= first
        for some in (pool.first, pool.last):
            assert not apart or all(name.text.strip() for name in some.names)
            assert all(some.draw(place) in some.names for place in PLACES)
            assert math.isfinite(some.mean_length + some.mean_bearers)
