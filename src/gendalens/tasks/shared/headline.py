"""Which occupations a headline rests on, and the variant that is shown beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gendalens.results.result import Record
from gendalens.tasks.shared.messages import UNPROVEN_CLASSES_DECIDE
from gendalens.tasks.shared.occupation_classes import has_both_classes
from gendalens.tasks.shared.variants import WITH_UNPROVEN, WITHOUT_CONTESTED, Variant
from gendalens.words import Template


@dataclass(frozen=True, slots=True)
class Headline:
    """The records of a headline, and those of a variant if there is one.

    ``warning`` is what to say if the variant has another finding.
    """

    records: Sequence[Record]
    others: Sequence[Record] | None
    variant: Variant
    warning: Template


def choose_headline(records: Sequence[Record], contested: Template) -> Headline:
    """The records that count, by what a set says of its occupations.

    The labels of a published set stay as they are: its headline includes contested occupations, and
    the variant does not. A set that knows the class of an occupation to be unproven keeps it out of
    the headline, and the variant has it. ``contested`` is the warning about the former.
    """
    proven = [row for row in records if not row.get("unproven")]
    if len(proven) < len(records) and _can_be_measured(proven):
        return Headline(proven, records, WITH_UNPROVEN, UNPROVEN_CLASSES_DECIDE)
    clear = [row for row in records if not row["contested"]]
    has_variant = len(clear) < len(records) and _can_be_measured(clear)
    return Headline(records, clear if has_variant else None, WITHOUT_CONTESTED, contested)


def keep_headline(records: Sequence[Record]) -> Sequence[Record]:
    """The records that the headline rests on."""
    proven = [row for row in records if not row.get("unproven")]
    return proven if _can_be_measured(proven) else records


def _can_be_measured(records: Sequence[Record]) -> bool:
    """Whether there are two schemas, or triples of both classes: a small sample may have neither."""
    if records and "schema" in records[0]:
        return len({row["schema"] for row in records}) > 1
    return has_both_classes(row["occupation_class"] for row in records)


def describe_proof(unproven: bool) -> dict[str, bool]:
    """What a record says of an occupation whose class is unproven; nothing of others."""
    return {"unproven": True} if unproven else {}
