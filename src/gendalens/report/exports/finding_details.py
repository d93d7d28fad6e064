"""A finding as plain details, for formats that hold a score and what belongs to it."""

from __future__ import annotations

from gendalens.stats.findings import Finding


def list_finding_details(finding: Finding) -> dict[str, str]:
    """The headline, and what was found about the main effect and about the groups, in English."""
    details = {"finding": finding.headline, "verdict": str(finding)}
    for part, effect in (("main", finding.main), ("groups", finding.groups)):
        deciding = effect.deciding
        found = {
            "finding": effect.verdict,
            "direction": effect.direction,
            "size": effect.size,
            "band": deciding and f"{deciding.band:g} {deciding.unit}",
        }
        details |= {f"{part}_{name}": text for name, text in found.items() if text}
    return details
