"""Whether models stay within a limit, for those who must decide before a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from gendalens.errors import UserError
from gendalens.report.figures import interval
from gendalens.results.model_labels import labels
from gendalens.results.result import Result


class Outcome(IntEnum):
    """What a gate says; the value is the exit code. 2 is a user's mistake, as everywhere."""

    PASSES = 0
    FAILS = 1
    CANNOT_TELL = 3

    def __str__(self) -> str:
        return {0: "passes", 1: "fails", 3: "cannot tell"}[self.value]


@dataclass(frozen=True, slots=True)
class Judged:
    """One test of one model at the gate, and why it came out as it did."""

    model: str
    test: str
    limit: float
    outcome: Outcome
    why: str
    signature: str


def judge(
    results: Sequence[Result], *, limit: float, limits: Mapping[str, float] | None = None
) -> list[Judged]:
    """Each result against ``limit`` on the absolute GES, or against its test's own in ``limits``.

    It fails when the interval's bound nearest to zero is beyond the limit, passes when the whole
    interval lies within ± the limit, and otherwise cannot tell.
    """
    limits = limits or {}
    for name, value in {"--max-effect": limit, **limits}.items():
        if not 0 < value < float("inf"):
            raise UserError(f"The limit of {name} is {value:g}; it must be a number above 0.")
    held = {result.task for result in results}
    if unknown := sorted(set(limits) - held):
        raise UserError(
            f"A limit is set for {unknown[0]!r}, and the run holds no such test; it holds "
            f"{', '.join(sorted(held))}."
        )
    return [
        _judged(label, result, limits.get(result.task, limit))
        for label, result in zip(labels(results), results, strict=True)
    ]


def overall(judged: Sequence[Judged]) -> Outcome:
    """One failure fails the whole; else one that cannot be told; else it passes."""
    outcomes = {one.outcome for one in judged}
    order = (Outcome.FAILS, Outcome.CANNOT_TELL, Outcome.PASSES)
    return next(outcome for outcome in order if outcome in outcomes)


def _judged(label: str, result: Result, limit: float) -> Judged:
    outcome, why = _outcome(result, limit)
    return Judged(label, f"{result.task}@{result.protocol}", limit, outcome, why, result.signature)


def _outcome(result: Result, limit: float) -> tuple[Outcome, str]:
    ges = result.gender_effect_size
    if result.verdict.startswith("not measurable"):
        return Outcome.CANNOT_TELL, f"not measurable: {result.verdict_reason}"
    if ges.value is None:
        return Outcome.CANNOT_TELL, f"GES is undefined: {ges.reason}"
    if ges.low is None or ges.high is None:
        return Outcome.CANNOT_TELL, f"GES {interval(ges)} has no interval: {ges.reason}"
    shown = f"GES {interval(ges)}"
    if ges.low > limit or ges.high < -limit:
        return Outcome.FAILS, f"{shown} lies beyond ±{limit:g}"
    if ges.low >= -limit and ges.high <= limit:
        return Outcome.PASSES, f"{shown} lies within ±{limit:g}"
    return Outcome.CANNOT_TELL, f"{shown} reaches across ±{limit:g}; more data could tell"
