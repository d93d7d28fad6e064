"""Progress of a run: a bar with rate and time left on a terminal, one line per test elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
from gendalens.engine.watcher import SessionReport
from gendalens.report.escape import one_line
from gendalens.report.terminal.status_line import StatusLine
from gendalens.words import Message, say, write


class Rate(ProgressColumn):
    """A column with the requests per second."""

    def render(self, task: Task) -> Text:
        """The rate, once it is known."""
        speed = task.finished_speed or task.speed
        return Text(say("{speed:,.0f}/s", speed=speed) if speed else "", style="dim")


class TokenRate(ProgressColumn):
    """A column with the tokens per second since the test began, by a model that counts them."""

    def __init__(self, count_tokens: Callable[[], float]) -> None:
        super().__init__()
        self._count = count_tokens
        self._before = count_tokens()

    def render(self, task: Task) -> Text:
        """The rate; it also moves while a batch is on its way."""
        tokens = self._count() - self._before
        if not tokens or not task.elapsed:
            return Text("")
        return Text(say("{speed:,.0f} tokens/s", speed=tokens / task.elapsed), style="dim")


class TerminalWatcher:
    """Shows the progress of a run on standard error."""

    def __init__(self, status: StatusLine) -> None:
        self.console = status.console
        self._status = status
        self._progress: Progress | None = None
        self._count_tokens: Callable[[], float] | None = None
        self._task = ""
        self._total = 0

    def prepares(self, step: Message) -> None:
        """Show the step; while a bar is shown, beside it."""
        if self._progress:
            described = one_line(f"{self._task} · {write(step)}", None)
            self._progress.update(self._progress.task_ids[0], description=described)
        else:
            self._status.show(write(step))

    def starts(self, task: str, model: str, tally: Tally, notes: Sequence[str]) -> None:
        """Print the number of requests and notes; start a progress bar on a terminal."""
        self._status.stop()
        for line in (write(tally.message), *notes):
            self._print(f"{task} · {model}: {line}")
        waiting = tally.distinct - tally.cached
        if self._progress:  # of another model that runs at the same time
            self._total += waiting
            self._progress.update(self._progress.task_ids[0], total=self._total)
        elif waiting and self.console.is_terminal:
            self._progress = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                Rate(),
                *((TokenRate(self._count_tokens),) if self._count_tokens else ()),
                TimeRemainingColumn(),
                console=self.console,
                transient=True,
                # A batch of questions to a slow server takes minutes.
                speed_estimate_period=3600,
            )
            self._task, self._total = task, waiting
            self._progress.start()
            # Nothing is done yet: with this, the first batch tells the rate.
            self._progress.advance(self._progress.add_task(task, total=waiting), 0)

    def meters(self, count_tokens: Callable[[], float]) -> None:
        """Show the tokens per second of the next test."""
        self._count_tokens = count_tokens

    def answered(self, count: int) -> None:
        """Advance the bar."""
        if self._progress:
            bar = self._progress.task_ids[0]
            self._progress.update(bar, advance=count, description=self._task)

    def ends(self) -> None:
        """Remove what is shown."""
        self._status.stop()
        if self._progress:
            self._progress.stop()
            self._progress = None
        self._count_tokens = None

    def finishes(self, model: str, report: SessionReport) -> None:
        """Remove what is shown, before the results are."""
        self._status.stop()

    def notes(self, message: Message) -> None:
        """Print what the user should know."""
        self._print(write(message))

    def _print(self, line: str) -> None:
        # Continued lines are indented, so that a model's name cannot imitate output of GenDa Lens.
        text = Text(one_line(line, None), style="dim")
        if not self.console.is_terminal or len(text) <= self.console.width:
            self.console.print(text, soft_wrap=True)
            return
        first, *rest = text.wrap(self.console, self.console.width - 2)
        self.console.print(first)
        for part in rest:
            self.console.print(Text("  ").append_text(part))
