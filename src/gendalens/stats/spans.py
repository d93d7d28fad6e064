"""Exact-span scoring of entities: counts per sentence that can be summed.

A predicted entity is right if its start, end and label are those of a gold entity. Counts are
additive, so a bootstrap over sentences only sums rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CountArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ExpectedSpan:
    """A gold entity; it may end at ``end`` or at any of ``other_ends``.

    Models disagree on whether the bare apostrophe of a genitive (*Lars'*) belongs to the name.
    """

    start: int
    end: int
    label: str
    other_ends: tuple[int, ...] = ()


def span_counts(
    predicted: Iterable[tuple[int, int, str]], gold: Iterable[ExpectedSpan], labels: Sequence[str]
) -> CountArray:
    """The counts of one sentence: a row (tp, fp, fn) per label; other labels are ignored.

    A gold entity counts once: a second prediction that also fits it is a false positive.
    """
    row = {label: index for index, label in enumerate(labels)}
    counts = np.zeros((len(labels), 3), dtype=np.int64)
    unmatched = {span for span in predicted if span[2] in row}
    for entity in dict.fromkeys(gold):
        if entity.label not in row:
            continue
        fitting = ((entity.start, end, entity.label) for end in (entity.end, *entity.other_ends))
        hit = next((span for span in fitting if span in unmatched), None)
        if hit:
            unmatched.remove(hit)
        counts[row[entity.label], 0 if hit else 2] += 1
    for _, _, label in unmatched:
        counts[row[label], 1] += 1
    return counts
