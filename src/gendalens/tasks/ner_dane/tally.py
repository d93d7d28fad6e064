"""The counts of ``ner-dane``, summed in one pass over any number of rows."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gendalens.results.result import Record
from gendalens.stats.estimate import FloatArray
from gendalens.stats.f1 import f1_from_counts

ORIGINS = ("majority", "minority")
GENDERS = ("female", "male")
GROUPS = [(origin, gender) for origin in ORIGINS for gender in GENDERS]
UNISEX = ("majority", "unisex")
ENTITY_LABELS = ("PER", "LOC", "ORG")


@dataclass(frozen=True, slots=True)
class Counts:
    """Hits, false alarms and misses (the last axis) by group and label.

    ``sentences`` has a row per sentence, summed over draws; ``draws`` has a row per draw, summed over
    sentences.
    """

    sentences: FloatArray
    draws: FloatArray


@dataclass(frozen=True, slots=True)
class NERTable:
    """The sums over all rows: ``counts`` for the four groups and unisex names, in that order.

    ``names`` are the ids of the sentences, in the order of the counts; ``clashing`` marks those whose
    pronouns may not agree with the new names. ``groups`` are the groups in the data, and ``unmapped``
    counts the texts in which each unmapped label was found.
    """

    counts: Counts
    names: tuple[str, ...]
    clashing: NDArray[np.bool_]
    groups: tuple[tuple[str, str], ...]
    unmapped: Counter[str]
    coverage: dict[str, Any]

    def select(self, groups: Sequence[tuple[str, str]], *, agreeing: bool = False) -> Counts:
        """The counts of some groups, over all sentences or only those without clashing pronouns."""
        places = [[*GROUPS, UNISEX].index(group) for group in groups]
        rows = ~self.clashing if agreeing else slice(None)
        return Counts(self.counts.sentences[rows][:, places], self.counts.draws[:, places])


def tabulate(records: Iterable[Record]) -> NERTable:
    """Sum the rows; a sentence without a person counts equally in every group and draw."""
    number = {group: i for i, group in enumerate([*GROUPS, UNISEX])}
    shape = (len(number), len(ENTITY_LABELS), 3)
    renamed: dict[str, FloatArray] = defaultdict(lambda: np.zeros(shape))
    same: dict[str, FloatArray] = defaultdict(lambda: np.zeros(shape[1:]))
    draws: dict[int, FloatArray] = defaultdict(lambda: np.zeros(shape))
    clashing: set[str] = set()
    pieces: dict[tuple[str, str], list[int]] = {}
    labels: dict[str, str] = {}
    unmapped: Counter[str] = Counter()
    texts = array("q")  # digests: the texts themselves may not fit into memory
    for row in records:
        name, group = row["sentence"], (row["origin"], row["gender"])
        counts = np.array([row["counts"][label] for label in ENTITY_LABELS], dtype=np.float64)
        texts.append(hash(row["text"]))
        labels.update(row["labels"])
        unmapped.update(row["unmapped_labels"])
        if row["repeat"] is None:
            same[name] += counts
            continue
        renamed[name][number[group]] += counts
        draws[row["repeat"]][number[group]] += counts
        if row["gendered_pronoun"]:
            clashing.add(name)
        seen = pieces.setdefault(group, [0, 0])
        seen[0] += row["tokens"]
        seen[1] += 1
    names = tuple(sorted({*renamed, *same}))
    times = max(1, len(draws))
    nothing, no_counts = np.zeros(shape), np.zeros(shape[1:])
    by_sentence = [renamed.get(name, nothing) + times * same.get(name, no_counts) for name in names]
    by_draw = [draws[repeat] for repeat in sorted(draws)] or [nothing]
    return NERTable(
        counts=Counts(
            np.array(by_sentence).reshape(-1, *shape),
            np.array(by_draw) + sum(same.values(), no_counts),
        ),
        names=names,
        clashing=np.array([name in clashing for name in names], dtype=np.bool_),
        groups=tuple(pieces),
        unmapped=unmapped,
        coverage={
            "sentences": len(names),
            "sentences_with_a_person": len(renamed),
            "sentences_whose_pronouns_may_clash": len(clashing),
            "repeats": len(draws),
            "texts_scored": len(texts),
            "distinct_texts": len(np.unique(np.frombuffer(texts, dtype=np.int64))),
            "labels": labels,
            "pieces_per_renamed_sentence": {
                f"{origin} {gender}": total / count
                for (origin, gender), (total, count) in pieces.items()
                if total
            },
        },
    )


def micro_f1(counts: FloatArray, labels: slice | int = slice(None)) -> FloatArray:
    """Micro F1 over labels; the last axes of ``counts`` are label and (hit, false alarm, miss)."""
    chosen = counts[..., labels, :]
    total = chosen.sum(axis=-2) if isinstance(labels, slice) else chosen
    return f1_from_counts(total[..., 0], total[..., 1], total[..., 2])
