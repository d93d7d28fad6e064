"""The uncertainty that comes from how a chat model was asked.

Paraphrases are a sample of the ways to ask, crossed with the items. The estimates under each of K
paraphrases alone vary by s², so that V = V_items + s²/K − V_rest, where V_rest is what both terms
contain: how much the items differ between paraphrases, (mean of the V_items under one paraphrase −
V_items) / (K − 1). As for crossed clusters, V is never smaller than V_items or s²/K.

The part of V that paraphrases add rests on K − 1 degrees of freedom, so each part keeps its own t, as
Cochran and Cox (1957) weigh them: (reach of the interval)² = t_items² V_items + t_(K−1)² (V − V_items).
Degrees of freedom after Satterthwaite cover too little (down to 92.6%), because chance makes s² small
and the degrees of freedom large at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, variance

from scipy.special import stdtridf, stdtrit

from gendalens.stats.crossed import ROUNDING, CrossedEstimate, make_estimate

_UPPER = 0.975  # the upper end of a 95% interval


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
    return make_estimate(estimate.value, math.sqrt(total), _weigh(items, df, total, freedom))


def _weigh(items: float, df: float, total: float, freedom: int) -> float:
    """The degrees of freedom at which t gives the reach of an interval with two sources of variance."""
    own, added = (float(stdtrit(one, _UPPER)) for one in (df, freedom))
    reach = math.sqrt((own**2 * items + added**2 * (total - items)) / total)
    return float(stdtridf(_UPPER, reach))
