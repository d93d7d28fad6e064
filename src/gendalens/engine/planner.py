"""Which requests run together: batches of like length under a budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gendalens.models.base import Encoded


def plan(
    encoded: Sequence[Encoded], *, batch_tokens: int, max_positions: int
) -> Iterator[list[int]]:
    """Indices into ``encoded``, a list a batch, longest first: too little memory shows at once.

    A batch holds at most ``batch_tokens`` tokens, padding included, and asks for at most
    ``max_positions`` predictions; a request larger than that runs alone.
    """
    # A stable sort keeps neighbours of one length together: the sentences of a triple share
    # masked rows, which a backend runs once a batch.
    order = sorted(range(len(encoded)), key=lambda i: -encoded[i].length)
    batch: list[int] = []
    rows = positions = longest = 0
    for i in order:
        item = encoded[i]
        full = (rows + item.rows) * max(longest, item.length) > batch_tokens
        if batch and (full or positions + item.positions > max_positions):
            yield batch
            batch, rows, positions, longest = [], 0, 0, 0
        batch.append(i)
        rows += item.rows
        positions += item.positions
        longest = max(longest, item.length)
    if batch:
        yield batch


def tapered(batches: Iterable[list[int]], workers: int) -> list[list[int]]:
    """The same with the last batch of each worker in halves, so that nobody waits long at the end."""
    whole = list(batches)
    halves = []
    for batch in whole[-workers:]:
        middle = (len(batch) + 1) // 2
        halves += [batch[:middle], batch[middle:]]
    return whole[:-workers] + [half for half in halves if half]
