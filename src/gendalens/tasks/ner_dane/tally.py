"""The counts of ``ner-dane``, summed in one pass over any number of rows."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gendalens.data.documents import find_document_source
from gendalens.results.result import Record
from gendalens.stats.estimate import FloatArray
from gendalens.stats.f1 import f1_from_counts

ORIGINS = ("majority", "minority")
GENDERS = ("female", "male")
GROUPS = [(origin, gender) for origin in ORIGINS for gender in GENDERS]
UNISEX = ("majority", "unisex")
ALL_GROUPS = [*GROUPS, UNISEX]
#: The index of a sentence without a person, which counts in every group.
EVERYONE = -1
ENTITY_LABELS = ("PER", "LOC", "ORG")
PER = ENTITY_LABELS.index("PER")


@dataclass(frozen=True, slots=True)
class Counts:
    """Hits, false alarms and misses (the last axis) by group and label, a row per unit.

    A unit is a first name in a document, summed over draws; a sentence without a person is a unit of
    its own and the same for every group. ``strata`` are the groups of the names, and ``draws`` has a
    row per draw, summed over units.
    """

    units: FloatArray
    documents: NDArray[np.intp]
    names: NDArray[np.intp]
    strata: NDArray[np.intp]
    draws: FloatArray

    @property
    def effective_documents(self) -> int:
        """The number of documents of equal size that would be worth as much as these.

        Most persons may stand in a few of the documents, whose number then promises more than they
        hold; it is (Σw)² / Σw² for documents with w persons each (Kish 1965).
        """
        persons = self.units[..., PER, :][..., [0, 2]].sum(axis=(1, 2))
        weights = np.bincount(self.documents, persons)
        squares = float((weights**2).sum())
        return int(weights.sum() ** 2 / squares) if squares else 0

    @property
    def least_names(self) -> int:
        """The number of first names in the group that has the fewest."""
        groups = np.unique(self.strata[self.strata != EVERYONE])
        sizes = [len(np.unique(self.names[self.strata == group])) for group in groups]
        return min(sizes, default=0)


@dataclass(frozen=True, slots=True)
class NERTable:
    """The sums over all rows.

    ``keys`` name the units: document, index of the group (or ``EVERYONE``), first name or sentence,
    and whether the sentence's pronouns may not agree with the new names. ``counts`` (unit × label × 3)
    are theirs, ``draws`` (draw × group × label × 3) those of each draw. ``sentences`` are the ids of
    the sentences, ``groups`` the groups in the data, and ``unmapped`` counts the texts in which each
    unmapped label was found.
    """

    keys: tuple[tuple[str, int, str, bool], ...]
    counts: FloatArray
    draws: FloatArray
    sentences: tuple[str, ...]
    groups: tuple[tuple[str, str], ...]
    unmapped: Counter[str]
    coverage: dict[str, Any]

    def select(self, groups: Sequence[tuple[str, str]], *, agreeing: bool = False) -> Counts:
        """The counts of some groups, over all sentences or only those without clashing words."""
        places = [ALL_GROUPS.index(group) for group in groups]
        kept = [
            i
            for i, (_, group, _, clashes) in enumerate(self.keys)
            if (group in places or group == EVERYONE) and not (agreeing and clashes)
        ]
        keys = [self.keys[i] for i in kept]
        strata = np.array([group for _, group, _, _ in keys], dtype=np.intp)
        units = np.zeros((len(kept), len(places), *self.counts.shape[1:]))
        for column, place in enumerate(places):
            own = (strata == place) | (strata == EVERYONE)
            units[own, column] = self.counts[kept][own]
        return Counts(
            units,
            _number(document for document, _, _, _ in keys),
            _number((group, name) for _, group, name, _ in keys),
            strata,
            self.draws[:, places],
        )


def _number(values: Iterable[Hashable]) -> NDArray[np.intp]:
    """A number for each distinct value, in the order of the first occurrences."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.intp)


def tabulate(records: Iterable[Record]) -> NERTable:
    """Sum the rows; a sentence without a person counts equally in every group and draw."""
    number = {group: i for i, group in enumerate(ALL_GROUPS)}
    shape = (len(ENTITY_LABELS), 3)
    units: dict[tuple[str, int, str, bool], FloatArray] = defaultdict(lambda: np.zeros(shape))
    draws: dict[int, FloatArray] = defaultdict(lambda: np.zeros((len(number), *shape)))
    same: set[tuple[str, int, str, bool]] = set()
    sentences, renamed, clashing = set(), set(), set()
    pieces: dict[tuple[str, str], list[int]] = {}
    labels: dict[str, str] = {}
    unmapped: Counter[str] = Counter()
    texts = array("q")  # digests: the texts themselves may not fit into memory
    for row in records:
        sentence, group = row["sentence"], (row["origin"], row["gender"])
        counts = np.array([row["counts"][label] for label in ENTITY_LABELS], dtype=np.float64)
        sentences.add(sentence)
        texts.append(hash(row["text"]))
        labels.update(row["labels"])
        unmapped.update(row["unmapped_labels"])
        if row["repeat"] is None:
            key = (row["document"], EVERYONE, sentence, False)
            units[key] += counts
            same.add(key)
            continue
        clashes = bool(row["gendered_pronoun"])
        renamed.add(sentence)
        draws[row["repeat"]][number[group]] += counts
        if clashes:
            clashing.add(sentence)
        for first, own in _split_by_name(row, counts):
            units[row["document"], number[group], first, clashes] += own
        seen = pieces.setdefault(group, [0, 0])
        seen[0] += row["tokens"]
        seen[1] += 1
    times = max(1, len(draws))
    for key in same:
        units[key] *= times
    # Sorted, so that the resamples do not depend on the order of the records.
    keys = tuple(sorted(units))
    by_draw = [draws[repeat] for repeat in sorted(draws)] or [np.zeros((len(number), *shape))]
    everyone = sum((units[key] for key in same), np.zeros(shape)) / times
    documents = {document for document, _, _, _ in keys}
    return NERTable(
        keys=keys,
        counts=np.array([units[key] for key in keys]).reshape(-1, *shape),
        draws=np.array(by_draw) + everyone,
        sentences=tuple(sorted(sentences)),
        groups=tuple(pieces),
        unmapped=unmapped,
        coverage={
            "sentences": len(sentences),
            "sentences_with_a_person": len(renamed),
            "sentences_whose_words_may_clash": len(clashing),
            "documents": len(documents),
            **_describe_documents(documents),
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


def _describe_documents(ids: Collection[str]) -> dict[str, Any]:
    """Where the documents come from, and how many sentences a block has."""
    if not ids:
        return {}
    source = find_document_source(ids)
    return {"documents_from": source.name, "sentences_per_block": source.block}


def _split_by_name(row: Record, counts: FloatArray) -> Iterator[tuple[str, FloatArray]]:
    """The counts of a row by first name: each person's own, and the rest with the first person's."""
    rest = counts.copy()
    own = []
    for name in row["names"]:
        person = np.zeros_like(counts)
        person[PER, 0 if name["found"] else 2] = 1
        rest -= person
        # A surname alone stands for itself.
        own.append((name["first"] or name["name"], person))
    own[0] = (own[0][0], own[0][1] + rest)
    yield from own


def micro_f1(counts: FloatArray, labels: slice | int = slice(None)) -> FloatArray:
    """Micro F1 over labels; the last axes of ``counts`` are label and (hit, false alarm, miss)."""
    chosen = counts[..., labels, :]
    total = chosen.sum(axis=-2) if isinstance(labels, slice) else chosen
    return f1_from_counts(total[..., 0], total[..., 1], total[..., 2])
