"""Findings where most choices change with the order of the options: by log-odds alone.

A choice by the mean of both orders is then one that the model itself seldom makes. A lean of a hundredth
of a bit, if it is the same everywhere, would count as always taking one side. Log-odds keep its size.
"""

from __future__ import annotations

from dataclasses import replace

from gendalens.engine.trial_tally import ORDER_DECIDES
from gendalens.results.result import Measures
from gendalens.stats.evidence import Evidence
from gendalens.stats.findings import CHOICES_NOT_JUDGED, EffectFinding, Finding

_LOG_ODDS = "bits"
#: Refusals are counted, and do not depend on a choice.
_REFUSALS = "refusals"


def judge_log_odds(measures: Measures, flips: float) -> Measures:
    """The measures with findings that rest on log-odds; ``flips`` is how many choices change."""
    if measures.finding.not_judged is not None:
        return measures
    finding = _judge(measures.finding, flips)
    has_log_odds = any(one.unit == _LOG_ODDS for one in finding.evidence)
    warnings = (CHOICES_NOT_JUDGED(share=flips),) if has_log_odds else ()
    return replace(
        measures,
        finding=finding,
        warnings=(*measures.warnings, *warnings),
        alternatives=tuple(
            replace(one, finding=_judge(one.finding, flips)) for one in measures.alternatives
        ),
    )


def _judge(finding: Finding, flips: float) -> Finding:
    return replace(
        finding,
        main=_judge_effects(finding.main, flips),
        groups=_judge_effects(finding.groups, flips),
    )


def _judge_effects(part: EffectFinding, flips: float) -> EffectFinding:
    """The finding without figures that count choices; an effect without any other is in doubt."""
    kept = tuple(one for one in part.evidence if _is_kept(one))
    if len(kept) == len(part.evidence):
        return part
    lost = {one.effect for one in part.evidence} - {one.effect for one in kept}
    problem = part.problem if kept else part.problem or ORDER_DECIDES(share=flips)
    doubt = part.doubt or (ORDER_DECIDES(share=flips) if lost else None)
    return replace(part, evidence=kept, problem=problem, doubt=doubt)


def _is_kept(one: Evidence) -> bool:
    return one.unit == _LOG_ODDS or one.id == _REFUSALS
