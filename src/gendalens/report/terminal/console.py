"""The terminal: what comes from a model or a file stays text on it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_SIZES = ("COLUMNS", "LINES")
_SIZE = re.compile("[1-9][0-9]{0,4}")  # that a terminal may have


class PlainConsole(Console):
    """A console that reads no markup, and prints no control character but its own.

    A model may be called ``[red]`` or carry an escape sequence in its name: neither may colour, move
    or clear anything.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, _environ=_environment(), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The pieces to print; control codes of Rich's own (a progress bar's) are marked as such."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable() or segment.text == "\n":
                yield segment
            else:
                yield Segment("".join(map(_replace_harmful, segment.text)), segment.style)


def _environment() -> dict[str, str]:
    """The environment without sizes that Rich cannot work with."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in _SIZES or _SIZE.fullmatch(value)
    }


def _replace_harmful(sign: str) -> str:
    return sign if sign.isprintable() or sign == "\n" else "\N{REPLACEMENT CHARACTER}"
