"""The records of the NER test as examples, and its names one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from gendalens.tasks.base import Record
from gendalens.tasks.views import Example, Mark, NameTally


def examples(records: Sequence[Record]) -> Iterator[Example]:
    """Each renamed sentence, its names marked as found or missed.

    ``lean`` compares like with like: recall of the men's names minus that of the women's, of one origin
    in the same sentence and draw. Draw by draw, so that neighbours are different sentences.
    """
    renamed = sorted(
        (row for row in records if row["repeat"] is not None), key=lambda row: int(row["repeat"])
    )
    recalls = _recalls(renamed)
    for row in renamed:
        found = [name["found"] for name in row["names"]]
        female, male = (recalls.get((*_slot(row), gender)) for gender in ("female", "male"))
        yield Example(
            text=row["text"],
            marks=_marks(row),
            condition=f"{row['origin']} {row['gender']} names",
            outcome="all found" if all(found) else "some missed" if any(found) else "all missed",
            said=" · ".join(
                row["text"][start:end] for start, end, label in row["predicted"] if label == "PER"
            ),
            about=row["sentence"],
            lean=None if female is None or male is None else male - female,
        )


def _slot(row: Record) -> tuple[str, int, str]:
    return row["sentence"], row["repeat"], row["origin"]


def _recalls(rows: Sequence[Record]) -> dict[tuple[str, int, str, str], float]:
    """The share of names found in every version of a sentence."""
    return {
        (*_slot(row), row["gender"]): sum(name["found"] for name in row["names"])
        / len(row["names"])
        for row in rows
        if row["names"]
    }


def _marks(row: Record) -> tuple[Mark, ...]:
    """The persons in the order of the text, each found or missed as its record says."""
    persons = [(start, end) for start, end, label in row["gold"] if label == "PER"]
    return tuple(
        (start, end, "found" if name["found"] else "missed")
        for (start, end), name in zip(persons, row["names"], strict=False)
    )


def tallies(records: Sequence[Record]) -> list[NameTally]:
    """Every first name of every group: how often it was asked for, and how often found."""
    counts: dict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0, 0])
    bearers: dict[tuple[str, str, str], int | None] = {}
    for row in records:
        for name in row["names"]:
            first = name["name"].split(" ")[0]
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
