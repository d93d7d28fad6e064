"""The mutants to try: a seeded draw from every package, and those that stand for a known mistake."""

from __future__ import annotations

import random
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
    generator = random.Random(seed)  # noqa: S311 - a seeded draw
    equivalent = read_equivalent()
    total = sum(SHARES.values())
    drawn: list[Mutant] = []
    for package, share in SHARES.items():
        kinds: dict[str, list[Mutant]] = defaultdict(list)
        for mutant in list_mutants(package):
            if mutant.key not in equivalent:
                kinds[mutant.operator].append(mutant)
        for some in kinds.values():
            generator.shuffle(some)
        wanted = round(count * share / total)
        while wanted and kinds:
            for operator in list(kinds):
                if wanted and kinds[operator]:
                    drawn.append(kinds[operator].pop())
                    wanted -= 1
                if not kinds[operator]:
                    del kinds[operator]
    return drawn


def list_mutants(package: str) -> list[Mutant]:
    """Every mutant of a package."""
    return [
        mutant
        for path in sorted((PACKAGE / package).rglob("*.py"))
        for mutant in find_mutants(path.relative_to(PACKAGE).as_posix(), path.read_bytes())
    ]


def read_known() -> dict[str, Mutant]:
    """The mutants that stand for a known mistake, by the name of the mistake."""
    entries = tomllib.loads(KNOWN.read_text(encoding="utf-8"))
    return {name: _locate(name, entry) for name, entry in entries.items()}


def _locate(name: str, entry: dict[str, str]) -> Mutant:
    source = (PACKAGE / entry["file"]).read_bytes()
    before = entry["before"].encode()
    if source.count(before) != 1:
        raise SystemExit(
            f"{name}: {entry['file']} holds {source.count(before)} times what it replaces"
        )
    start = source.index(before)
    line = source.count(b"\n", 0, start) + 1
    end = start + len(before)
    return Mutant(entry["file"], line, name, "known", entry["before"], entry["after"], start, end)


def read_equivalent() -> dict[str, str]:
    """The mutants that no test can notice, with the reason."""
    return tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")) if EQUIVALENT.exists() else {}
