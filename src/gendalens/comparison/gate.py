"""The gate: whether models stay within limits, for decisions before a release.

A result is judged on its main effect and on its groups. Without limits of the user's, each figure is
held to its band, the largest effect that is too small to matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import reduce
from typing import Any, Literal, TypeAlias, get_args

from gendalens.errors import UserError
from gendalens.results.figures import show_contrast, show_interval
from gendalens.results.model_labels import label_models
from gendalens.results.result import Contrast, Result
from gendalens.results.signature import parse_signature
from gendalens.stats.evidence import Evidence
from gendalens.stats.findings import EffectFinding
from gendalens.tasks import get_task
from gendalens.tasks.bands import check_share
from gendalens.tasks.base import Task
from gendalens.words import Message, Template

Part: TypeAlias = Literal["main", "groups"]
PARTS: tuple[Part, ...] = get_args(Part)

NOT_MEASURABLE = Template("gate.not_measurable", "not measurable: {reason}")
NOT_JUDGED = Template("gate.not_judged", "not judged: {reason}")
NO_FIGURES = Template("gate.no_figures", "the test has no figures to judge it by")
NO_INTERVAL = Template("gate.no_interval", "{name} {figure} has no interval")
BEYOND = Template("gate.beyond", "{name} {figure} lies beyond ±{limit:g}")
WITHIN = Template("gate.within", "{name} {figure} lies within ±{limit:g}")
ACROSS = Template(
    "gate.across", "the interval of {name} {figure} crosses ±{limit:g}; more data may decide"
)
OF_PART = Template("gate.of_part", "{part}: {why}")
FURTHER_PART = Template("gate.further_part", "{first}; {last}")
PART_NAMES: dict[Part, Template] = {
    "main": Template("gate.main", "main effect"),
    "groups": Template("gate.groups", "groups"),
}


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
#: From worst to best.
_ORDER = (Decision.FAILS, Decision.CANNOT_TELL, Decision.PASSES)


@dataclass(frozen=True, slots=True)
class GapLimit:
    """A limit in a unit of one test; by default the unit of its gap, for main effect and groups."""

    test: str
    value: float
    part: Part | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a model may reach; every figure that no limit applies to is held to its band.

    ``effect`` is the largest absolute GES of the main effect in any test, and ``effects`` that of
    single tests. ``gaps`` are limits in the units of the tests; of several for the same figure, the
    one for its part alone counts.
    """

    effect: float | None = None
    effects: Mapping[str, float] = field(default_factory=dict)
    gaps: Sequence[GapLimit] = ()


@dataclass(frozen=True, slots=True)
class PartJudgement:
    """The decision on the main effect or the groups of one result, and the reason."""

    part: Part
    decision: Decision
    why: Message


@dataclass(frozen=True, slots=True)
class Judgement:
    """The decision on one test of one model: the worst over its parts."""

    model: str
    test: str
    parts: tuple[PartJudgement, ...]
    signature: str

    @property
    def decision(self) -> Decision:
        """The worst decision on a part."""
        return _find_worst(one.decision for one in self.parts)

    @property
    def why(self) -> Message:
        """The parts that decide, each with its reason; a reason that all parts share is given once."""
        if all(one.why == self.parts[0].why for one in self.parts):
            return self.parts[0].why
        deciding = [
            OF_PART(part=PART_NAMES[one.part](), why=one.why)
            for one in self.parts
            if one.decision is self.decision
        ]
        return reduce(lambda first, last: FURTHER_PART(first=first, last=last), deciding)


def judge(
    results: Sequence[Result], limits: Limits | None = None, *, parts: Sequence[Part] = PARTS
) -> list[Judgement]:
    """Judge each result by the limits, on its main effect and on its groups.

    A part fails if the whole interval of a figure lies beyond its limit on one side. It passes if
    every effect lies within the limits by the rule for negligible effects, with the limits in place
    of the bands. Otherwise the data cannot tell.
    """
    limits = limits or Limits()
    _check(limits, results)
    return [
        Judgement(
            label,
            f"{result.task}@{result.protocol}",
            tuple(_judge_parts(result, limits, parts)),
            result.signature,
        )
        for label, result in zip(label_models(results), results, strict=True)
    ]


def decide(judgements: Sequence[Judgement]) -> Decision:
    """The overall decision: any failure fails it; else any inconclusive result leaves it open."""
    return _find_worst(one.decision for one in judgements)


def _find_worst(decisions: Iterator[Decision]) -> Decision:
    found = set(decisions)
    return next(decision for decision in _ORDER if decision in found)


