"""Holm's correction."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendalens.stats.multiple import holm

ps_or_none = st.lists(st.none() | st.floats(0, 1), max_size=8)


def test_holm_by_hand() -> None:
    """4·.01, 3·.02, then 2·.03 = .06 ties with the one before, 1·.05 is lifted to it."""
    assert holm([0.05, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])


def test_a_test_that_was_not_made_does_not_count() -> None:
    assert holm([None, 0.02, None]) == [None, 0.02, None]
    assert holm([]) == []


@settings(deadline=None, derandomize=True)
@given(ps_or_none)
def test_adjusting_never_lowers_p_nor_changes_the_order(ps: list[float | None]) -> None:
    adjusted = holm(ps)
    assert [p is None for p in adjusted] == [p is None for p in ps]
    pairs = sorted(
        (p, q) for p, q in zip(ps, adjusted, strict=True) if p is not None and q is not None
    )
    assert all(p <= q + 1e-15 and q <= 1 for p, q in pairs)
    assert [q for _, q in pairs] == sorted(q for _, q in pairs)
