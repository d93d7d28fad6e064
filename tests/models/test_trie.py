"""Rows as trees: nothing is lost, nothing stands twice in a tree, and every limit is kept."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.models.huggingface.trie import Tree, count_nodes, pack_trees, plan_trees

Row = tuple[int, ...]

# Few different tokens, so that rows share their beginnings.
ROWS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=8).map(tuple), max_size=20)
REQUESTS = st.lists(ROWS.filter(len).map(tuple), max_size=12)


def count_beginnings(rows: list[Row]) -> int:
    """The number of distinct beginnings, which is the number of nodes by definition."""
    return len({row[:end] for row in rows for end in range(1, len(row) + 1)})


@settings(deadline=None, derandomize=True)
@given(ROWS)
def test_the_nodes_are_the_distinct_beginnings(rows: list[Row]) -> None:
    assert count_nodes(rows) == count_beginnings(rows)


@settings(deadline=None, derandomize=True)
@given(ROWS, st.integers(1, 30), st.integers(1, 30))
def test_packed_trees_spell_every_row_once_and_keep_their_limits(
    rows: list[Row], width: int, most: int
) -> None:
    asked = {row: [at for at in range(len(row)) if (at + row[0]) % 2] for row in rows}
    trees = list(pack_trees(asked, width=width, most_asked=most))
    assert sorted(row for tree in trees for row in tree.paths) == sorted(set(rows))
    for tree in trees:
        check_tree(tree)
        nodes = {tree.paths[row][at] for row in tree.paths for at in asked[row]}
        assert len(tree.paths) == 1 or (len(tree) <= width and len(nodes) <= most)


def check_tree(tree: Tree) -> None:
    assert len(tree) == count_beginnings(list(tree.paths))
    for row, path in tree.paths.items():
        assert tuple(tree.tokens[node] for node in path) == row
        assert [tree.depths[node] for node in path] == list(range(len(row)))
        assert [tree.parents[node] for node in path] == [-1, *path[:-1]]
    assert all(parent < node for node, parent in enumerate(tree.parents))


@settings(deadline=None, derandomize=True)
@given(REQUESTS, st.integers(1, 60))
def test_a_plan_of_trees_holds_every_request_once_and_keeps_to_its_budget(
    requests: list[tuple[Row, ...]], budget: int
) -> None:
    batches = list(plan_trees(requests, batch_tokens=budget))
    assert sorted(i for batch in batches for i in batch) == list(range(len(requests)))
    for batch in batches:
        rows = [row for i in batch for row in requests[i]]
        assert len(batch) == 1 or count_beginnings(rows) <= budget
    assert list(plan_trees(requests, batch_tokens=budget)) == batches


def test_requests_with_shared_beginnings_are_neighbours() -> None:
    requests = [((1, 2, 3),), ((5, 6),), ((1, 2, 4),), ((5, 7),)]
    assert list(plan_trees(requests, batch_tokens=4)) == [[0, 2], [1, 3]]
