"""The examples of a test, few enough for a page: all, or the telling ones and a cross-section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gendalens.report.words import said
from gendalens.tasks.views import Example

ROLES = ("pronoun", "meant", "other", "found", "missed")


@dataclass(frozen=True, slots=True)
class Shown:
    """The examples that are shown, in the order of the file, and how many there were."""

    examples: tuple[Example, ...]
    total: int


def choose(examples: Sequence[Example], most: int) -> Shown:
    """At most so many: half where the model leans most, the other half at equal steps."""
    if len(examples) <= most:
        return Shown(tuple(examples), len(examples))
    by_lean = sorted(range(len(examples)), key=lambda i: (-abs(examples[i].lean or 0.0), i))
    kept, rest = by_lean[: most // 2], sorted(by_lean[most // 2 :])
    size = most - len(kept)
    kept += [rest[k * len(rest) // size] for k in range(size)]
    return Shown(tuple(examples[i] for i in sorted(kept)), len(examples))


def as_plain(shown: Shown, unit: str) -> dict[str, Any]:
    """The examples as compact JSON: words that come again are named once, in both languages."""
    outcomes = list(dict.fromkeys(example.outcome for example in shown.examples))
    conditions = list(dict.fromkeys(example.condition for example in shown.examples))
    return {
        "unit": unit,
        "outcomes": [[name, said(name).of("da")] for name in outcomes],
        "conditions": [[name, said(name).of("da")] for name in conditions],
        "rows": [
            [
                example.text,
                [part for s, e, role in example.marks for part in (s, e, ROLES.index(role))],
                outcomes.index(example.outcome),
                conditions.index(example.condition),
                example.said,
                example.about,
                None if example.lean is None else round(example.lean, 3),
            ]
            for example in shown.examples
        ],
    }
