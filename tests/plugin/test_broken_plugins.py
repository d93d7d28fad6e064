"""A plug-in that cannot be used is one sentence that names its package; the rest works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # each test starts the command line

OPTIONS = ("--data", "builtin", "--sample", "10", "-o", "run")
TASK = """
from gendalens.tasks.lm_abc.protocol2 import LMAbc
class Mine(LMAbc):
    pass
"""
OPTION = """
from dataclasses import dataclass, replace
from gendalens.tasks.lm_abc.protocol2 import LMAbc
from gendalens.tasks.options import Option
@dataclass(frozen=True)
class Mine(LMAbc):
    repeats: int = 1
    card = replace(LMAbc.card, name="other")
    options = (Option(name="repeats", default=1, help="Something else."),)
"""
MODEL = """
from gendalens.models.control import Control
class Mine(Control):
    pass
"""


@pytest.mark.parametrize(
    ("group", "module", "reason"),
    [
        ("gendalens.tasks", "import no_such_library", "ModuleNotFoundError"),
        ("gendalens.tasks", "1 / 0", "ZeroDivisionError"),
        ("gendalens.tasks", "Mine = 3", "is not a test"),
        ("gendalens.tasks", TASK, "a test lm-abc@2 already exists"),
        ("gendalens.tasks", OPTION, "another test has an option --repeats"),
        ("gendalens.models", "import no_such_library", "ModuleNotFoundError"),
        ("gendalens.models", "Mine = 3", "is not a model"),
        ("gendalens.models", MODEL, "control:"),
    ],
)
def test_a_broken_plugin_is_left_out(tmp_path: Path, group: str, module: str, reason: str) -> None:
    (tmp_path / "broken_module.py").write_text(module, encoding="utf-8")
    info = tmp_path / "broken_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\nmine = broken_module:Mine\n")
    done = subprocess.run(
        [sys.executable, "-m", "gendalens", "run", "control:fair", "--tasks", "lm-abc", *OPTIONS],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "GENDALENS_PLUGINS": "on"},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if "plug-in" in line]
    assert len(said) == 1
    assert said[0].startswith(
        "gendalens: The plug-in mine of the package broken-package was left out"
    )
    assert reason in said[0]
    assert "lm-abc@2" in done.stdout
