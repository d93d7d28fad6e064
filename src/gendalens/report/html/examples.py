"""The examples of a test for a page: all, or the most telling ones and a cross-section."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from gendalens.report.html.texts import PageTexts
from gendalens.tasks.views import Example

ROLES = ("pronoun", "meant", "other", "found", "missed")


@dataclass(frozen=True, slots=True)
class ExampleSelection:
    """The selected examples, in the order of the records, and the total number."""

    examples: tuple[Example, ...]
    total: int


def choose_examples(examples: Callable[[], Iterable[Example]], most: int) -> ExampleSelection:
    """At most ``most`` examples: half where the model leans most, the rest at equal steps.

    The examples are iterated twice, so that only the selected ones are in memory.
    """
    leans = array("d", (abs(example.lean or 0.0) for example in examples()))
    total = len(leans)
    kept = set(range(total))
    if total > most:
        by_lean = sorted(range(total), key=lambda i: (-leans[i], i))
        kept, rest = set(by_lean[: most // 2]), sorted(by_lean[most // 2 :])
        size = most - len(kept)
        kept |= {rest[k * len(rest) // size] for k in range(size)}
    shown = (example for i, example in enumerate(examples()) if i in kept)
    return ExampleSelection(tuple(shown), total)


def list_examples(shown: ExampleSelection, unit: str, texts: PageTexts) -> dict[str, Any]:
    """The examples as compact data for JSON: repeated words are listed once, in every language.

    The unit of a leaning is named if the figure is meaningless without it.
    """
    outcomes = list(dict.fromkeys(example.outcome for example in shown.examples))
    conditions = list(dict.fromkeys(example.condition for example in shown.examples))
    return {
        "unit": texts.write_name(unit) if unit == "bits" else None,
        "outcomes": list(map(texts.write_name, outcomes)),
        "conditions": list(map(texts.write_name, conditions)),
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
