"""Progress of a run in a notebook: a bar per test, which is removed when the test is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup

from gendalens.engine.executor import Tally
from gendalens.engine.watcher import SilentWatcher
from gendalens.report.escape import one_line
from gendalens.report.notebook.markup import show_small
from gendalens.words import Message, say, write

PAUSE = 0.2  # seconds between two updates of a bar


class NotebookWatcher(SilentWatcher):
    """Shows the progress of a run below a cell.

    Rich draws its bars in notebooks by ipywidgets, which are often not installed; this needs nothing
    but the kernel.
    """

    def __init__(self) -> None:
        self._handle: Any = None
        self._label = ""
        self._done = self._total = 0
        self._began = self._shown = 0.0
        self._count_tokens: Callable[[], float] | None = None
        self._tokens_before = 0.0

    def meters(self, count_tokens: Callable[[], float]) -> None:
        """Show the tokens per second of the next test."""
        self._count_tokens, self._tokens_before = count_tokens, count_tokens()

    def starts(self, task: str, model: str, tally: Tally, notes: Sequence[str]) -> None:
        """Show a bar, if there are requests to answer, and the notes."""
        for note in notes:
            self._show(show_small(one_line(f"{task} · {model}: {note}", None)))
        if self._handle:  # of another model that runs at the same time
            self._total += tally.distinct - tally.cached
            return
        self._label = one_line(f"{task} · {model}")
        self._done, self._total = 0, tally.distinct - tally.cached
        self._began = self._shown = time.monotonic()
        if self._total:
            self._handle = self._show(self._draw(), display_id=True)

    def answered(self, count: int) -> None:
        """Advance the bar."""
        self._done += count
        now = time.monotonic()
        if self._handle and now - self._shown >= PAUSE:
            self._shown = now
            self._update(self._draw())

    def ends(self) -> None:
        """Remove the bar."""
        if self._handle:
            self._update(Markup(""))
            self._handle = None
        self._count_tokens = None

    def notes(self, message: Message) -> None:
        """Show what the user should know."""
        self._show(show_small(one_line(write(message), None)))

    def _draw(self) -> Markup:
        seconds = time.monotonic() - self._began
        rate = say("{speed:,.0f}/s", speed=self._done / seconds) if self._done and seconds else ""
        if rate and self._count_tokens:
            tokens = self._count_tokens() - self._tokens_before
            rate += " " + say("{speed:,.0f} tokens/s", speed=tokens / seconds)
        bar = Markup('<progress value="{}" max="{}"></progress> {} {}/{} {}')
        return bar.format(self._done, self._total, self._label, self._done, self._total, rate)

    def _show(self, html: Markup, **options: Any) -> Any:
        from IPython.display import HTML, display

        return display(HTML(html), **options)

    def _update(self, html: Markup) -> None:
        from IPython.display import HTML

        self._handle.update(HTML(html))
