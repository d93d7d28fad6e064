"""How a model's leanings by occupation compare with the Danish labour market, as further figures."""

from __future__ import annotations

from collections.abc import Mapping

from gendalens.results.result import Extra
from gendalens.stats.bootstrap import RESAMPLES
from gendalens.stats.crossed import CrossedEstimate
from gendalens.stats.labour_market import follow_labour_market
from gendalens.tasks.views import Leanings
from gendalens.words import N_, Message, Template

CORRELATION = Template(
    "figure.labour_market_correlation", "leaning and share of women in Denmark, correlation"
)
SLOPE = Template("figure.labour_market_slope", "leaning against the labour market, slope")
UNITS = (N_("correlation"), N_("slope"))

CORRELATION_NOTE = Template(
    "note.labour_market_correlation",
    "how closely the leaning follows the share of women in an occupation, by the number of its "
    "sentences; how strongly it does so is the slope",
)
EXAGGERATES = Template(
    "note.labour_market_exaggerates",
    "1 is the labour market itself: above 1, the model exaggerates it",
)
MIRRORS = Template(
    "note.labour_market_mirrors",
    "1 is the labour market itself: the model mirrors it, and 0 is ruled out",
)
WEAKENS = Template(
    "note.labour_market_weakens",
    "1 is the labour market itself: between 0 and 1, the model follows it in part",
)
IGNORES = Template(
    "note.labour_market_ignores",
    "1 is the labour market itself and ruled out: about 0, the model ignores it",
)
REVERSES = Template(
    "note.labour_market_reverses",
    "1 is the labour market itself: below 0, the model leans against it",
)
OPEN = Template(
    "note.labour_market_open",
    "1 is the labour market itself, 0 a model that ignores it: the interval rules out neither",
)


def measure_labour_market(
    leanings: Leanings, shares: Mapping[str, float], *, seed: int, resamples: int = RESAMPLES
) -> list[Extra]:
    """Correlation and slope, or nothing if too few occupations have a figure (in per cent)."""
    known = [name for name in leanings.by_occupation if name in shares]
    found = follow_labour_market(
        [leanings.by_occupation[name] for name in known],
        [shares[name] / 100 for name in known],
        [leanings.counts.get(name, 1) for name in known],
        unit=leanings.unit,
        seed=seed,
        resamples=resamples,
    )
    if found is None:
        return []
    return [
        Extra(
            id="labour_market_correlation",
            name=CORRELATION(),
            unit="correlation",
            n=found.occupations,
            note=CORRELATION_NOTE(),
            **found.correlation.parts(),
        ),
        Extra(
            id="labour_market_slope",
            name=SLOPE(),
            unit="slope",
            n=found.occupations,
            note=describe_slope(found.slope),
            **found.slope.parts(),
        ),
    ]


def describe_slope(slope: CrossedEstimate) -> Message | None:
    """Whether the model mirrors, exaggerates, weakens, ignores or reverses the labour market."""
    low, high = slope.low, slope.high
    if low is None or high is None:
        return None
    if high < 0:
        return REVERSES()
    if low > 1:
        return EXAGGERATES()
    if low > 0:
        return WEAKENS() if high < 1 else MIRRORS()
    return IGNORES() if high < 1 else OPEN()
