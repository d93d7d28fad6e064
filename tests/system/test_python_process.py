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
