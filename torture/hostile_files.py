"""Ways to put something else in the place of a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from torture.hostile import Scene

Way = Callable[[Path, Scene], None]


def _clear(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)


def put_pipe(file: Path, scene: Scene) -> None:
    """A pipe, which blocks whoever opens it."""
    _clear(file)
    os.mkfifo(file)


def put_device(file: Path, scene: Scene) -> None:
    """A link to a device that never ends."""
    _clear(file)
    file.symlink_to("/dev/zero")


def put_link(file: Path, scene: Scene) -> None:
    """A link to the user's letter."""
    _clear(file)
    file.symlink_to(scene.letter)


def put_loop(file: Path, scene: Scene) -> None:
    """A link to itself."""
    _clear(file)
    file.symlink_to(file.name)


def put_folder(file: Path, scene: Scene) -> None:
    """A folder."""
    _clear(file)
    file.mkdir()


def put_sparse(file: Path, scene: Scene) -> None:
    """A terabyte of zeros, which takes no space."""
    _clear(file)
    with file.open("wb") as handle:
        handle.truncate(2**40)


def put_text(text: str) -> Way:
    """Some text."""

    def put(file: Path, scene: Scene) -> None:
        _clear(file)
        file.write_text(text, encoding="utf-8")

    return put


WAYS: dict[str, Way] = {
    "pipe": put_pipe,
    "device": put_device,
    "link": put_link,
    "loop of links": put_loop,
    "folder": put_folder,
    "terabyte": put_sparse,
    "deep JSON": put_text("[" * 100_000),
    "deep objects": put_text('{"a":' * 100_000),
    "list": put_text("[]"),
    "null": put_text("null"),
    "number of 5,000 digits": put_text('{"a": ' + "9" * 5_000 + "}"),
    "NUL": put_text("\x00" * 100),
    "empty": put_text(""),
}
