"""The comparison of two runs: every word, and every number to within 1e-6."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TOLERANCE = 1e-6


def runs_differ(one: Path, other: Path, tolerance: float = TOLERANCE) -> str | None:
    """Where the results in two run folders differ; None if they are equal."""
    names = [_results(folder) for folder in (one, other)]
    if names[0] != names[1]:
        return f"{names[0] ^ names[1]} in one run only"
    for name in sorted(names[0]):
        plain = [json.loads((folder / name).read_text("utf-8")) for folder in (one, other)]
        if where := differ(*plain, tolerance=tolerance):
            return f"{name}: {where}"
    return None


def differ(one: Any, other: Any, where: str = "", *, tolerance: float = TOLERANCE) -> str | None:
    """Where two pieces of plain data differ; None if they are equal."""
    if isinstance(one, dict) and isinstance(other, dict):
        if list(one) != list(other):
            return f"{where}: other names"
        pairs = [(one[name], other[name], f"{where}/{name}") for name in one]
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return f"{where}: other length"
        pairs = [(a, b, f"{where}/{i}") for i, (a, b) in enumerate(zip(one, other, strict=True))]
    elif isinstance(one, float) and isinstance(other, float):
        near = abs(one - other) <= tolerance * max(1.0, abs(one))
        return None if near else f"{where}: {one} and {other}"
    else:
        return None if one == other else f"{where}: {one!r} and {other!r}"
    found = (differ(a, b, place, tolerance=tolerance) for a, b, place in pairs)
    return next(filter(None, found), None)


def _results(folder: Path) -> frozenset[str]:
    return frozenset(str(path.relative_to(folder)) for path in folder.rglob("result.json"))
