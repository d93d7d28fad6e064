"""The progress of a run that a program started: in terminals, in notebooks, or nowhere."""

from __future__ import annotations

import sys

from gendalens.engine.watcher import Watcher
from gendalens.report.notebook.progress import NotebookWatcher
from gendalens.report.terminal.console import PlainConsole
from gendalens.report.terminal.progress import TerminalWatcher
from gendalens.report.terminal.status_line import StatusLine


def choose_watcher(progress: bool | None) -> Watcher | None:
    """A watcher that shows the progress where a person sees it, on request, or not at all.

    None is the default: progress is shown in a notebook, and if standard error is a terminal.
    """
    if progress is False:
        return None
    console = PlainConsole(stderr=True)
    if console.is_jupyter:
        return NotebookWatcher()
    if progress or sys.stderr.isatty():
        return TerminalWatcher(StatusLine(console))
    return None
