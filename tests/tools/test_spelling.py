"""``make spelling``, where hunspell and its Danish dictionary are installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "spelling.py"


def check() -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, TOOL], capture_output=True, text=True, encoding="utf-8", timeout=120
    )
    if done.returncode == 2:
        pytest.skip(done.stderr)
    return done


@pytest.mark.skipif(shutil.which("hunspell") is None, reason="hunspell is not installed")
def test_every_word_of_the_built_in_sets_is_in_the_dictionary_or_reviewed() -> None:
    done = check()
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_hunspell_it_says_what_to_install() -> None:
    done = subprocess.run(
        [sys.executable, TOOL],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        env={"PATH": "", "PYTHONPATH": ":".join(sys.path)},
    )
    assert done.returncode == 2
    assert "apt install hunspell hunspell-da" in done.stderr
