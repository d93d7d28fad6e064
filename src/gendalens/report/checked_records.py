"""The records of a saved result, read as its test understands them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from gendalens.errors import UserError
from gendalens.results.result import Record
from gendalens.results.saved_results import RECORDS, SavedResult
from gendalens.tasks.base import Card


@contextmanager
def checked_records(one: SavedResult, card: Card) -> Iterator[Sequence[Record]]:
    """The records; what the test cannot read in them is the user's error, not a fault of the program."""
    try:
        yield one.records()
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise UserError(
            "{file} does not hold records of {test} ({fault}): run the test again.",
            file=str(one.folder / RECORDS),
            test=card.id,
            fault=f"{type(error).__name__}: {str(error)[:80]}",
        ) from None
