"""The first sign of life of a command, shown before the imports that take seconds."""

from __future__ import annotations

from gendalens.report.terminal.console import PlainConsole
from gendalens.report.terminal.status_line import StatusLine
from gendalens.words import say

_shown: list[StatusLine] = []


def show_first_sign() -> None:
    """Show that the command has begun, unless it is shown already."""
    if _shown:
        return
    _shown.append(StatusLine(PlainConsole(stderr=True)))
    _shown[0].show(say("starting"))


def find_status_line() -> StatusLine:
    """The line of the first sign, for the steps that follow; a new one if there was none."""
    return _shown[0] if _shown else StatusLine(PlainConsole(stderr=True))


def remove_first_sign() -> None:
    """Remove the line, however the command ended."""
    while _shown:
        _shown.pop().stop()
