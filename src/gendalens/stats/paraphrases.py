"""The uncertainty that comes from how a chat model was asked.

Paraphrases are a sample of the ways to ask, crossed with the items. The estimates under each of K
paraphrases alone vary by s², so that V = V_items + s²/K − V_rest, where V_rest is what both terms
contain: how much the items differ between paraphrases, (mean of the V_items under one paraphrase −
V_items) / (K − 1). As for crossed clusters, V is never smaller than V_items or s²/K. The degrees of
freedom are those of Welch and Satterthwaite, with K − 1 between paraphrases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, variance

from gendalens.stats.crossed import ROUNDING, CrossedEstimate, make_estimate


def add_spread(
    estimate: CrossedEstimate, values: Sequence[float], errors: Sequence[float]
) -> CrossedEstimate:
    """An estimate whose interval and p allow for other paraphrases.

    ``values`` and ``errors`` are the estimates under each paraphrase alone and their standard errors.
    Bounds to which the interval was clipped must be set again.
    """
    error, df = estimate.standard_error, estimate.df
    if estimate.value is None or error is None or df < 1 or len(values) < 2:
        return estimate
    freedom = len(values) - 1
    items, between = error**2, variance(values) / len(values)
    rest = max(0.0, (fmean(one**2 for one in errors) - items) / freedom) if errors else 0.0
    total = max(items + between - rest, items, between)
    if math.sqrt(total) <= ROUNDING * max(1.0, abs(estimate.value)):
        return estimate
    welch = total**2 / (items**2 / df + (total - items) ** 2 / freedom)
    return make_estimate(estimate.value, math.sqrt(total), welch)
