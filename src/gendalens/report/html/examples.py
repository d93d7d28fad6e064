"""The examples of a test for a page: a few that show the finding, and many to search."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from gendalens.report.html.texts import PageTexts
from gendalens.tasks.views import Example
from gendalens.words import N_

ROLES = ("pronoun", "meant", "other", "found", "missed")
#: Why an example is among the first ones.
MALE_EXTREME = N_("leans most to the male or stereotypical side")
FEMALE_EXTREME = N_("leans most to the female or anti-stereotypical side")
TYPICAL = N_("typical")
#: How many of the first examples there are of each kind.
EXTREMES = 3
TYPICALS = 4


@dataclass(frozen=True, slots=True)
class ExampleSelection:
    """The selected examples, in the order of the records, and the total number.

    ``telling`` are the places of those that come first on the page, each with the reason.
    """

    examples: tuple[Example, ...]
    total: int
    telling: tuple[tuple[int, str], ...] = ()


def choose_examples(examples: Callable[[], Iterable[Example]], most: int) -> ExampleSelection:
    """At most ``most`` examples: the telling ones, half where the model leans most, the rest spread out.

    The examples are iterated twice, so that only the selected ones are in memory.
    """
    leans, topics = array("d"), array("q")
    numbers: dict[str, int] = {}
    for example in examples():
        leans.append(example.lean or 0.0)
        topics.append(numbers.setdefault(example.about or example.text, len(numbers)))
    telling = choose_telling(leans, topics)
    total = len(leans)
    kept = set(range(total))
    if total > most:
        kept = {place for place, _ in telling}
        by_lean = sorted(range(total), key=lambda i: (-abs(leans[i]), i))
        kept |= set(by_lean[: most // 2])
        rest = [i for i in range(total) if i not in kept]
        size = max(0, most - len(kept))
        kept |= {rest[k * len(rest) // size] for k in range(size)}
    shown = tuple(example for i, example in enumerate(examples()) if i in kept)
    places = {i: place for place, i in enumerate(sorted(kept))}
    return ExampleSelection(shown, total, tuple((places[i], why) for i, why in telling))


def choose_telling(leans: Sequence[float], topics: Sequence[int]) -> list[tuple[int, str]]:
    """The places of the examples that show a finding, at most one per topic, each with the reason.

    They are the furthest leanings to either side, and those nearest to the median. Of equal leanings
    the first is one whose topic leans furthest, so that chance answers are not shown as the finding.
    """
    sums: dict[int, list[float]] = {}
    for topic, lean in zip(topics, leans, strict=True):
        sums.setdefault(topic, []).append(lean)
    means = {topic: fmean(own) for topic, own in sums.items()}
    ordered = sorted(range(len(leans)), key=lambda i: (-leans[i], -means[topics[i]], i))
    if not ordered:
        return []
    middle = leans[ordered[len(ordered) // 2]]
    to_male = [i for i in ordered if leans[i] > 0]
    to_female = sorted(
        (i for i in ordered if leans[i] < 0), key=lambda i: (leans[i], means[topics[i]], i)
    )
    typical = sorted(ordered, key=lambda i: (abs(leans[i] - middle), i))
    used: set[int] = set()
    chosen: list[tuple[int, str]] = []
    for places, size, why in (
        (to_male, EXTREMES, MALE_EXTREME),
        (to_female, EXTREMES, FEMALE_EXTREME),
        (typical, TYPICALS, TYPICAL),
    ):
        chosen += [(i, why) for i in _take_one_per_topic(places, topics, used, size)]
    return chosen


def _take_one_per_topic(
    places: Iterable[int], topics: Sequence[int], used: set[int], size: int
) -> list[int]:
    """The first ``size`` places whose topics are not used yet; uses them."""
    taken: list[int] = []
    for i in places:
        if len(taken) == size:
            break
        if topics[i] not in used:
            used.add(topics[i])
            taken.append(i)
    return taken


def list_examples(shown: ExampleSelection, unit: str, texts: PageTexts) -> dict[str, Any]:
    """The examples as compact data for JSON: repeated words are listed once, in every language.

    The unit of a leaning is named if the figure is meaningless without it.
    """
    outcomes = list(dict.fromkeys(example.outcome for example in shown.examples))
    conditions = list(dict.fromkeys(example.condition for example in shown.examples))
    reasons = list(dict.fromkeys(why for _, why in shown.telling))
    return {
        "unit": texts.write_name(unit) if unit == "bits" else None,
        "outcomes": list(map(texts.write_name, outcomes)),
        "conditions": list(map(texts.write_name, conditions)),
        "reasons": list(map(texts.write_name, reasons)),
        "telling": [[place, reasons.index(why)] for place, why in shown.telling],
        "rows": [
            [
                example.text,
                [part for s, e, role in example.marks for part in (s, e, ROLES.index(role))],
                outcomes.index(example.outcome),
                conditions.index(example.condition),
                example.said,
                example.about,
                None if example.lean is None else round(example.lean, 3),
                [[word, round(share, 4)] for word, share in example.shares],
            ]
            for example in shown.examples
        ],
    }
