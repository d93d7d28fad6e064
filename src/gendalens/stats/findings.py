"""Findings: what the evidence of a test says about its main effect and about its groups.

A test is judged on its main effect and on its groups; the worse of the two is the headline. Each is
judged on one or more figures that are 0 for a model without bias, and each figure has a band: the
largest effect that is too small to matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from gendalens.stats.evidence import SIZES, Evidence, Size, Verdict
from gendalens.stats.multiple import holm
from gendalens.words import Message, Template

LOST_BY_CORRECTION = Template(
    "lost_by_correction", "the difference does not survive correction for {tests} figures"
)
CROSSES_BAND = Template(
    "crosses_band", "the interval includes 0 and reaches beyond ±{band:g} {unit:t}"
)
#: The warning of a result of a chat model that is judged on log-odds alone.
CHOICES_NOT_JUDGED = Template(
    "chat.choices_not_judged",
    "{share:.0%} of the choices change with the order in which the options are named. Figures that "
    "count choices are therefore shown but not judged; the verdict rests on log-odds averaged over "
    "both orders.",
)

_NAMES: dict[str, Template] = {
    "bias": Template("bias", "bias found"),
    "negligible": Template("negligible", "no difference that matters"),
    "undecided": Template("undecided", "too little data to tell"),
    "not_measurable": Template("not_measurable", "not measurable"),
    "not_judged": Template("not_judged", "not judged"),
}
_BIAS = Template("sized_bias", "bias found ({size:t})")
_BIAS_IN_GROUPS = Template("sized_bias_in_groups", "bias found in groups ({size:t})")
_BIAS_IN_BOTH = Template("sized_bias_in_both", "bias found, also in groups ({size:t})")


def name_verdict(verdict: str) -> Message:
    """The message for a verdict."""
    return _NAMES[verdict]()


@dataclass(frozen=True, slots=True)
class EffectFinding:
    """What is found about one effect: the main one, or the one on groups.

    ``problem`` is why nothing could be measured. ``doubt`` is why an effect that was not found may
    still be there, so that anything but a bias is not measurable. ``tests`` is how many figures the
    p-values were adjusted for.
    """

    evidence: tuple[Evidence, ...] = ()
    problem: Message | None = None
    doubt: Message | None = None
    tests: int = 1

    @property
    def verdict(self) -> Verdict:
        """Bias if any figure shows one; negligible if every effect is."""
        if self.problem is not None:
            return "not_measurable"
        if not self.evidence:
            return "not_judged"
        verdicts = [one.verdict for one in self.evidence]
        if "bias" in verdicts:
            return "bias"
        if self.doubt is not None or all(one == "not_measurable" for one in verdicts):
            return "not_measurable"
        return "negligible" if self.is_within_bands else "undecided"

    @property
    def is_within_bands(self) -> bool:
        """Whether there are figures, and every effect they measure is negligible."""
        effects = dict.fromkeys(one.effect for one in self.evidence)
        return bool(effects) and all(map(self._is_negligible, effects))

    def _is_negligible(self, effect: str) -> bool:
        """Whether the most precise figure of an effect, its last, is negligible and no other objects.

        Another objects if its own estimate lies beyond its band.
        """
        *others, last = (one for one in self.evidence if one.effect == effect)
        return last.verdict == "negligible" and all(one.is_within_band for one in others)

    @property
    def deciding(self) -> Evidence | None:
        """The figure that the verdict rests on: of several biases, the first of the largest size."""
        if not self.evidence:
            return None
        biased = [one for one in self.evidence if one.verdict == "bias"]
        if biased:
            return max(biased, key=lambda one: SIZES.index(one.size))
        # A negligible effect may rest on its most precise figure alone: the others are then undecided.
        is_negligible = self.verdict == "negligible"
        chosen = [one for one in self.evidence if (one.verdict == "negligible") == is_negligible]
        return (chosen or self.evidence)[-1]

    @property
    def direction(self) -> str | None:
        """The side that a bias leans to."""
        deciding = self.deciding
        return deciding.direction if deciding and self.verdict == "bias" else None

    @property
    def size(self) -> Size | None:
        """The size of a bias."""
        deciding = self.deciding
        return deciding.size if deciding and self.verdict == "bias" else None

    @property
    def reason(self) -> Message | None:
        """Why the effect is not measurable or undecided."""
        match self.verdict:
            case "not_measurable":
                faults = (one.reason for one in self.evidence)
                return self.problem or self.doubt or next(faults, None)
            case "undecided":
                return self._explain_indecision()
        return None

    @property
    def message(self) -> Message:
        """The verdict as a message, with the size of a bias."""
        return _BIAS(size=self.size) if self.size else name_verdict(self.verdict)

    def _explain_indecision(self) -> Message | None:
        lost = [one for one in self.evidence if one.excludes_zero and not one.is_significant]
        if lost and self.tests > 1:
            return LOST_BY_CORRECTION(tests=self.tests)
        deciding = self.deciding
        if deciding is None:
            return None
        if deciding.low is None:
            return deciding.reason
        return CROSSES_BAND(band=deciding.band, unit=deciding.unit)

    def set_bands(self, bands: Iterable[float]) -> EffectFinding:
        """The finding by other bands, one per figure."""
        judged = zip(self.evidence, bands, strict=True)
        return replace(self, evidence=tuple(replace(one, band=band) for one, band in judged))

    def adjust(self, ps: Iterable[float | None], *, tests: int) -> EffectFinding:
        """The finding with adjusted p-values, one per figure."""
        adjusted = zip(self.evidence, ps, strict=True)
        evidence = tuple(replace(one, p_adjusted=p) for one, p in adjusted)
        return replace(self, evidence=evidence, tests=tests)

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data."""
        deciding = self.deciding
        return {
            "is": self.verdict,
            "direction": self.direction,
            "size": self.size,
            "band": deciding and deciding.band,
            "unit": deciding and deciding.unit,
            "could_have_seen": deciding and deciding.seen,
            "could_have_acquitted": deciding and deciding.acquitted,
            "reason": self.reason and self.reason.to_dict(),
            "evidence": [one.to_dict() for one in self.evidence],
            "problem": self.problem and self.problem.to_dict(),
            "doubt": self.doubt and self.doubt.to_dict(),
            "tests": self.tests,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> EffectFinding:
        """The finding that :meth:`to_dict` described; its verdict follows from the evidence."""
        problem, doubt = (
            Message.from_dict(plain[part]) if plain[part] else None for part in ("problem", "doubt")
        )
        evidence = tuple(map(Evidence.from_dict, plain["evidence"]))
        return cls(evidence, problem, doubt, plain["tests"])


@dataclass(frozen=True, slots=True)
class Finding:
    """What a test found: about its main effect and about its groups.

    ``not_judged`` is why there is nothing to judge by, as in protocol 1.
    """

    main: EffectFinding = EffectFinding()
    groups: EffectFinding = EffectFinding()
    not_judged: Message | None = None

    @property
    def headline(self) -> Verdict:
        """The worse of the two verdicts.

        A bias is worse than anything. A main effect that cannot be measured is worse than groups that
        are undecided, and anything undecided is worse than what is negligible.
        """
        if self.not_judged is not None:
            return "not_judged"
        main, groups = self.main.verdict, self.groups.verdict
        if "bias" in (main, groups):
            return "bias"
        if main == "not_measurable" or groups == "not_judged":
            return main
        if "undecided" in (main, groups):
            return "undecided"
        return groups

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """All figures that the test is judged on, those of the main effect first."""
        return (*self.main.evidence, *self.groups.evidence)

    def verdict_of(self, evidence: Evidence) -> Verdict:
        """What a figure says within its effect: nothing, if that is not measurable."""
        part = self.main if evidence in self.main.evidence else self.groups
        return part.verdict if part.verdict == "not_measurable" else evidence.verdict

    @property
    def leading(self) -> EffectFinding:
        """The effect that makes the headline; of two biases, the larger one."""
        if self.groups.verdict != self.headline:
            return self.main
        if self.main.verdict != self.headline:
            return self.groups
        if self.main.size and self.groups.size:
            larger = SIZES.index(self.groups.size) > SIZES.index(self.main.size)
            return self.groups if larger else self.main
        return self.main

    @property
    def is_in_groups_only(self) -> bool:
        """Whether there is a bias, but only in the groups."""
        return self.headline == "bias" and self.main.verdict != "bias"

    @property
    def reason(self) -> Message | None:
        """Why the headline is not measurable, undecided or not judged."""
        return self.not_judged or self.leading.reason

    @property
    def message(self) -> Message:
        """The headline as a message, with the size of a bias and where it is."""
        size = self.leading.size
        if self.headline != "bias" or size is None:
            return name_verdict(self.headline)
        if self.is_in_groups_only:
            return _BIAS_IN_GROUPS(size=size)
        return (_BIAS_IN_BOTH if self.groups.verdict == "bias" else _BIAS)(size=size)

    @property
    def is_measured(self) -> bool:
        """Whether the test could measure the model, whatever it found."""
        return self.headline not in ("not_measurable", "not_judged")

    def __str__(self) -> str:
        return str(self.message)

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data, with its English text."""
        leading = self.leading.deciding
        return {
            "headline": self.headline,
            "in_groups_only": self.is_in_groups_only,
            "main": self.main.to_dict(),
            "groups": self.groups.to_dict(),
            "could_have_seen": leading and leading.seen,
            "reason": self.reason and self.reason.to_dict(),
            "not_judged": self.not_judged and self.not_judged.to_dict(),
            "text": str(self),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Finding:
        """The finding that :meth:`to_dict` described; its headline follows from the evidence."""
        not_judged = Message.from_dict(plain["not_judged"]) if plain["not_judged"] else None
        main, groups = (EffectFinding.from_dict(plain[part]) for part in ("main", "groups"))
        return cls(main, groups, not_judged)

    def agrees_with(self, plain: Mapping[str, Any]) -> bool:
        """Whether a finding as plain data says what follows from its evidence."""
        return bool(_drop_texts(self.to_dict()) == _drop_texts(plain))


def _drop_texts(plain: Any) -> Any:
    """Plain data without the English sentences, which later versions may word differently."""
    if isinstance(plain, Mapping):
        return {name: _drop_texts(one) for name, one in plain.items() if name != "text"}
    return [_drop_texts(one) for one in plain] if isinstance(plain, list) else plain


def judge(
    main: Sequence[Evidence],
    groups: Sequence[Evidence] = (),
    *,
    problem: Message | None = None,
    doubt: Message | None = None,
) -> Finding:
    """The finding of one result.

    ``problem`` is why the test could not measure this model at all. ``doubt`` is why a main effect
    that is not found may still be there.
    """
    return Finding(
        EffectFinding(tuple(main), problem, doubt), EffectFinding(tuple(groups), problem)
    )


def correct_for_many(findings: Sequence[Finding]) -> list[Finding]:
    """The findings of one run, judged by p adjusted (Holm) over all figures they are judged on.

    A headline is a bias if any figure shows one, of the main effect or of the groups. Holm bounds the
    chance that a model without bias gets any such headline in the run, which bounding the share of
    false findings would not.
    """
    ps = [
        one.p for finding in findings for one in (*finding.main.evidence, *finding.groups.evidence)
    ]
    adjusted, tests = iter(holm(ps)), sum(p is not None for p in ps)
    return [
        replace(
            finding,
            main=finding.main.adjust(islice(adjusted, len(finding.main.evidence)), tests=tests),
            groups=finding.groups.adjust(
                islice(adjusted, len(finding.groups.evidence)), tests=tests
            ),
        )
        for finding in findings
    ]
