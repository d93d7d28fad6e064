"""Every option of every command does what it says: each declared one has a row that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from command_line import CommandLine, Row

from gendalens.cli.app import app

pytest.register_assert_rewrite(
    "cluster_rows", "describing_rows", "measuring_rows", "reporting_rows", "shard_rows"
)
import cluster_rows  # noqa: E402
import describing_rows  # noqa: E402
import measuring_rows  # noqa: E402
import reporting_rows  # noqa: E402
import shard_rows  # noqa: E402

TABLES = tuple(
    rows.TABLE
    for rows in (measuring_rows, reporting_rows, describing_rows, shard_rows, cluster_rows)
)
ROWS = {key: row for table in TABLES for key, row in table.items()}
#: Typer's own, for the shell that is in use.
OF_TYPER = {"--install-completion", "--show-completion"}


def declared() -> Iterator[tuple[str, str]]:
    """Every command with each of its arguments (by metavariable) and options."""
    yield from _list_parameters(typer.main.get_command(app), (), None)


def _list_parameters(command: Any, path: tuple[str, ...], parent: Any) -> Iterator[tuple[str, str]]:
    context = type(command).context_class(
        command, info_name=(path or ("gendalens",))[-1], parent=parent
    )
    for parameter in command.get_params(context):
        if parameter.param_type_name == "argument":
            yield " ".join(path), parameter.metavar or parameter.name.upper()
        else:
            yield " ".join(path), parameter.opts[0]
    for name, child in getattr(command, "commands", {}).items():
        yield from _list_parameters(child, (*path, name), context)


DECLARED = [f"{path} {option}".strip() for path, option in declared()]
#: A row that shows several options is run once for each command.
CASES: dict[tuple[Row, str], list[str]] = {}
for _path, _option in declared():
    if _key := ROWS.get(f"{_path} {_option}".strip()):
        CASES.setdefault((_key, _path), []).append(_option)


@pytest.fixture
def line(tmp_path: Path, small_run: Path, chart_library: None) -> Iterator[CommandLine]:
    folder = tmp_path / "here"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:  # its own, so that a row may undo what it patched
        yield CommandLine(folder, small_run, patch)


def test_every_declared_option_has_a_row_and_every_row_an_option() -> None:
    own = [key for key in DECLARED if key.split()[-1] not in OF_TYPER | {"--help"}]
    assert sorted(ROWS) == sorted(own)
    assert len(own) > 100


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "command"),
    CASES,
    ids=[" ".join((path, *options)).strip() for (_, path), options in CASES.items()],
)
def test_an_option_changes_what_its_row_says(
    line: CommandLine, row: Row, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(line.folder)  # where `run` writes unless told otherwise
    row(line, command)


@pytest.mark.parametrize(
    "path", sorted({path for path, option in declared() if option == "--help"})
)
def test_help_shows_how_a_command_is_used(line: CommandLine, path: str) -> None:
    shown = line(*path.split(), "--help").out
    assert f"Usage: root {path}".rstrip() in shown
