"""Cells, contrasts and further figures as a result holds them."""

from __future__ import annotations

from typing import Any

from worked.messages import message
from worked.resampling import Figure

Plain = dict[str, Any]
PARTS = ("value", "low", "high", "p", "p_adjusted", "reason")


def extra(name_in_programs: str, name: Plain, unit: str, **more: Any) -> Plain:
    """A figure beside the headline."""
    empty = dict.fromkeys(("value", "low", "high", "n", "reason", "note"))
    return {"id": name_in_programs, "name": name, "unit": unit, **empty, **more}


def contrast(name: Plain, unit: str, **parts: Any) -> Plain:
    """A gap or contrast, with what is known of it."""
    return {"name": name, "unit": unit, **dict.fromkeys(PARTS), **parts}


def judged(evidence: Plain) -> Plain:
    """The gap or contrast that is part of the evidence."""
    parts = {part: evidence[part] for part in PARTS}
    return contrast(evidence["name"], evidence["unit"], **parts)


def cell(condition: str, group: str | None, metric: str, n: int, figure: Figure) -> Plain:
    """A cell of the condition table (no group) or of the nuance table."""
    return {
        "condition": condition,
        "group": group,
        "metric": metric,
        **figure.shown,
        "n": n,
        "brackets": "interval",
        "sd": None,
    }


def name_finding(finding: Plain) -> Plain:
    """The message of a finding's headline."""
    if finding["headline"] != "bias":
        return message(finding["headline"])
    sizes = [part["size"] for part in (finding["main"], finding["groups"]) if part["size"]]
    size = max(sizes, key=["small", "medium", "large"].index)
    if finding["main"]["is"] != "bias":
        return message("sized_bias_in_groups", size=size)
    code = "sized_bias_in_both" if finding["groups"]["is"] == "bias" else "sized_bias"
    return message(code, size=size)


def per_hundred(share: float) -> int:
    """How many of a hundred a share is, halves rounded up."""
    return int(100 * share + 0.5)


def value_of(plain: Plain, name_in_programs: str) -> Any:
    """The value of an extra figure."""
    (found,) = (one["value"] for one in plain["extra"] if one["id"] == name_in_programs)
    return found
