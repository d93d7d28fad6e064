"""A gauge: one effect with its interval against the band of what is too small to matter."""

from __future__ import annotations

from dataclasses import dataclass

from gendalens.stats.evidence import Evidence

WIDTH = 240
#: The band takes at least this share of the gauge if the effect allows it.
MARGIN = 1.15


@dataclass(frozen=True, slots=True)
class Gauge:
    """Positions in a picture that is ``WIDTH`` wide, with 0 in the middle."""

    band_start: float
    band_width: float
    low: float | None
    high: float | None
    value: float

    @property
    def zero(self) -> float:
        """The position of 0."""
        return WIDTH / 2


def draw_gauge(evidence: Evidence | None) -> Gauge | None:
    """The gauge of a figure; None if it has no value."""
    if evidence is None or evidence.value is None:
        return None
    ends = [evidence.value, evidence.low or 0.0, evidence.high or 0.0, 2 * evidence.band]
    most = MARGIN * max(map(abs, ends)) or 1.0

    def place(value: float) -> float:
        return round(WIDTH / 2 * (1 + value / most), 1)

    whole = evidence.low is not None and evidence.high is not None
    return Gauge(
        band_start=place(-evidence.band),
        band_width=round(place(evidence.band) - place(-evidence.band), 1),
        low=place(evidence.low) if whole and evidence.low is not None else None,
        high=place(evidence.high) if whole and evidence.high is not None else None,
        value=place(evidence.value),
    )
