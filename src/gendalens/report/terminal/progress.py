"""Progress with rate and time left on a terminal, one line a test elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from gendalens.engine.executor import Tally
from gendalens.report.escape import one_line


class Rate(ProgressColumn):
    """Requests a second."""

    def render(self, task: Task) -> Text:
        """The rate, once there is one."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "", style="dim")


class TerminalWatcher:
    """Shows a run on standard error."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._progress: Progress | None = None

    def starts(self, task: str, model: str, tally: Tally, notes: Sequence[str]) -> None:
        """Say what was saved, and open a bar where somebody can see it move."""
        for line in (str(tally), *notes):
            # On one line: a model's name must not look like a line of ours.
            said = one_line(f"{task} · {model}: {line}", None)
            self.console.print(Text(said, style="dim"), soft_wrap=True)
        waiting = tally.distinct - tally.cached
        if waiting and self.console.is_terminal:
            self._progress = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                Rate(),
                TimeRemainingColumn(),
                console=self.console,
                transient=True,
            )
            self._progress.add_task(task, total=waiting)
            self._progress.start()

    def answered(self, count: int) -> None:
        """Move the bar."""
        if self._progress:
            self._progress.advance(self._progress.task_ids[0], count)

    def ends(self) -> None:
        """Take the bar away."""
        if self._progress:
            self._progress.stop()
            self._progress = None
