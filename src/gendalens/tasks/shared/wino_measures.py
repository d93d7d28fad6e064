"""What both DaWinoBias tests make of their estimates: effect, gap, contrast, and their evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from gendalens.results.result import Contrast, Extra
from gendalens.stats.crossed import CrossedEstimate
from gendalens.stats.estimate import Estimate, log2_ratio
from gendalens.stats.evidence import Evidence
from gendalens.tasks.shared.messages import F1_PRO_ANTI, GAP, GES, PRONOUN_GAP
from gendalens.tasks.shared.variants import Variant
from gendalens.tasks.shared.words import F1_SIDES, PRONOUN_SIDES, STEREOTYPE_SIDES
from gendalens.words import Message

#: The largest effect of a unit that is too small to matter.
BandOf: TypeAlias = Callable[[str], float]


def estimate_effect(
    pro: CrossedEstimate, anti: CrossedEstimate, ratio: CrossedEstimate
) -> Estimate:
    """GES, with the reason if a side of the ratio is zero."""
    _, fault = log2_ratio(pro.value, anti.value, sides=F1_SIDES)
    return Estimate(None, None, None, fault) if fault else Estimate(**ratio.parts())


def show_gap(gap: CrossedEstimate) -> Contrast:
    """The gap between the conditions."""
    return Contrast(name=F1_PRO_ANTI(), unit="F1", p=gap.p, **gap.parts())


def show_pronoun_gap(gap: CrossedEstimate) -> Contrast:
    """The contrast between male and female pronouns."""
    return Contrast(name=PRONOUN_GAP(), unit="F1", p=gap.p, **gap.parts())


def list_variant(variant: Variant, effect: Estimate, gap: Estimate, n: int) -> list[Extra]:
    """Effect and gap as extra figures of a variant."""
    return [
        variant.make_extra("ges", GES(), "log2 ratio", effect, n),
        variant.make_extra("gap", GAP(), "F1", gap, n),
    ]


def stereotype_evidence(
    estimate: CrossedEstimate,
    band: BandOf,
    *,
    id: str,  # noqa: A002
    name: Message,
    unit: str,
) -> Evidence:
    """A figure of the main effect, positive if the stereotype is favoured."""
    return Evidence.of(
        estimate,
        id=id,
        effect="main",
        name=name,
        unit=unit,
        band=band(unit),
        sides=STEREOTYPE_SIDES,
    )


def pronoun_evidence(
    estimate: CrossedEstimate,
    band: BandOf,
    *,
    id: str,  # noqa: A002
    name: Message,
    unit: str,
    effect: str = "pronouns",
) -> Evidence:
    """A figure of the groups, positive if male pronouns are favoured."""
    return Evidence.of(
        estimate, id=id, effect=effect, name=name, unit=unit, band=band(unit), sides=PRONOUN_SIDES
    )
