"""Groups of comparable results: a row for each model, and a pair for every two of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gendalens.comparison.comparability import Comparability
from gendalens.comparison.pair_findings import NOTHING_KNOWN, PairFinding
from gendalens.results.result import Contrast, Result, to_plain
from gendalens.stats.estimate import Estimate
from gendalens.tasks.base import ComparedFigures
from gendalens.words import Message


@dataclass(frozen=True, slots=True)
class Row:
    """One model of a group: its distinct label and its figures."""

    label: str
    result: Result
    figures: ComparedFigures

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        figures = self.figures
        return {
            "label": self.label,
            "model": self.result.model.to_dict(),
            "gender_effect_size": to_plain(figures.effect.parts()),
            "gap": to_plain(figures.gap),
            "contrast": to_plain(figures.contrast),
            "finding": figures.finding.to_dict(),
            "verdict": str(figures.finding),
            "verdict_reason": figures.finding.reason and str(figures.finding.reason),
            "signature": self.result.signature,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The first model minus the second, on the same items.

    ``main`` and ``groups`` are the differences of the figures that a test is judged on, in the order
    of its evidence.
    """

    first: str
    second: str
    main: tuple[Contrast, ...]
    groups: tuple[Contrast, ...]
    effect: Estimate
    finding: PairFinding = NOTHING_KNOWN

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain data."""
        return {
            "first": self.first,
            "second": self.second,
            "main": to_plain(self.main),
            "groups": to_plain(self.groups),
            "effect": to_plain(self.effect),
            "finding": self.finding.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Comparable results of one test: same data, protocol, options and version.

    ``note`` says which figures are compared, if not the headline. ``refused`` says why there are no
    differences, and ``failed`` is set if damaged or missing records are the cause. ``apart`` says why
    other results of the same test are in another group.
    """

    comparability: Comparability
    title: str
    rows: tuple[Row, ...]
    note: Message | None = None
    pairs: tuple[Pair, ...] = ()
    refused: Message | None = None
    failed: bool = False
    apart: Message | None = None

    @property
    def test(self) -> str:
        """The test's name and protocol, such as ``lm-abc@2``."""
        return f"{self.comparability.task}@{self.comparability.protocol}"

    def find_row(self, label: str) -> Row:
        """The model with this label."""
        return next(row for row in self.rows if row.label == label)

    def to_dict(self) -> dict[str, Any]:
        """The group as plain data."""
        return {
            "task": self.comparability.task,
            "protocol": self.comparability.protocol,
            "title": self.title,
            "reading": to_plain(self.note),
            "setting": self.comparability.to_dict(),
            "apart": to_plain(self.apart),
            "models": [row.to_dict() for row in self.rows],
            "differences": [pair.to_dict() for pair in self.pairs],
            "differences_refused": to_plain(self.refused),
        }
