"""Whoever waits is told at once that a command has begun, and what it is doing."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import CommandLine
from rich.console import Console
from scripted import Question, Scripted
from small_data import small_data

import gendalens
from gendalens.cli import app as cli
from gendalens.cli import first_sign
from gendalens.engine.executor import Tally
from gendalens.errors import UserError
from gendalens.models.requests import Answer
from gendalens.report.terminal.console import PlainConsole
from gendalens.report.terminal.progress import TerminalWatcher
from gendalens.report.terminal.status_line import StatusLine
from gendalens.system.steps import tell_note, tell_step
from gendalens.words import Template

STEP = Template("step_of_a_test", "loading {model}")
SLOW = ("numpy", "pandas", "jinja2", "altair", "transformers", "torch", "spacy", "pydantic")


@pytest.mark.parametrize("command", [["run", "control:fair"], ["demo"]])
def test_the_first_sign_comes_before_everything_slow_is_imported(command: list[str]) -> None:
    code = f"""
import sys
sys.argv = ["gendalens", *{command!r}]

class Stop(BaseException):
    pass

class Ears:
    encoding, errors = "utf-8", "strict"
    def write(self, text):
        print(text.strip(), *(name for name in {SLOW!r} if name in sys.modules))
        raise Stop
    def flush(self): pass
    def isatty(self): return False

from gendalens.cli import app
sys.stderr = Ears()
try:
    app.app(standalone_mode=False)
except Stop:
    pass
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "starting …\n", done.stderr


@pytest.fixture
def line(tmp_path: Path, small_run: Path) -> CommandLine:
    first_sign.remove_first_sign()  # of a command that another test has called
    return CommandLine(tmp_path, small_run, pytest.MonkeyPatch())


def test_help_and_other_commands_give_no_sign(line: CommandLine) -> None:
    assert line("run", "--help").err == line("demo", "--help").err == ""
    assert line("tasks").err == ""


def test_a_pipe_gets_a_line_for_each_step_and_json_stays_pure(
    line: CommandLine, tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gendalens.api.write_report", lambda out, folders: None)
        given = ("--tasks", "lm-abc", "--data", "builtin", "--sample", "4", "--out", tmp_path / "o")
        done = line("run", "control:fair", *given, "--json")
    assert done.err.splitlines()[:3] == [
        "starting …",
        "loading control:fair …",
        "reading the data …",
    ]
    assert json.loads(done.out)
    assert "\x1b" not in done.err


def test_an_error_removes_the_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    first_sign.remove_first_sign()
    stopped: list[bool] = []
    monkeypatch.setattr(StatusLine, "stop", lambda self: stopped.append(True))
    monkeypatch.setattr(sys, "argv", ["gendalens", "run", "control:fair", "--protocol", "x"])
    with pytest.raises(UserError, match="Invalid value"):
        cli._run_command()
    assert stopped == [True]


def shown_on_terminal() -> tuple[io.StringIO, StatusLine]:
    written = io.StringIO()
    console = PlainConsole(file=written, force_terminal=True, width=40)
    return written, StatusLine(console)


def test_a_terminal_has_a_spinner_with_the_step_that_goes_without_a_trace() -> None:
    written, status = shown_on_terminal()
    status.show("loading a\x1b[2J\nb")
    status.show("reading the data")
    status.stop()
    text = written.getvalue()
    assert "loading a" in text
    assert "\x1b[2J" not in text
    assert "reading the data …" in text
    assert text.endswith("\x1b[2K")  # the line is empty again
    assert status.console._live_stack == []


def test_a_step_is_longer_than_the_terminal_only_in_a_pipe() -> None:
    written, status = shown_on_terminal()
    status.show("loading " + "long " * 20)
    status.stop()
    assert "…" in written.getvalue()
    assert written.getvalue().count("long") < 20
    piped = io.StringIO()
    StatusLine(Console(file=piped, width=40)).show("loading " + "long " * 20)
    assert piped.getvalue().count("\n") == 1
    assert piped.getvalue().count("long") == 20


def test_while_a_bar_is_shown_the_step_stands_beside_it_until_answers_come() -> None:
    written, status = shown_on_terminal()
    watcher = TerminalWatcher(status)
    watcher.prepares(STEP(model="a"))
    watcher.starts("lm-abc@2", "a", Tally(2, 2, 0), [])
    watcher.prepares(STEP(model="a"))
    bar = watcher._progress
    assert bar is not None
    assert bar.tasks[0].description == "lm-abc@2 · loading a"
    watcher.answered(1)
    assert bar.tasks[0].description == "lm-abc@2"
    assert bar.tasks[0].completed == 1
    watcher.ends()
    watcher.prepares(STEP(model="b"))  # for another number format
    watcher.ends()
    assert status.console._live_stack == []
    assert "loading b" in written.getvalue()


class Slow(Scripted):
    """A model that tells what it does."""

    def answer(self, batch: Sequence[Question]) -> list[Answer]:
        tell_step(STEP(model="the weights"))
        tell_note(STEP(model="a note"))
        return super().answer(batch)


def test_what_a_model_tells_is_shown_while_it_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = small_data(tmp_path / "data")
    gendalens.run(Slow(), tasks="lm-abc", data=data, cache=False, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert "loading the weights …" in lines
    assert "loading a note" in lines
    gendalens.run(Slow(), tasks="lm-abc", data=data, cache=False)
    tell_step(STEP(model="nobody"))
    assert capsys.readouterr().err == ""
