"""The mutants to try: a seeded draw from every package, and those that stand for a known mistake."""

from __future__ import annotations

import hashlib
import tomllib
from collections import defaultdict
from pathlib import Path

from tools.mutants.operators import Mutant, find_mutants

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "gendalens"
#: The share of the draw that each package gets: what a user sees comes first.
SHARES = {
    "tasks": 26,
    "report": 16,
    "stats": 12,
    "models": 14,
    "engine": 8,
    "cli": 8,
    "comparison": 8,
    "results": 5,
    "predictions": 4,
    "data": 6,
}
KNOWN, EQUIVALENT = (Path(__file__).parent / f"{name}.toml" for name in ("known", "equivalent"))


def draw_mutants(count: int, seed: int) -> list[Mutant]:
    """About ``count`` mutants: from every package by its share, from every operator alike."""
    total = sum(SHARES.values())
    drawn: list[Mutant] = []
    for package, share in SHARES.items():
        kinds: dict[str, list[Mutant]] = defaultdict(list)
        # Ordered by a hash, so that a change to the code does not exchange the whole draw.
        for mutant in sorted(list_mutants(package), key=lambda one: _rank(one, seed)):
            kinds[mutant.operator].append(mutant)
        wanted = round(count * share / total)
        while wanted and kinds:
            for operator in list(kinds):
                if wanted and kinds[operator]:
                    drawn.append(kinds[operator].pop(0))
                    wanted -= 1
                if not kinds[operator]:
                    del kinds[operator]
    return drawn


def _rank(mutant: Mutant, seed: int) -> bytes:
    return hashlib.sha256(f"{seed} {mutant.key}".encode()).digest()


def list_mutants(package: str) -> list[Mutant]:
    """Every mutant of a package."""
    return [
        mutant
        for path in sorted((PACKAGE / package).rglob("*.py"))
        for mutant in find_mutants(path.relative_to(PACKAGE).as_posix(), path.read_bytes())
    ]


def read_known() -> tuple[list[Mutant], list[str]]:
    """The mutants that stand for a known mistake, and complaints about those that cannot be placed.

    The name of the mistake is the mutant's scope.
    """
    entries = tomllib.loads(KNOWN.read_text(encoding="utf-8"))
    mutants: list[Mutant] = []
    complaints: list[str] = []
    for name, entry in entries.items():
        try:
            mutants.append(_locate(name, entry))
        except ValueError as error:
            complaints.append(str(error))
    return mutants, complaints


def _locate(name: str, entry: dict[str, str]) -> Mutant:
    path = PACKAGE / entry["file"]
    source = path.read_bytes() if path.exists() else b""
    before = entry["before"].encode()
    if source.count(before) != 1:
        raise ValueError(
            f"{name}: {entry['file']} holds {source.count(before)} times what it replaces"
        )
    start = source.index(before)
    line = source.count(b"\n", 0, start) + 1
    end = start + len(before)
    return Mutant(entry["file"], line, name, "known", entry["before"], entry["after"], start, end)


def read_equivalent() -> dict[str, str]:
    """The mutants that no test can notice, with the reason."""
    return tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")) if EQUIVALENT.exists() else {}
