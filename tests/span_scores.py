"""Micro-averaged precision, recall and F1 of span counts, for tests that quote other scorers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gendalens.stats.estimate import FloatArray
from gendalens.stats.f1 import f1_from_counts, rate
from gendalens.stats.spans import CountArray


@dataclass(frozen=True, slots=True)
class SpanScores:
    """Precision, recall and F1, of one shape; nan where there is nothing to divide by."""

    precision: FloatArray
    recall: FloatArray
    f1: FloatArray


def micro_scores(counts: CountArray | FloatArray) -> SpanScores:
    """The scores of counts whose last two axes are labels and (tp, fp, fn)."""
    tp, fp, fn = np.moveaxis(np.asarray(counts, dtype=np.float64).sum(axis=-2), -1, 0)
    return SpanScores(rate(tp, tp + fp), rate(tp, tp + fn), f1_from_counts(tp, fp, fn))
