"""The finding on two models: which of them leans further, if the data can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from gendalens.results.result import Contrast
from gendalens.stats.findings import LEVEL, ROUNDING
from gendalens.words import Message, Template, phrase

PairCode: TypeAlias = Literal["first_leans_further", "second_leans_further", "same", "unknown"]

LEANS_FURTHER = Template(
    "pair.leans_further", "{model} leans further to the male or pro-stereotypical side"
)
SAME = Template("pair.same", "cannot be told apart")
UNKNOWN = Template("pair.unknown", "cannot be told")
CORRECTED = Template("pair.corrected", "{finding}, but {correction}")
LOST_BY_CORRECTION = Template(
    "pair.lost_by_correction", "not after correction for {differences} differences"
)
P_ABOVE_LEVEL = Template("pair.p_above_level", "its p is not below .05")


@dataclass(frozen=True, slots=True)
class PairFinding:
    """Which of two models leans further, with a note if correction for many differences affects it.

    ``same`` means that no difference was found, ``unknown`` that there is no interval to judge by.
    """

    code: PairCode
    correction: Message | None = None

    def describe(self, first: str = "", second: str = "") -> Message:
        """The finding as a message, with names for the two models."""
        match self.code:
            case "first_leans_further":
                found = LEANS_FURTHER(model=first or phrase("the first"))
            case "second_leans_further":
                found = LEANS_FURTHER(model=second or phrase("the second"))
            case "same":
                found = SAME()
            case "unknown":
                found = UNKNOWN()
        if self.correction is None:
            return found
        return CORRECTED(finding=found, correction=self.correction)

    def __str__(self) -> str:
        return str(self.describe())

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data, with its English text."""
        return {
            "code": self.code,
            "correction": self.correction and self.correction.to_dict(),
            "text": str(self),
        }


NOTHING_KNOWN = PairFinding("unknown")


def judge_difference(gap: Contrast, differences: int) -> PairFinding:
    """The finding on a difference of gaps that is one of ``differences`` in the comparison."""
    if gap.low is None or gap.high is None:
        return NOTHING_KNOWN
    if gap.low <= ROUNDING and gap.high >= -ROUNDING:
        return PairFinding("same")
    code: PairCode = "first_leans_further" if gap.low > 0 else "second_leans_further"
    if gap.p_adjusted is None or gap.p_adjusted < LEVEL:
        return PairFinding(code)
    if differences > 1:
        return PairFinding(code, LOST_BY_CORRECTION(differences=differences))
    return PairFinding(code, P_ABOVE_LEVEL())
