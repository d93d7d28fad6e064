"""The progress of ``gendalens.run``: shown to people, not to pipes, and as they wish."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from rich.progress import Progress
from scripted import Scripted
from small_data import small_data

import gendalens
from gendalens.report.notebook import progress as notebook_progress
from gendalens.report.terminal import progress as terminal_progress


@pytest.fixture
def data(tmp_path: Path) -> dict[str, Path]:
    return small_data(tmp_path / "data")


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How far each bar on the terminal got."""
    drawn: list[int] = []

    class Bar(Progress):
        def stop(self) -> None:
            drawn.append(int(self.tasks[0].completed))
            super().stop()

    monkeypatch.setattr(terminal_progress, "Progress", Bar)
    return drawn


def run(data: dict[str, Path], **options: Any) -> gendalens.Results:
    return gendalens.run(Scripted(), tasks="lm-abc", data=data, cache=False, **options)


def test_nothing_is_printed_where_nobody_looks(
    data: dict[str, Path], capfd: pytest.CaptureFixture[str], bars: list[int]
) -> None:
    run(data)
    assert capfd.readouterr() == ("", "")
    assert bars == []


def test_a_terminal_has_a_bar_that_counts_every_request(
    data: dict[str, Path],
    capsys: pytest.CaptureFixture[str],
    bars: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(Console, "is_terminal", True)
    model = Scripted()
    gendalens.run(model, tasks="lm-abc", data=data, cache=False)
    assert bars == [len(model.asked)]
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "lm-abc@2 · scripted" in printed.err


def test_progress_false_silences_a_terminal(
    data: dict[str, Path],
    capsys: pytest.CaptureFixture[str],
    bars: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(Console, "is_terminal", True)
    run(data, progress=False)
    assert capsys.readouterr() == ("", "")
    assert bars == []


def test_progress_true_prints_a_line_per_step_and_test_where_there_is_no_terminal(
    data: dict[str, Path], capsys: pytest.CaptureFixture[str], bars: list[int]
) -> None:
    run(data, progress=True)
    printed = capsys.readouterr()
    assert printed.out == ""
    *steps, line = printed.err.splitlines()
    assert steps == ["loading scripted …", "reading the data …"]
    assert line.startswith("lm-abc@2 · scripted: ")
    assert bars == []


class Notebook:
    """A kernel's display, as far as progress needs it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shown: list[str] = []
        self.updates: list[str] = []
        module: Any = ModuleType("IPython.display")
        module.HTML = str
        module.display = self.display
        monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
        monkeypatch.setitem(sys.modules, "IPython.display", module)
        monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
        monkeypatch.setattr(notebook_progress, "PAUSE", 0)

    def display(self, html: str, display_id: bool = False) -> SimpleNamespace | None:
        self.shown.append(html)
        return SimpleNamespace(update=self.updates.append) if display_id else None


def test_a_notebook_has_a_bar_that_moves_and_goes(
    data: dict[str, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = Notebook(monkeypatch)
    model = Scripted(name="<b>scripted</b>")
    gendalens.run(model, tasks="lm-abc", data=data, cache=False)
    [bar] = notebook.shown
    total = len(model.asked)
    assert f'<progress value="0" max="{total}">' in bar
    assert "&lt;b&gt;scripted" in bar
    *moving, last = notebook.updates
    assert f'<progress value="{total}" max="{total}">' in moving[-1]
    assert last == ""
    assert capsys.readouterr() == ("", "")


def test_progress_false_silences_a_notebook(
    data: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = Notebook(monkeypatch)
    run(data, progress=False)
    assert notebook.shown == []
