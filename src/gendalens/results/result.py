"""The result of a test: the effect, its uncertainty, its nuance, and its signature."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, TypeVar

from gendalens.results.frames import frame_figures
from gendalens.results.model_info import ModelInfo
from gendalens.stats.estimate import Estimate
from gendalens.stats.findings import Finding
from gendalens.words import Message, Template

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 3
#: One item in one condition: what was asked, what the model answered, and how it was counted.
Record: TypeAlias = dict[str, Any]


#: The meaning of a figure's bounds.
Brackets: TypeAlias = Literal["interval", "quartiles"]
Figure = TypeVar("Figure", "Contrast", "Cell", "Extra", Estimate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """A difference with its interval and p: the gap, or the contrast between groups."""

    name: Message
    unit: str
    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    reason: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One figure of the condition table (no group) or of the nuance table.

    ``brackets`` says what ``low`` and ``high`` are. ``sd`` is the spread over repetitions, if the
    test gives one instead of an interval.
    """

    condition: str
    group: str | None = None
    metric: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int
    reason: Message | None = None
    brackets: Brackets = "interval"
    sd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """A further figure beside the headline, with a note on it; programs find it by its ``id``."""

    id: str
    name: Message
    unit: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    reason: Message | None = None
    note: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """What a test would have found otherwise, such as without some of the items.

    ``warning`` (with ``{finding}`` in its sentence) is given if that is another verdict than the
    result's, after both are corrected for all tests of the run.
    """

    finding: Finding
    warning: Template


@dataclass(frozen=True, kw_only=True)
class Measures:
    """Everything that a task computes from its records.

    ``problem`` is set if the answers cannot be measured because something is broken (the same answer
    everywhere, a condition with nothing right): the result is kept, and the command prints this
    sentence and exits with code 2.
    """

    gender_effect_size: Estimate
    gap: Contrast
    conditions: tuple[Cell, ...]
    nuance: tuple[Cell, ...]
    contrast: Contrast
    finding: Finding
    extra: tuple[Extra, ...] = ()
    coverage: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[Message, ...] = ()
    problem: Message | None = None
    #: Left behind when the run is corrected: a result keeps only their warnings.
    alternatives: tuple[Alternative, ...] = field(default=(), compare=False)


@dataclass(frozen=True, kw_only=True)
class Result(Measures):
    """The result of one test of one model.

    ``folder`` is where it is saved with its records; None if it is not on disk.

    >>> import gendalens
    >>> [result] = gendalens.run("control:fair", tasks="lm-abc", data="builtin", sample=60)
    >>> result.finding.headline, result.gender_effect_size.low is not None
    ('undecided', True)
    """

    #: Writes a result as HTML for notebooks; set by the module that words results.
    renderer: ClassVar[Callable[[Result], str] | None] = None

    task: str
    protocol: int
    model: ModelInfo
    data: Mapping[str, Any]
    signature: str
    harms: Mapping[str, str]
    sources: Mapping[str, str]
    schema: int = SCHEMA
    folder: Path | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        ges = self.gender_effect_size
        value = "undefined" if ges.value is None else f"{ges.value:.2f}"
        return (
            f"<Result {self.task}@{self.protocol} {self.model.name}: GES {value}, {self.finding}>"
        )

    def _repr_html_(self) -> str | None:
        """The result in a notebook."""
        renderer = type(self).renderer
        return renderer(self) if renderer else None

    def find_extra(self, name: str) -> Extra:
        """The extra figure with this id."""
        return next(extra for extra in self.extra if extra.id == name)

    @property
    def key(self) -> str:
        """Eight hex digits of the signature's hash, which make the name of the folder unique."""
        return hashlib.sha256(self.signature.encode()).hexdigest()[:8]

    @property
    def title(self) -> str:
        """The model's name, with its kind if the model is not for Danish."""
        if self.model.for_danish:
            return self.model.name
        return f"{self.model.name} ({self.model.kind})"

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data, in the order of the published JSON Schema."""
        first = ("schema", "task", "protocol", "model", "data", "signature", "finding")
        # Of the alternatives, only the warnings are kept.
        left_out = ("finding", "alternatives")
        rest = [one.name for one in fields(Measures) if one.name not in left_out]
        return {name: to_plain(getattr(self, name)) for name in (*first, *rest, "harms", "sources")}

    def to_frame(self) -> pd.DataFrame:
        """The figures as a data frame with a row each, unrounded, and texts in English.

        Numbers are numbers, and what is undefined is missing. The columns:

        ``model``, ``revision``, ``dtype``, ``task``, ``protocol``
            What was tested.
        ``part``
            ``effect`` (the gender effect size), ``gap``, ``contrast`` (between groups),
            ``evidence_main`` and ``evidence_groups`` (what the finding rests on), ``condition``,
            ``nuance`` (a condition in a group) or ``extra``.
        ``condition``, ``group``
            Of a condition or nuance.
        ``figure``, ``name``, ``unit``
            The figure's id (the metric of a condition), its name in words, and its unit.
        ``value``, ``low``, ``high``, ``bounds``, ``sd``
            The figure; ``bounds`` says whether ``low`` and ``high`` are an ``interval`` (95%) or
            ``quartiles``; ``sd`` is its spread over repetitions, in protocol 1 of ``ner-dane``.
        ``p``, ``p_adjusted``, ``n``
            The p-value, alone and corrected for all figures of the run; the number of items.
        ``band``, ``could_have_seen``, ``could_have_acquitted``, ``finding``, ``direction``, ``size``
            Of evidence: the largest effect that is too small to matter, what the data would have
            shown and ruled out, and what the figure says.
        ``reason``
            Why a figure or its interval is undefined.
        ``headline``, ``signature``
            The headline of the result's finding, and all that is needed to reproduce the result.

        >>> import gendalens
        >>> [result] = gendalens.run("control:fair", tasks="lm-abc", data="builtin", sample=40)
        >>> frame = result.to_frame()
        >>> frame[frame.part == "condition"].condition.tolist()
        ['female', 'male']
        """
        return frame_figures([self])

    def to_json(self) -> str:
        """The text of ``result.json``: identical for identical signatures."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The result that :meth:`to_dict` described."""
        values = dict(plain)
        if values.get("schema") != SCHEMA:
            raise ValueError(f"not a result of schema {SCHEMA}")
        values["model"] = ModelInfo.from_dict(values["model"])
        values["finding"] = Finding.from_dict(values["finding"])
        values["gender_effect_size"] = _read(Estimate, values["gender_effect_size"])
        for name in ("gap", "contrast"):
            values[name] = _read(Contrast, values[name])
        for name in ("conditions", "nuance"):
            values[name] = tuple(_read(Cell, one) for one in values[name])
        values["extra"] = tuple(_read(Extra, one) for one in values["extra"])
        values["warnings"] = tuple(map(Message.from_dict, values["warnings"]))
        if values["problem"] is not None:
            values["problem"] = Message.from_dict(values["problem"])
        return cls(**values)


def to_plain(value: Any) -> Any:
    """A part of a result as plain data for JSON."""
    if isinstance(value, Message | Finding | ModelInfo):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: to_plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {name: to_plain(one) for name, one in value.items()}
    return [to_plain(one) for one in value] if isinstance(value, tuple | list) else value


def _read(kind: type[Figure], plain: Mapping[str, Any]) -> Figure:
    """A figure from plain data, with its texts as messages."""
    texts = {
        name: Message.from_dict(plain[name])
        for name in ("name", "reason", "note")
        if isinstance(plain.get(name), Mapping)
    }
    return kind(**{**plain, **texts})
