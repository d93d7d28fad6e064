"""A seal tells what this user wrote from what somebody else did."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gendalens.system.seals import find_key, is_genuine, make_seal


def test_a_seal_belongs_to_one_text_and_one_key() -> None:
    assert not is_genuine("a", "")  # there is no key yet
    seal = make_seal("a")
    assert seal == make_seal("a") != make_seal("b")
    assert is_genuine("a", seal)
    assert not is_genuine("b", seal)
    assert not is_genuine("a", "æ")
    find_key().write_bytes(bytes(32))
    assert not is_genuine("a", seal)


@pytest.mark.parametrize("content", [b"", b"short", bytes(33)])
def test_a_damaged_key_is_replaced(content: bytes) -> None:
    seal = make_seal("a")
    find_key().write_bytes(content)
    assert not is_genuine("a", seal)
    assert is_genuine("a", make_seal("a"))


def test_a_key_that_is_a_pipe_blocks_nobody(tmp_path: Path) -> None:
    find_key().parent.mkdir(parents=True)
    os.mkfifo(find_key())
    assert not is_genuine("a", "b")
    with pytest.raises(OSError, match="not an ordinary file"):
        make_seal("a")
