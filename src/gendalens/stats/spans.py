"""Exact-span scoring of entities: counts per sentence that can be summed, and their P, R and F1.

A predicted entity is right when begin, end and label are those of a gold entity. Counts of
sentences add up, so that a bootstrap over sentences only sums rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gendalens.stats.estimate import FloatArray
from gendalens.stats.f1 import f1_from_counts, rate

CountArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """An entity to be found; it may end at ``end`` or at any of ``other_ends``.

    A bare apostrophe of the genitive (*Lars'*) is part of the name to some and not to others.
    """

    start: int
    end: int
    label: str
    other_ends: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SpanScores:
    """Precision, recall and F1, of one shape; nan where there is nothing to divide by."""

    precision: FloatArray
    recall: FloatArray
    f1: FloatArray


def span_counts(
    predicted: Iterable[tuple[int, int, str]], gold: Iterable[GoldSpan], labels: Sequence[str]
) -> CountArray:
    """The counts of one sentence, a row (tp, fp, fn) for each label; other labels do not count.

    A gold entity is found once: a second prediction that would fit it, too, is a false alarm.
    """
    row = {label: index for index, label in enumerate(labels)}
    counts = np.zeros((len(labels), 3), dtype=np.int64)
    open_ = {span for span in predicted if span[2] in row}
    for entity in dict.fromkeys(gold):
        if entity.label not in row:
            continue
        fitting = ((entity.start, end, entity.label) for end in (entity.end, *entity.other_ends))
        hit = next((span for span in fitting if span in open_), None)
        if hit:
            open_.remove(hit)
        counts[row[entity.label], 0 if hit else 2] += 1
    for _, _, label in open_:
        counts[row[label], 1] += 1
    return counts


def micro_scores(counts: CountArray | FloatArray) -> SpanScores:
    """Micro-averaged scores from counts whose last two axes are labels and (tp, fp, fn).

    Axes before them (sentences, draws, resamples) stay; choose labels by indexing first.
    """
    tp, fp, fn = np.moveaxis(np.asarray(counts, dtype=np.float64).sum(axis=-2), -1, 0)
    return SpanScores(rate(tp, tp + fp), rate(tp, tp + fn), f1_from_counts(tp, fp, fn))
