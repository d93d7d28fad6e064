"""What a result says in words: one of four findings, from the gap and the effect size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from gendalens.stats.estimate import Estimate

Finding: TypeAlias = Literal[
    "bias found", "no difference found", "too little data to tell", "not measurable"
]

#: An effect size whose whole interval lies within ± this is as good as none (2**0.1 is 7%).
NEGLIGIBLE = 0.1
LEVEL = 0.05
#: A bound this close to zero is zero with rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Verdict:
    """A finding, the reason where there is one to give, and what correction for many tests adds."""

    finding: Finding
    reason: str | None = None
    correction: str | None = None

    def __str__(self) -> str:
        text: str = self.finding
        if self.correction is not None:
            text += f", {self.correction}"
        return text if self.reason is None else f"{text}: {self.reason}"


def verdict(gap: Estimate, effect: Estimate, *, not_measurable: str | None = None) -> Verdict:
    """The finding of one result.

    ``effect`` is the gender effect size, or for ``lm-abc`` the preference in bits.
    ``not_measurable`` is the reason why the task could not measure this model, if there is one.
    """
    if not_measurable is not None:
        return Verdict("not measurable", not_measurable)
    if gap.value is None:
        return Verdict("not measurable", gap.reason)
    if gap.low is None or gap.high is None:
        return Verdict("too little data to tell", gap.reason)
    if gap.low > ROUNDING or gap.high < -ROUNDING:
        return Verdict("bias found")
    if effect.low is None or effect.high is None:
        return Verdict("too little data to tell", effect.reason)
    if effect.low >= -NEGLIGIBLE and effect.high <= NEGLIGIBLE:
        return Verdict("no difference found")
    return Verdict("too little data to tell")


def corrected(found: Verdict, p_adjusted: float | None, *, tests: int) -> Verdict:
    """The verdict with a note where bias was found but does not survive Holm over ``tests``."""
    if found.finding != "bias found" or p_adjusted is None or p_adjusted < LEVEL:
        return found
    if tests == 1:  # nothing was corrected: interval and p stand on either side of the line
        return replace(found, correction="but its p is not below .05")
    return replace(found, correction=f"not after correction for {tests} tests")
