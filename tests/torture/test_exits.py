from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from gendalens.cli.exits import STOPPED
from torture.interruptions import closed_pipes
from torture.place import Place, wait_for_end


def stopped(
    body: str, stdout: int | IO[str] | None = None, handler: str = "default_int_handler"
) -> subprocess.CompletedProcess[str]:
    """A process that runs ``body`` as the command line."""
    code = (
        "import os, signal, sys, time\n"
        "from gendalens.cli import exits\n"
        # Background jobs of a shell, and all they start, do not hear Ctrl-C.
        f"signal.signal(signal.SIGINT, signal.{handler})\n"
        f"def command():\n    {body}\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code + "exits.run(command)"],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("os.kill(os.getpid(), signal.SIGTERM); time.sleep(9)", "run the same command again"),
        ("os.kill(os.getpid(), signal.SIGINT); time.sleep(9)", "run the same command again"),
        ("sys.exit(130)", "run the same command again"),  # what Typer makes of Ctrl-C
        ("bytearray(2**62)", "not enough memory"),
        ("raise OSError(28, 'No space left on device')", "disk is full"),
        ("open('/nowhere/at\\nall')", "/nowhere/at\\nall cannot be used (No such file"),
    ],
)
def test_what_ends_a_command_from_outside_is_one_sentence(body: str, sentence: str) -> None:
    end = stopped(body)
    assert end.returncode == 2
    assert len(end.stderr.splitlines()) == 1
    assert sentence in end.stderr


def test_a_command_goes_on_when_its_output_has_no_place_left(tmp_path: Path) -> None:
    done = tmp_path / "done"
    body = f"print('x' * 100_000, flush=True); open({str(done)!r}, 'w').close(); print('y')"
    with Path("/dev/full").open("w") as full:
        end = stopped(body, stdout=full)
    assert done.exists()
    assert (end.returncode, len(end.stderr.splitlines())) == (2, 1)
    assert "disk is full" in end.stderr


def test_an_error_nobody_foresaw_is_a_traceback_and_no_verdict_of_a_gate() -> None:
    end = stopped("raise RuntimeError('nobody foresaw this')", stdout=subprocess.DEVNULL)
    assert end.returncode == 70
    assert "Traceback" in end.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_a_sign_that_the_encoding_lacks_stops_nothing(
    settings: dict[str, str], small_run: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gendalens", "show", str(small_run)],
        capture_output=True,
        env={**os.environ, **settings},
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u2212" in done.stdout  # the minus


def in_shell(command: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """A line of shell in which ``gendalens`` is the command, and the arguments are $1 and so on."""
    line = f'gendalens() {{ "{sys.executable}" -m gendalens "$@"; }}; {command}'
    return subprocess.run(
        ["sh", "-c", line, "sh", *map(str, arguments)], capture_output=True, text=True, timeout=60
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("gate nosuch --max-effect 1 2>&-", 2),
        ("show nosuch >&- 2>&-", 2),
        ('show "$1" --markdown >&-', 0),
        ('show "$1" --json >&-', 0),
        ('show "$1" >&- 2>&-', 0),
        ("requests lm-abc --data builtin --sample 2 -o - >&-", 0),
        ("--help >&-", 0),
    ],
)
def test_a_closed_stream_changes_no_exit_code(command: str, code: int, small_run: Path) -> None:
    done = in_shell(f"gendalens {command}", small_run)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


def test_output_larger_than_files_may_be_is_one_sentence(small_run: Path, tmp_path: Path) -> None:
    done = in_shell('ulimit -f 1; gendalens show "$1" --json > "$2"', small_run, tmp_path / "json")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "File too large" in done.stderr


@pytest.mark.parametrize(
    ("handler", "code"), [("default_int_handler", -signal.SIGINT), ("SIG_IGN", 0)]
)
def test_an_interruption_of_the_imports_is_no_traceback(handler: str, code: int) -> None:
    body = (
        "import os, signal, sys\n"
        f"signal.signal(signal.SIGINT, signal.{handler})\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'typer':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from gendalens.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", body, "--version"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (code, "")


def test_ctrl_c_is_heard_again_after_the_imports() -> None:
    body = "os.kill(os.getpid(), signal.SIGINT); time.sleep(9)"
    end = stopped(body, handler="SIG_DFL")
    assert (end.returncode, end.stderr) == (2, f"gendalens: {STOPPED}\n")


@pytest.mark.usefixtures("chart_library")
@pytest.mark.slow
def test_a_reader_that_closes_the_pipe_stops_no_run(own_home: Path, tmp_path: Path) -> None:
    asked = ["control:fair", "--tasks", "lm-abc", "--data", "builtin", "--sample", "8"]
    whole = Place(tmp_path / "whole", own_home / "pages")
    assert wait_for_end(whole.start(asked)).code == 0
    for trial in closed_pipes(
        asked,
        seed=0,
        work=tmp_path,
        whole=whole.out,
        lines=(0,),
        commands=(["show", str(whole.out)],),
    ):
        assert trial.outcome != "lost", trial.note
