"""The step that a command is at: a spinner in a terminal, a line for each step elsewhere."""

from __future__ import annotations

from rich.console import Console
from rich.status import Status
from rich.text import Text

from gendalens.report.escape import one_line


class StatusLine:
    """Shows one step at a time; in a terminal, what is printed to its console stands above it."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._spinner: Status | None = None
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
        if self._spinner is None:
            self._spinner = Status(line, console=self.console)
            self._spinner.start()
        else:
            self._spinner.update(line)

    def stop(self) -> None:
        """Remove the spinner."""
        self._step = ""
        if self._spinner is not None:
            self._spinner.stop()
            self._spinner = None
