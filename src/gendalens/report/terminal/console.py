"""The terminal: untrusted text from models and files cannot control it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_SIZES = ("COLUMNS", "LINES")
_SIZE = re.compile("[1-9][0-9]{0,4}")  # a plausible size of a terminal


class PlainConsole(Console):
    """A console that interprets no markup and prints no control characters except its own.

    A model's name may be ``[red]`` or contain an escape sequence; neither may affect the terminal.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, _environ=_read_environment(), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The segments to print; Rich marks its own control codes (such as a progress bar's)."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable() or segment.text == "\n":
                yield segment
            else:
                yield Segment("".join(map(_replace_harmful, segment.text)), segment.style)


def _read_environment() -> dict[str, str]:
    """The environment, without terminal sizes that Rich cannot handle."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in _SIZES or _SIZE.fullmatch(value)
    }


def _replace_harmful(sign: str) -> str:
    return sign if sign.isprintable() or sign == "\n" else "\N{REPLACEMENT CHARACTER}"
