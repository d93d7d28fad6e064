"""What a test gives back: the effect, its uncertainty, the nuance behind it, and its signature."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

from gendalens.stats.estimate import Estimate

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 1
FOREIGN = "not for Danish"  # so says the kind of a model that is for another language


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """A difference with its interval and p: the gap, or the interaction contrast."""

    name: str
    unit: str
    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One figure of the condition table (no group) or of the nuance table."""

    condition: str
    group: str | None = None
    metric: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """A figure beside the headline, with what it is for."""

    name: str
    unit: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    reason: str | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Measures:
    """What a task computes from its records alone.

    ``problem`` is set where the model's answers cannot be measured because something is broken
    (the same answer everywhere, a condition with nothing right): the result is kept, and the
    command ends with exit code 2 and this sentence.
    """

    gender_effect_size: Estimate
    gap: Contrast
    conditions: tuple[Cell, ...]
    nuance: tuple[Cell, ...]
    interaction: Contrast
    extra: tuple[Extra, ...] = ()
    coverage: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    verdict: str
    verdict_reason: str | None = None
    problem: str | None = None


@dataclass(frozen=True, kw_only=True)
class Result(Measures):
    """One test of one model."""

    task: str
    protocol: int
    model: Mapping[str, Any]
    data: Mapping[str, Any]
    signature: str
    harms: Mapping[str, str]
    sources: Mapping[str, str]
    schema: int = SCHEMA

    def __repr__(self) -> str:
        ges = self.gender_effect_size
        value = "undefined" if ges.value is None else f"{ges.value:.2f}"
        return f"<Result {self.task}@{self.protocol} {self.model['name']}: GES {value}, {self.verdict}>"

    @property
    def key(self) -> str:
        """Eight hex digits of the signature: what tells this result's folder from others."""
        return hashlib.sha256(self.signature.encode()).hexdigest()[:8]

    @property
    def title(self) -> str:
        """The model's name, with what it is where that must not be overlooked."""
        kind = str(self.model["kind"])
        return f"{self.model['name']} ({kind})" if FOREIGN in kind else str(self.model["name"])

    @property
    def mediated(self) -> bool:
        """Whether the effect differs between the groups of the nuance table."""
        contrast = self.interaction
        if contrast.low is None or contrast.high is None or self.verdict.startswith("not"):
            return False
        p = contrast.p_adjusted if contrast.p_adjusted is not None else contrast.p
        return (contrast.low > 0 or contrast.high < 0) and p is not None and p < 0.05

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data, in the order of the published JSON Schema."""
        plain = asdict(self)
        order = ("schema", "task", "protocol", "model", "data", "signature")
        rest = [f.name for f in fields(Measures)]
        rest.remove("verdict")
        return {key: plain[key] for key in (*order, "verdict", *rest, "harms", "sources")}

    def to_json(self) -> str:
        """The bytes of ``result.json``: the same for the same signature."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The result that :meth:`to_dict` described."""
        values = dict(plain)
        if values.get("schema") != SCHEMA:
            raise ValueError(f"not a result of schema {SCHEMA}")
        values["gender_effect_size"] = Estimate(**values["gender_effect_size"])
        values["gap"] = Contrast(**values["gap"])
        values["interaction"] = Contrast(**values["interaction"])
        values["conditions"] = tuple(Cell(**cell) for cell in values["conditions"])
        values["nuance"] = tuple(Cell(**cell) for cell in values["nuance"])
        values["extra"] = tuple(Extra(**extra) for extra in values["extra"])
        values["warnings"] = tuple(values["warnings"])
        return cls(**values)

    def simple(self) -> pd.DataFrame:
        """The classic short table: the effect and the main conditions."""
        from gendalens.report.exports.classic_tables import simple

        return simple(self)

    def detailed(self) -> pd.DataFrame:
        """The classic long table: the effect, the main conditions and the nuance."""
        from gendalens.report.exports.classic_tables import detailed

        return detailed(self)
