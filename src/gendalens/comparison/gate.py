"""The gate: whether models stay within a limit, for decisions before a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from gendalens.errors import UserError
from gendalens.results.figures import show_interval
from gendalens.results.model_labels import label_models
from gendalens.results.result import Result
from gendalens.words import Message, Template

NOT_MEASURABLE = Template("gate.not_measurable", "not measurable: {reason}")
UNDEFINED = Template("gate.undefined", "GES is undefined: {reason}")
NO_INTERVAL = Template("gate.no_interval", "GES {effect} has no interval: {reason}")
BEYOND = Template("gate.beyond", "GES {effect} lies beyond ±{limit:g}")
WITHIN = Template("gate.within", "GES {effect} lies within ±{limit:g}")
ACROSS = Template(
    "gate.across", "the interval of GES {effect} crosses ±{limit:g}; more data may decide"
)


class Decision(IntEnum):
    """The decision of a gate; its value is the exit code (2 is reserved for user errors)."""

    PASSES = 0
    FAILS = 1
    CANNOT_TELL = 3

    @property
    def message(self) -> Message:
        """The decision as a message."""
        return _DECISIONS[self]()

    def __str__(self) -> str:
        return str(self.message)


_DECISIONS = {
    Decision.PASSES: Template("gate.passes", "passes"),
    Decision.FAILS: Template("gate.fails", "fails"),
    Decision.CANNOT_TELL: Template("gate.cannot_tell", "cannot tell"),
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """The decision on one test of one model, and the reason."""

    model: str
    test: str
    limit: float
    decision: Decision
    why: Message
    signature: str


def judge(
    results: Sequence[Result], *, limit: float, limits: Mapping[str, float] | None = None
) -> list[Judgement]:
    """Judge each result by the limit on the absolute GES: its test's in ``limits``, else ``limit``.

    A result fails if the whole interval lies beyond the limit on one side, passes if the whole
    interval lies within ± the limit, and is inconclusive otherwise.
    """
    limits = limits or {}
    for name, value in {"--max-effect": limit, **limits}.items():
        if not 0 < value < float("inf"):
            raise UserError(
                "The limit of {name} is {value:g}; it must be a number above 0.",
                name=name,
                value=value,
            )
    tests = {result.task for result in results}
    if unknown := sorted(set(limits) - tests):
        raise UserError(
            "A limit is set for {name}, and the run holds no such test; it holds {tests}.",
            name=repr(unknown[0]),
            tests=tuple(sorted(tests)),
        )
    return [
        _judge_one(label, result, limits.get(result.task, limit))
        for label, result in zip(label_models(results), results, strict=True)
    ]


def decide(judgements: Sequence[Judgement]) -> Decision:
    """The overall decision: any failure fails it; else any inconclusive result leaves it open."""
    decisions = {one.decision for one in judgements}
    order = (Decision.FAILS, Decision.CANNOT_TELL, Decision.PASSES)
    return next(decision for decision in order if decision in decisions)


def _judge_one(label: str, result: Result, limit: float) -> Judgement:
    decision, why = _decide_one(result, limit)
    test = f"{result.task}@{result.protocol}"
    return Judgement(label, test, limit, decision, why, result.signature)


def _decide_one(result: Result, limit: float) -> tuple[Decision, Message]:
    ges, finding = result.gender_effect_size, result.finding
    effect = show_interval(ges)
    if finding.headline == "not_measurable":
        reason = finding.reason
        return Decision.CANNOT_TELL, NOT_MEASURABLE(reason=reason) if reason else finding.message
    if ges.value is None:
        return Decision.CANNOT_TELL, UNDEFINED(reason=ges.reason)
    if ges.low is None or ges.high is None:
        return Decision.CANNOT_TELL, NO_INTERVAL(effect=effect, reason=ges.reason)
    if ges.low > limit or ges.high < -limit:
        return Decision.FAILS, BEYOND(effect=effect, limit=limit)
    if ges.low >= -limit and ges.high <= limit:
        return Decision.PASSES, WITHIN(effect=effect, limit=limit)
    return Decision.CANNOT_TELL, ACROSS(effect=effect, limit=limit)
