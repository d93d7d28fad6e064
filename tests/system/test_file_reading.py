"""Files of others are opened without blocking, and only if they are ordinary and not too large."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from gendalens.system.file_reading import (
    check_ordinary,
    open_given,
    open_ordinary,
    read_ordinary,
)


def test_an_ordinary_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"hej")
    (tmp_path / "link").symlink_to("a")
    assert read_ordinary(tmp_path / "link") == b"hej"
    with open_ordinary(tmp_path / "a") as file:
        assert file.read() == b"hej"


@pytest.mark.timeout(10)
def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for read in (read_ordinary, open_ordinary, check_ordinary):
        with pytest.raises(OSError, match="not an ordinary file"):
            read(tmp_path / "pipe")


@pytest.mark.timeout(10)
def test_a_link_to_a_device_without_an_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").symlink_to("/dev/zero")
    for read in (read_ordinary, check_ordinary):
        with pytest.raises(OSError, match="not an ordinary file"):
            read(tmp_path / "config.json")


def test_a_file_above_the_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * (1024**2 + 1))
    assert len(read_ordinary(tmp_path / "a", 1024**2 + 1)) == 1024**2 + 1
    for read in (read_ordinary, check_ordinary):
        with pytest.raises(OSError, match="larger than 1 MB"):
            read(tmp_path / "a", 1024**2)


@pytest.mark.timeout(10)
def test_a_pipe_that_the_user_typed_is_waited_for_and_a_device_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Timer(0.2, pipe.write_bytes, [b"hej"])
    writer.start()
    with open_given(pipe) as file:
        assert file.read() == b"hej"
    writer.join()
    with pytest.raises(OSError, match="not an ordinary file"):
        open_given(Path("/dev/zero"))
