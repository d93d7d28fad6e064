"""Rows of tokens as trees: a beginning that several rows share is one branch, and is read once.

Sorted rows stand next to those with which they share most, so a tree is built row by row, each adding
only what its predecessor lacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gendalens.models.huggingface.padding_trial import Row


@dataclass(slots=True)
class Tree:
    """The nodes of some rows, every node after its parent.

    ``tokens``, ``depths`` and ``parents`` (-1 for a root) describe the nodes; ``paths`` holds the nodes
    of each row, from its first token to its last.
    """

    tokens: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    paths: dict[Row, list[int]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.tokens)

    def add(self, row: Row) -> None:
        """Add a row; rows come in sorted order, which puts shared beginnings next to each other."""
        last = next(reversed(self.paths), ())
        shared = count_shared(last, row)
        path = self.paths[last][:shared] if shared else []
        for depth in range(shared, len(row)):
            self.tokens.append(row[depth])
            self.depths.append(depth)
            self.parents.append(path[-1] if path else -1)
            path.append(len(self.tokens) - 1)
        self.paths[row] = path


def count_shared(one: Row, other: Row) -> int:
    """The number of tokens with which both rows begin.

    >>> count_shared((1, 2, 3), (1, 2, 4, 5))
    2
    """
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    return shared


def count_nodes(rows: Iterable[Row]) -> int:
    """The number of nodes of the tree of all rows: the fewest tokens that must be read.

    >>> count_nodes([(1, 2, 3), (1, 2, 4, 5), (1, 2)])
    5
    """
    nodes = 0
    last: Row = ()
    for row in sorted(set(rows)):
        nodes += len(row) - count_shared(last, row)
        last = row
    return nodes


def pack_trees(
    asked: Mapping[Row, Sequence[int]], *, width: int, most_asked: int
) -> Iterator[Tree]:
    """The rows as trees of at most ``width`` nodes, of which at most ``most_asked`` are asked about.

    ``asked`` holds the positions of each row that are asked about. A row is whole in one tree; one that
    is too large has a tree to itself.
    """
    tree = Tree()
    wanted: set[int] = set()
    for row in sorted(asked):
        last = next(reversed(tree.paths), ())
        shared = count_shared(last, row)
        more = sum(at >= shared or tree.paths[last][at] not in wanted for at in asked[row])
        full = len(tree) + len(row) - shared > width or len(wanted) + more > most_asked
        if tree.paths and full:
            yield tree
            tree, wanted = Tree(), set()
        tree.add(row)
        path = tree.paths[row]
        wanted.update(path[at] for at in asked[row])
    if tree.paths:
        yield tree


def plan_trees(rows: Sequence[Sequence[Row]], *, batch_tokens: int) -> Iterator[list[int]]:
    """Indices into ``rows``, which are the rows of each request; one list per batch.

    Requests with shared beginnings are neighbours. The tree of a batch has at most ``batch_tokens``
    nodes; a request with a larger one runs alone.
    """
    batch: list[int] = []
    nodes = _Nodes()
    size = 0
    for index in sorted(range(len(rows)), key=lambda index: tuple(rows[index])):
        more = sum(map(nodes.insert, rows[index]))
        if batch and size + more > batch_tokens:
            yield batch
            batch, nodes, size = [], _Nodes(), 0
            more = sum(map(nodes.insert, rows[index]))
        batch.append(index)
        size += more
    if batch:
        yield batch


class _Nodes(dict[int, "_Nodes"]):
    """The nodes below a node, by their tokens."""

    def insert(self, row: Row) -> int:
        """Add a row; returns the number of nodes that were new."""
        here, new = self, 0
        for token in row:
            below = here.get(token)
            if below is None:
                below = here[token] = _Nodes()
                new += 1
            here = below
        return new
