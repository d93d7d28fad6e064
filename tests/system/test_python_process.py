"""Processes are started without anything from the working directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from gendalens.system.python_process import run_python


def test_modules_in_the_working_directory_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "this.py").write_text("print('from the folder')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", ".")
    done = run_python(["-m", "this"], timeout=60)
    assert b"from the folder" not in done.stdout
    assert b"Zen of Python" in done.stdout


def test_the_working_directory_is_empty_and_input_arrives(tmp_path: Path) -> None:
    code = "import os, sys; print(os.listdir(), sys.stdin.read())"
    assert run_python(["-c", code], given=b"hej", timeout=60).stdout == b"[] hej\n"


@pytest.mark.parametrize("setting", ["PYTHONPATH", "PYTHONSTARTUP", "PYTHONUSERBASE"])
def test_a_setting_that_points_to_the_working_directory_runs_nothing_from_it(
    setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python takes relative paths in them, and an empty one, for those of its working directory."""
    marker = tmp_path / "has-run"
    for name in ("sitecustomize.py", "usercustomize.py", "startup.py", "json.py"):
        (tmp_path / name).write_text(f"open({str(marker)!r}, 'w').close()")
    (tmp_path / "own.pth").write_text(f"import pathlib; pathlib.Path({str(marker)!r}).touch()")
    monkeypatch.chdir(tmp_path)
    for value in (".", "startup.py", ":", ""):
        monkeypatch.setenv(setting, value)
        done = run_python(["-c", "import json"], timeout=60)
        assert done.returncode == 0
    assert not marker.exists()


def test_pip_reads_no_settings_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pip.conf", "pip.ini", "setup.cfg", "pyproject.toml"):
        (tmp_path / name).write_text("[global]\nindex-url = http://attacker.invalid/simple\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PIP_CONFIG_FILE", "pip.conf")
    done = run_python(["-m", "pip", "config", "list"], timeout=60)
    assert b"attacker" not in done.stdout + done.stderr
