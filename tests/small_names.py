"""Own name lists in the layout of the official ones."""

from __future__ import annotations

from pathlib import Path

WOMEN = {"METTE": 900, "000": 800, "SARA": 700, "LEILA": 600, "ANNE-SOFIE": 300, "KIM": 120, "": 90}
MEN = {"OLE": 950, "000": 850, "HASSAN": 500, "RENÉ": 310, "KIM": 180, "VANG": 70, "METTE": 2}
LAST = {"HANSEN": 5000, "ALI": 900, "VANG": 500, "HONOR…": 400, "EJ EFTERNAVN": 300, "HANSEN ": 1}
OVERLAP = {"Sara": "B", "Leila": "M", "Maria": "DK"}
LISTED = [
    ("900.0", "Mette", "danish", "female", "True"),
    ("300.0", "Anne-Sofie", "danish", "female", "True"),
    ("950.0", "Ole", "danish", "male", "True"),
    ("70.0", "Vang", "danish", "male", "True"),
    ("5.0", "J", "danish", "male", "True"),
    ("600.0", "Leila", "muslim", "female", "True"),
    ("90.0", "Sara", "muslim", "female", "True"),
    ("8.0", "Maria", "muslim", "female", "True"),
    ("0.0", "Ugla", "muslim", "female", "True"),
    ("500.0", "Hassan", "muslim", "male", "True"),
    ("49.0", "Mahmood.", "muslim", "male", "True"),
    ("5000.0", "Hansen", "danish", "both", "False"),
    ("", "Ali", "muslim", "both", "False"),
    ("", "Ali", "muslim", "both", "False"),
    ("", "Al-Ravn", "muslim", "both", "False"),
]


def write(folder: Path) -> tuple[Path, Path]:
    """The folders of the register and of the minority list."""
    register, minority = folder / "names", folder / "minority-names"
    register.mkdir(parents=True)
    minority.mkdir()
    for file, counts in (
        ("first_names_2023_women", WOMEN),
        ("first_names_2023_men", MEN),
        ("last_names_2023", LAST),
        ("unisex_names", {}),
    ):
        rows = ["Navn,Antal", *(f"{name},{count}" for name, count in counts.items())]
        (register / f"{file}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    rows = [",duplicates,origin", *(f"{i},{n},{o}" for i, (n, o) in enumerate(OVERLAP.items()))]
    (register / "overlapping_names.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    rows = ["count,name,ethnicity,gender,first_name", *(",".join(row) for row in LISTED)]
    (minority / "names.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return register, minority
