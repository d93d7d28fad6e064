"""The step that a command is at: a spinner in a terminal, a line for each step elsewhere."""

from __future__ import annotations

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from gendalens.report.escape import one_line


class StatusLine:
    """Shows one step at a time; in a terminal, what is printed to its console stands above it."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._live: Live | None = None
        self._step = ""

    def show(self, step: str) -> None:
        """Show a step in place of the last one."""
        if step == self._step:
            return
        self._step = step
        # On one line, so that a model's name cannot imitate output of GenDa Lens.
        line = Text(f"{one_line(step, None)} …", style="dim")
        if not self.console.is_terminal:
            self.console.print(line, soft_wrap=True)
            return
        line.truncate(max(1, self.console.width - 2), overflow="ellipsis")
        spinner = Spinner("dots", text=line)
        if self._live is None:
            self._live = Live(spinner, console=self.console, transient=True)
            self._live.start(refresh=True)  # at once: what is imported next may keep Python busy
        else:
            self._live.update(spinner, refresh=True)

    def stop(self) -> None:
        """Remove the spinner."""
        self._step = ""
        if self._live is not None:
            self._live.stop()
            self._live = None
