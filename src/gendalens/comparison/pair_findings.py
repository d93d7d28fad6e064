"""The finding on two models: which of them leans further, and whether they differ in groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from gendalens.results.result import Contrast
from gendalens.stats.evidence import LEVEL, ROUNDING
from gendalens.words import Message, Template, phrase

MainCode: TypeAlias = Literal["first_leans_further", "second_leans_further", "same", "unknown"]
GroupsCode: TypeAlias = Literal["differ", "same", "unknown"]

LEANS_FURTHER = Template(
    "pair.leans_further", "{model} leans further to the male or pro-stereotypical side"
)
LEANS_FURTHER_AND_GROUPS_DIFFER = Template(
    "pair.leans_further_and_groups_differ", "{main}, and they differ in groups: {figures:and}"
)
SAME = Template("pair.same", "cannot be told apart")
SAME_MAIN = Template("pair.same_main", "cannot be told apart in the main effect")
GROUPS_DIFFER = Template(
    "pair.groups_differ",
    "cannot be told apart in the main effect, but differ in groups: {figures:and}",
)
ONLY_GROUPS_DIFFER = Template(
    "pair.only_groups_differ",
    "differ in groups: {figures:and}; the main effect cannot be compared",
)
ONLY_GROUPS_SAME = Template(
    "pair.only_groups_same",
    "cannot be told apart in groups; the main effect cannot be compared",
)
UNKNOWN = Template("pair.unknown", "cannot be told")
CORRECTED = Template("pair.corrected", "{finding} ({corrections:clauses})")
LOST_BY_CORRECTION = Template(
    "pair.lost_by_correction",
    "{figure} differs, but not after correction for {differences} differences",
)
P_ABOVE_LEVEL = Template("pair.p_above_level", "{figure} differs, but its p is not below .05")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFinding:
    """Which of two models leans further in the main effect, and whether they differ in groups.

    ``same`` means that no difference was found, ``unknown`` that there is no interval to judge by.
    ``differing`` names the figures of the groups that differ. ``corrections`` are notes on figures
    whose interval excludes 0 although their adjusted p is not small enough.
    """

    main: MainCode = "unknown"
    groups: GroupsCode = "unknown"
    differing: tuple[Message, ...] = ()
    corrections: tuple[Message, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether anything could be compared."""
        return (self.main, self.groups) != ("unknown", "unknown")

    @property
    def tells_apart(self) -> bool:
        """Whether the two models differ in the main effect or in groups."""
        return self.main in ("first_leans_further", "second_leans_further") or (
            self.groups == "differ"
        )

    def describe(self, first: str = "", second: str = "") -> Message:
        """The finding as a message, with names for the two models."""
        found = self._describe(first or phrase("the first"), second or phrase("the second"))
        if not self.corrections:
            return found
        return CORRECTED(finding=found, corrections=self.corrections)

    def _describe(self, first: str | Message, second: str | Message) -> Message:
        match self.main, self.groups:
            case (("first_leans_further" | "second_leans_further"), groups):
                model = first if self.main == "first_leans_further" else second
                leans = LEANS_FURTHER(model=model)
                if groups != "differ":
                    return leans
                return LEANS_FURTHER_AND_GROUPS_DIFFER(main=leans, figures=self.differing)
            case "same", "differ":
                return GROUPS_DIFFER(figures=self.differing)
            case "same", "same":
                return SAME()
            case "same", "unknown":
                return SAME_MAIN()
            case "unknown", "differ":
                return ONLY_GROUPS_DIFFER(figures=self.differing)
            case "unknown", "same":
                return ONLY_GROUPS_SAME()
        return UNKNOWN()

    def __str__(self) -> str:
        return str(self.describe())

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data, with its English text."""
        return {
            "main": self.main,
            "groups": self.groups,
            "differing": [one.to_dict() for one in self.differing],
            "corrections": [one.to_dict() for one in self.corrections],
            "text": str(self),
        }


NOTHING_KNOWN = PairFinding()


def judge_differences(
    main: Sequence[Contrast],
    groups: Sequence[Contrast],
    *,
    differences: int,
) -> PairFinding:
    """The finding on two models, by the differences of their figures.

    ``differences`` counts those of the whole comparison, for which p is adjusted. If figures of the
    main effect differ in opposite directions, the one with the smallest p decides.
    """
    main_code: MainCode = "same" if any(map(_has_interval, main)) else "unknown"
    if found := [one for one in main if differs(one)]:
        decisive = min(found, key=lambda one: one.p_adjusted or 0.0)
        is_first = decisive.value is not None and decisive.value > 0
        main_code = "first_leans_further" if is_first else "second_leans_further"
    groups_code: GroupsCode = "same" if any(map(_has_interval, groups)) else "unknown"
    differing = tuple(_name_figure(one) for one in groups if differs(one))
    return PairFinding(
        main=main_code,
        groups="differ" if differing else groups_code,
        differing=differing,
        corrections=tuple(
            _explain_loss(one, differences) for one in (*main, *groups) if _is_lost(one)
        ),
    )


def _has_interval(difference: Contrast) -> bool:
    return difference.low is not None and difference.high is not None


def _excludes_zero(difference: Contrast) -> bool:
    if difference.low is None or difference.high is None:
        return False
    return difference.low > ROUNDING or difference.high < -ROUNDING


def differs(difference: Contrast) -> bool:
    """Whether two models differ in a figure: the interval excludes 0, and the adjusted p is small."""
    p = difference.p_adjusted
    return _excludes_zero(difference) and (p is None or p < LEVEL)


def _is_lost(difference: Contrast) -> bool:
    """Whether the interval excludes zero and the adjusted p is still too large."""
    return _excludes_zero(difference) and not differs(difference)


def _explain_loss(difference: Contrast, differences: int) -> Message:
    figure = _name_figure(difference)
    if difference.p is not None and difference.p < LEVEL:
        return LOST_BY_CORRECTION(figure=figure, differences=differences)
    return P_ABOVE_LEVEL(figure=figure)


def _name_figure(difference: Contrast) -> Message:
    """The name of the figure that two models are compared by."""
    figure = difference.name.values.get("figure")
    return figure if isinstance(figure, Message) else difference.name
