"""What a model or a file is called stays text: no path, no markup, no command to a terminal."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text
from typer.testing import CliRunner

from gendalens.cli import app as cli
from gendalens.cli.app import app
from gendalens.errors import LONGEST, FailuresError, UserError
from gendalens.report import escape
from gendalens.report.terminal import result as terminal
from gendalens.report.terminal.console import PlainConsole
from gendalens.results import saved_results
from gendalens.results.run_folder import folder_name, result_folder

ESCAPES = "\x1b[2J\x1b]0;title\x07\x9b31m\x08\r\u202e[red]hej[/red]:smile:"


def shown(*renderables: object, **options: object) -> str:
    file = io.StringIO()
    console = PlainConsole(file=file, width=200, **options)
    for renderable in renderables:
        console.print(renderable)
    return file.getvalue()


def test_a_console_prints_markup_and_escapes_as_text() -> None:
    table = Table("heading")
    table.add_row(ESCAPES)
    printed = shown(ESCAPES, Text(ESCAPES), table)
    assert printed.count("[red]") == 3
    assert all(sign.isprintable() or sign == "\n" for sign in printed)


def test_colours_and_bars_of_our_own_still_work() -> None:
    printed = shown(Text("hej", style="bold red"), force_terminal=True, color_system="standard")
    assert "\x1b[1;31mhej" in printed
    file = io.StringIO()
    console = PlainConsole(file=file, force_terminal=True, width=80)
    with Progress(console=console) as progress:
        progress.update(progress.add_task("work", total=2), advance=1)
    assert "\x1b[" in file.getvalue()


@pytest.mark.parametrize("size", ["9" * 30, "9" * 9000, "²", "0", "-1", "", "wide"])
def test_a_size_that_no_terminal_has_is_not_believed(
    size: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", size)
    monkeypatch.setenv("LINES", size)
    file = io.StringIO()
    PlainConsole(file=file).rule("hej")
    assert "hej" in file.getvalue()
    assert len(file.getvalue()) < 1000


def test_every_field_of_a_result_is_shown_as_text(small_run: Path) -> None:
    one = saved_results.find_results([small_run])[0].result
    plain = json.loads(one.to_json())

    def poisoned(value: object) -> object:
        if isinstance(value, dict):
            return {key: poisoned(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [poisoned(inner) for inner in value]
        return f"{value}{ESCAPES}" if isinstance(value, str) else value

    hostile = {
        key: plain[key] if key in ("task", "signature") else poisoned(plain[key]) for key in plain
    }
    hostile["finding"] = {**poisoned(plain["finding"]), "headline": "bias"}  # type: ignore[dict-item]
    result = type(one).from_dict(hostile)
    file = io.StringIO()
    console = PlainConsole(file=file, width=80)
    terminal.show(console, result, Path(f"x{ESCAPES}"))
    terminal.show_summary(console, [result, result])
    assert all(sign.isprintable() or sign == "\n" for sign in file.getvalue())


def test_json_for_a_terminal_holds_no_command_and_says_the_same() -> None:
    plain = {ESCAPES: [ESCAPES, "æ 😀\u2028"]}
    printed = escape.as_json(plain)
    assert all(sign.isprintable() or sign == "\n" for sign in printed)
    assert "æ 😀" in printed
    assert json.loads(printed) == plain


def test_no_command_makes_a_console_of_its_own() -> None:
    folder = Path(terminal.__file__).parents[1]
    for file in (folder.parent / "cli").glob("*.py"):
        assert " Console(" not in file.read_text(encoding="utf-8"), file.name


def test_a_mistake_is_told_on_one_printable_line(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["show", str(tmp_path / f"no\n{ESCAPES}")])
    assert isinstance(done.exception, UserError)
    assert str(done.exception).isprintable()
    assert "\\x1b[2J" in str(done.exception)


def test_the_command_line_prints_no_escape_of_a_models_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["./no\x1b[2J-such\nmodel", "control:\x1b[2J"]
    monkeypatch.setattr(
        sys, "argv", ["gendalens", "run", *names, "--out", str(tmp_path), "--no-cache"]
    )
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 2
    said = capsys.readouterr()
    assert all(sign.isprintable() or sign == "\n" for sign in said.out + said.err)
    told = [line for line in said.err.splitlines() if line.startswith("gendalens: ")]
    assert len(told) == 2


def test_a_sentence_is_of_bearable_length_and_keeps_its_end() -> None:
    sentence = str(UserError(f"The model {'x' * 9000} does not exist: check the path."))
    assert len(sentence) <= LONGEST + 3
    assert sentence.endswith("does not exist: check the path.")
    assert len(str(FailuresError(["a" * LONGEST, "b" * LONGEST]))) == 2 * LONGEST + 1


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "..",
        ".",
        "",
        "C:\\x",
        "a\x00b",
        "~/x",
        "x/../../..",
        "\n",
    ],
)
def test_a_models_name_is_one_folder_inside_the_run(
    name: str, small_run: Path, tmp_path: Path
) -> None:
    one = saved_results.find_results([small_run])[0].result
    named = replace(one, model=replace(one.model, name=name))
    folder = result_folder(tmp_path, named).resolve()
    assert folder.parent.parent == tmp_path.resolve()
    assert folder_name(name) not in ("", ".", "..")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r=", "\n="])
def test_no_cell_of_a_csv_begins_as_a_formula(start: str) -> None:
    assert escape.csv(f"{start}HYPERLINK(1)")[0] not in "=+-@\t\r\n"


def test_rich_alone_would_have_obeyed() -> None:
    """So that the tests above can fail."""
    file = io.StringIO()
    Console(file=file, force_terminal=True, width=80).print(Text("\x1b[2J"), "[red]hej[/red]")
    assert "\x1b[2J" in file.getvalue()
    assert "[red]" not in file.getvalue()