def _check(limits: Limits, results: Sequence[Result]) -> None:
    """Refuse limits that are no positive number, or for a test that the results do not hold."""
    named = {"--max-effect": limits.effect} if limits.effect is not None else {}
    named |= {**limits.effects, **{one.test: one.value for one in limits.gaps}}
    for name, value in named.items():
        if not 0 < value < float("inf"):
            raise UserError(
                "The limit of {name} is {value:g}; it must be a number above 0.",
                name=name,
                value=value,
            )
    tests = {result.task for result in results}
    limited = {*limits.effects, *(one.test for one in limits.gaps)}
    if unknown := sorted(limited - tests):
        raise UserError(
            "A limit is set for {name}, and the run holds no such test; it holds {tests}.",
            name=repr(unknown[0]),
            tests=tuple(sorted(tests)),
        )


def _judge_parts(result: Result, limits: Limits, parts: Sequence[Part]) -> Iterator[PartJudgement]:
    """The decision on each part; a part without figures is left out if the other has some."""
    has_figures = {part: bool(getattr(result.finding, part).evidence) for part in parts}
    for part in parts:
        if has_figures[part] or not any(has_figures.values()):
            yield PartJudgement(part, *_decide(result, part, limits))


#: A decision and its reason.
Decided: TypeAlias = tuple[Decision, Message]


def _decide(result: Result, part: Part, limits: Limits) -> Decided:
    finding: EffectFinding = getattr(result.finding, part)
    if result.finding.not_judged:
        return Decision.CANNOT_TELL, NOT_JUDGED(reason=result.finding.not_judged)
    if finding.problem:
        return Decision.CANNOT_TELL, NOT_MEASURABLE(reason=finding.problem)
    if not finding.evidence:
        return Decision.CANNOT_TELL, NO_FIGURES()
    task = get_task(result.task, result.protocol)
    gap_limits = _find_gap_limits(task, part, limits)
    limited = finding.set_bands(_limit_figures(task, result, finding.evidence, gap_limits))
    effect_limit = limits.effects.get(result.task, limits.effect) if part == "main" else None
    effects = () if effect_limit is None else task.limited_effects(result)
    decided = [_decide_effect(one, effect_limit or 0.0) for one in effects]
    # A ratio is undefined if a side is zero, which is no reason to pass: then the gap decides.
    if not effects or None in decided or gap_limits:
        decided.append(_decide_figures(limited))
    made = [one for one in decided if one is not None]
    worst = _find_worst(decision for decision, _ in made)
    if worst is not Decision.FAILS and limited.verdict == "not_measurable" and limited.reason:
        return Decision.CANNOT_TELL, NOT_MEASURABLE(reason=limited.reason)
    return next(one for one in made if one[0] is worst)


def _find_gap_limits(task: Task[Any], part: Part, limits: Limits) -> dict[str, float]:
    """The user's limits for one part of a test, by unit; those for the part alone come last."""
    found: dict[str, float] = {}
    for wanted in (None, part):
        for one in limits.gaps:
            if one.test != task.card.name or one.part != wanted:
                continue
            unit = task.choose_unit(one.unit)
            check_share(unit, one.value, task.card.id)
            found[unit] = one.value
    return found


def _limit_figures(
    task: Task[Any], result: Result, evidence: Sequence[Evidence], limits: Mapping[str, float]
) -> Iterator[float]:
    """The limit of each figure: the user's for its unit, else its band.

    A figure whose band is a multiple of the test's, such as the difference of two gaps, has the same
    multiple of the limit.
    """
    banded = task.read_bands(parse_signature(result.signature))
    for one in evidence:
        if one.unit in limits:
            yield limits[one.unit] * one.band / banded.band(one.unit)
        else:
            yield one.band


def _decide_effect(effect: Contrast, limit: float) -> Decided | None:
    """The decision on a log2 ratio; None if it has no interval."""
    if effect.low is None or effect.high is None:
        return None
    if effect.low > limit or effect.high < -limit:
        decision, template = Decision.FAILS, BEYOND
    elif effect.low >= -limit and effect.high <= limit:
        decision, template = Decision.PASSES, WITHIN
    else:
        decision, template = Decision.CANNOT_TELL, ACROSS
    return decision, template(name=effect.name, figure=show_interval(effect), limit=limit)


def _decide_figures(limited: EffectFinding) -> Decided:
    """The decision on figures whose bands are the limits."""
    beyond = [one for one in limited.evidence if one.inner_bound > one.band]
    if beyond:
        worst = max(beyond, key=lambda one: one.inner_bound / one.band)
        return Decision.FAILS, _explain(BEYOND, worst)
    if limited.is_within_bands:
        return Decision.PASSES, _explain(WITHIN, limited.evidence[-1])
    open_ones = [one for one in limited.evidence if one.verdict != "negligible"]
    if all(one.low is None for one in open_ones):
        return Decision.CANNOT_TELL, _explain(NO_INTERVAL, open_ones[-1])
    return Decision.CANNOT_TELL, _explain(ACROSS, open_ones[-1])


def _explain(template: Template, figure: Evidence) -> Message:
    return template(name=figure.name, figure=show_contrast(figure), limit=figure.band)
