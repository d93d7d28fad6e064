"""The uncertainty that comes from how a chat model was asked.

Paraphrases are a sample of the ways to ask, crossed with the items. How far apart they are is seen from
the estimates θ₋ₖ without each of K paraphrases (the jackknife, Tukey 1958): their variance s², times
(K − 1)²/K, is B, what paraphrases add to the variance of the whole. For a mean, this equals the variance
of the estimates under each paraphrase alone, over K.

For a share of right answers it does not. The noise of single choices hides how a paraphrase shifts the
items: one alone is mostly ties, and the fewer there are, the closer together they seem. If one paraphrase
has ν times the variance of the items, B from estimates by m paraphrases is proportional to 1/(1 + ν/m).
The jackknife has it for m = K − 1, each paraphrase alone for m = 1, and for m = K follows
B/(1 − (r − 1)/(K (K − 2))), where r, the ratio of the two, is 1 for a mean and at most K − 1.

Part of s² comes from items that differ between paraphrases, which V_items contains already. On average it
is V_rest = Σ V(θ₋ₖ − θ̄) / (K − 1), from resamples of the items that all θ₋ₖ share. It is taken from s²,
so that V = V_items + B − B_rest. As for crossed clusters, V is never smaller than V_items or B.

The part of V that paraphrases add rests on K − 1 degrees of freedom, so each part keeps its own t, as
Cochran and Cox (1957) weigh them: (reach of the interval)² = t_items² V_items + t_(K−1)² (V − V_items).
Degrees of freedom after Satterthwaite cover too little (down to 92.6%), because chance makes s² small
and the degrees of freedom large at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import variance
from typing import Generic, NamedTuple, TypeVar

from scipy.special import stdtridf, stdtrit

from gendalens.stats.crossed import ROUNDING, CrossedEstimate, average_draws, make_estimate

_UPPER = 0.975  # the upper end of a 95% interval
Each = TypeVar("Each", covariant=True)
Other = TypeVar("Other")


class Paraphrase(NamedTuple, Generic[Each]):
    """What is known by one paraphrase alone, and by all the others without it."""

    alone: Each
    without: Each

    def map(self, function: Callable[[Each], Other]) -> Paraphrase[Other]:
        """What a function makes of both."""
        return Paraphrase(function(self.alone), function(self.without))


def add_spread(
    estimate: CrossedEstimate, paraphrases: Sequence[Paraphrase[CrossedEstimate | None]]
) -> CrossedEstimate:
    """An estimate whose interval and p allow for other paraphrases.

    ``paraphrases`` are the estimates by some of them, None where there is none. Bounds to which the
    interval was clipped must be set again.
    """
    error, df = estimate.standard_error, estimate.df
    alone, without = (
        _keep_defined(getattr(one, name) for one in paraphrases) for name in Paraphrase._fields
    )
    if estimate.value is None or error is None or df < 1 or len(without) < 2:
        return estimate
    count, items = len(paraphrases), error**2
    spread, scale = _find_variance(without), (count - 1) ** 2 / count
    if len(alone) > 1:
        scale *= _extrapolate(scale * spread, _find_variance(alone) / count, count)
    between, rest = scale * spread, scale * _find_rest(without, items)
    total = max(items + between - rest, items, between)
    if math.sqrt(total) <= ROUNDING * max(1.0, abs(estimate.value)):
        return estimate
    freedom = len(without) - 1
    return make_estimate(estimate.value, math.sqrt(total), _weigh(items, df, total, freedom))


def _keep_defined(estimates: Iterable[CrossedEstimate | None]) -> list[CrossedEstimate]:
    return [one for one in estimates if one is not None and one.value is not None]


def _find_variance(estimates: Sequence[CrossedEstimate]) -> float:
    return variance(one.value for one in estimates if one.value is not None)


def _extrapolate(without: float, alone: float, count: int) -> float:
    """How much larger B is for all paraphrases than for all but one, from that for one alone."""
    if count < 3 or without <= alone:
        return 1.0
    most = count - 1.0
    ratio = min(without / alone, most) if alone > 0 else most
    return 1 / (1 - (ratio - 1) / (count * (count - 2)))


def _find_rest(without: Sequence[CrossedEstimate], items: float) -> float:
    """What items add to the variance of the estimates without each paraphrase.

    Estimates without draws are taken for means: V(θ̄) is then V_items, and Σ V(θ₋ₖ) − K V_items is left.
    """
    draws = [one.draws for one in without if one.draws is not None]
    if len(draws) == len(without) and len({one.design for one in draws}) == 1:
        mean = average_draws(draws)
        return math.fsum((one - mean).variance for one in draws) / (len(draws) - 1)
    errors = [one.standard_error for one in without if one.standard_error is not None]
    if len(errors) < len(without):
        return 0.0
    return max(0.0, math.fsum(one**2 - items for one in errors) / (len(errors) - 1))


def _weigh(items: float, df: float, total: float, freedom: int) -> float:
    """The degrees of freedom at which t gives the reach of an interval with two sources of variance."""
    own, added = (float(stdtrit(one, _UPPER)) for one in (df, freedom))
    reach = math.sqrt((own**2 * items + added**2 * (total - items)) / total)
    return float(stdtridf(_UPPER, reach))
