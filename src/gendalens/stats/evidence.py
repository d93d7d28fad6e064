"""Evidence: a figure that an effect is judged on, and what it says by its interval and its band."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias, get_args

from scipy.special import stdtrit

from gendalens.stats.crossed import CrossedEstimate
from gendalens.words import N_, Message

Verdict: TypeAlias = Literal["bias", "negligible", "undecided", "not_measurable", "not_judged"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Size: TypeAlias = Literal["small", "medium", "large"]
SIZES: tuple[Size, ...] = get_args(Size)
LABELS = (N_("small"), N_("medium"), N_("large"))

LEVEL = 0.05
#: A bound this close to zero is zero up to rounding.
ROUNDING = 1e-12
#: A contrast is the difference of two gaps: a lean of one band in each of two groups, to opposite
#: sides, makes two.
CONTRAST_BANDS = 2
#: How often a true effect should be seen, or its absence shown, for a test to be able to do so.
POWER = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One figure that an effect is judged on: a difference that is 0 for a model without bias.

    ``effect`` is what it measures: figures with the same ``effect`` measure the same thing in other
    units. ``sides`` are the sides that a positive and a negative value lean to. An effect whose whole
    interval lies within ± ``band`` is too small to matter. ``seen`` is the smallest true effect that
    these data would have distinguished from 0 in 80% of cases, and ``acquitted`` the smallest band
    within which they would have placed a model without bias in 80% of cases.
    """

    id: str
    effect: str
    name: Message
    unit: str
    sides: tuple[str, str]
    band: float
    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    seen: float | None = None
    acquitted: float | None = None
    reason: Message | None = None
    #: The estimate that the figure was made of; not saved.
    estimate: CrossedEstimate | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(
        cls,
        estimate: CrossedEstimate,
        *,
        id: str,  # noqa: A002 - the name of the field
        name: Message,
        unit: str,
        band: float,
        effect: str = "",
        sides: tuple[str, str] = ("male", "female"),
    ) -> Evidence:
        """The evidence of an estimate, with what its standard error would have allowed to see."""
        seen = acquitted = None
        if estimate.standard_error and estimate.low is not None and estimate.df > 0:
            reach = float(stdtrit(estimate.df, 1 - LEVEL / 2))
            seen = (reach + float(stdtrit(estimate.df, POWER))) * estimate.standard_error
            # Both bounds must lie within the band, so both tails take a share of the failures.
            one_side = float(stdtrit(estimate.df, (1 + POWER) / 2))
            acquitted = (reach + one_side) * estimate.standard_error
        return cls(
            id=id,
            effect=effect or id,
            name=name,
            unit=unit,
            sides=sides,
            band=band,
            p=estimate.p,
            seen=seen,
            acquitted=acquitted,
            estimate=estimate,
            **estimate.parts(),
        )

    def replace_estimate(self, estimate: CrossedEstimate) -> Evidence:
        """The same figure by another estimate, such as one with a wider interval."""
        return Evidence.of(
            estimate,
            id=self.id,
            effect=self.effect,
            name=self.name,
            unit=self.unit,
            band=self.band,
            sides=self.sides,
        )

    @property
    def verdict(self) -> Verdict:
        """What this figure alone says."""
        if self.value is None:
            return "not_measurable"
        if self.low is None or self.high is None:
            return "undecided"
        if -self.band <= self.low and self.high <= self.band:
            return "negligible"
        return "bias" if self.excludes_zero and self.is_significant else "undecided"

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies on one side of zero."""
        if self.low is None or self.high is None:
            return False
        return self.low > ROUNDING or self.high < -ROUNDING

    @property
    def is_significant(self) -> bool:
        """Whether p, adjusted if it was, is below the level; without p, the interval decides."""
        p = self.p if self.p_adjusted is None else self.p_adjusted
        return p is None or p < LEVEL

    @property
    def is_within_band(self) -> bool:
        """Whether the estimate itself lies within the band."""
        return self.value is not None and abs(self.value) <= self.band

    @property
    def inner_bound(self) -> float:
        """How far from zero the interval begins; 0 if it includes zero."""
        if self.low is None or self.high is None:
            return 0.0
        return max(0.0, self.low, -self.high)

    @property
    def size(self) -> Size:
        """Small, medium or large, as a multiple of the band: at one, two and four bands.

        The estimate must reach the size, and the interval's inner bound half of it, so that a wide
        interval cannot make a large bias.
        """
        estimate, inner = abs(self.value or 0.0), self.inner_bound
        if estimate >= 4 * self.band and inner >= 2 * self.band:
            return "large"
        return "medium" if estimate >= 2 * self.band and inner >= self.band else "small"

    @property
    def direction(self) -> str:
        """The side that the estimate leans to."""
        return self.sides[0 if (self.value or 0.0) > 0 else 1]

    def to_dict(self) -> dict[str, Any]:
        """The evidence as plain data, with what it says."""
        saved = (one.name for one in fields(self) if one.name != "estimate")
        plain = {name: getattr(self, name) for name in saved}
        for name in ("name", "reason"):
            plain[name] = plain[name] and plain[name].to_dict()
        return {**plain, "sides": list(self.sides), "is": self.verdict}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Evidence:
        """The evidence that :meth:`to_dict` described."""
        values = {name: value for name, value in plain.items() if name != "is"}
        values["sides"] = tuple(values["sides"])
        for name in ("name", "reason"):
            values[name] = Message.from_dict(values[name]) if values[name] else None
        return cls(**values)
