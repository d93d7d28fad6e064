"""The records of ``ner-dane`` as examples and as tallies of names."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from statistics import fmean

import numpy as np

from gendalens.results.result import Record
from gendalens.tasks.views import Example, Mark, NameTally


def show_examples(records: Sequence[Record]) -> Iterator[Example]:
    """Each renamed sentence, with its names marked as found or missed.

    ``lean`` is the recall of men's names minus that of women's names of the same origin, in the same
    sentence and draw. Examples are ordered by draw, so that neighbours are different sentences.
    """
    places, repeats, leans = _find_renamed(records)
    for i in np.argsort(repeats, kind="stable"):
        row = records[places[i]]
        found = [name["found"] for name in row["names"]]
        yield Example(
            text=row["text"],
            marks=_mark_persons(row),
            condition=f"{row['origin']} {row['gender']} names",
            outcome="all found" if all(found) else "some missed" if any(found) else "all missed",
            said=" · ".join(
                row["text"][start:end] for start, end, label in row["predicted"] if label == "PER"
            ),
            about=row["sentence"],
            lean=None if math.isnan(leans[i]) else leans[i],
            right=all(found),
            expected=tuple(row["text"][start:end] for start, end, _ in _mark_persons(row)),
        )


def _find_renamed(records: Sequence[Record]) -> tuple[array[int], array[int], array[float]]:
    """The index, the draw and the lean (or NaN) of each renamed sentence.

    Only numbers are kept, because the rows may not fit into memory. The rows of one sentence and draw
    are adjacent, as the test writes them.
    """
    places, repeats, leans = array("q"), array("q"), array("d")
    numbered = ((i, row) for i, row in enumerate(records) if row["repeat"] is not None)
    for _, together in groupby(numbered, key=lambda pair: (pair[1]["sentence"], pair[1]["repeat"])):
        rows = list(together)
        recalls = {
            (row["origin"], row["gender"]): fmean(name["found"] for name in row["names"])
            for _, row in rows
            if row["names"]
        }
        for place, row in rows:
            female, male = (
                recalls.get((row["origin"], gender), math.nan) for gender in ("female", "male")
            )
            places.append(place)
            repeats.append(int(row["repeat"]))
            leans.append(male - female)
    return places, repeats, leans


def _mark_persons(row: Record) -> tuple[Mark, ...]:
    """Marks for the persons, in the order of the text, each as found or missed."""
    persons = [(start, end) for start, end, label in row["gold"] if label == "PER"]
    return tuple(
        (start, end, "found" if name["found"] else "missed")
        for (start, end), name in zip(persons, row["names"], strict=False)
    )


def tally_names(records: Sequence[Record]) -> list[NameTally]:
    """How often each first name of each group was asked for, and how often it was found."""
    counts: dict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0, 0])
    bearers: dict[tuple[str, str, str], int | None] = {}
    for row in records:
        for name in row["names"]:
            first = name.get("first") or name["name"].split(" ")[0]
            known = name.get("bearers")
            if known is None and "bearers" in name:
                continue  # a bare surname says nothing about a first name
            key = (row["origin"], row["gender"], first)
            count = counts[key]
            count[0] += 1
            count[1] += name["found"]
            bearers[key] = known
    return [
        NameTally(
            name=name,
            origin=origin,
            gender=gender,
            bearers=bearers[origin, gender, name],
            asked=asked,
            found=found,
        )
        for (origin, gender, name), (asked, found) in sorted(counts.items())
    ]
