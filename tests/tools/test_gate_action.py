"""The reusable action for GitHub: its script is run as a runner would run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ACTION = Path(__file__).parents[2] / ".github" / "actions" / "gate" / "action.yml"


def run_gate(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The step that tests and gates, with the values of the inputs."""
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    step = next(one for one in action["runs"]["steps"] if one.get("id") == "gate")
    values = {name: one.get("default", "") for name, one in action["inputs"].items()} | inputs
    environment = {
        name: values[text.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, text in step["env"].items()
        if "inputs." in text
    }
    (folder / "gendalens").mkdir()
    (folder / "gendalens" / "bin").symlink_to(Path(sys.executable).parent)
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ
        | environment
        | {
            "OUT": str(folder / "run"),
            "RUNNER_TEMP": str(folder),
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        },
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "allow", "code"),
    [
        ("control:stereotyped?strength=0.9", "true", 1),
        ("control:fair", "false", 3),
        ("control:fair", "true", 0),
    ],
)
def test_the_gate_fails_on_a_bias_and_passes_as_it_is_told(
    model: str, allow: str, code: int, tmp_path: Path
) -> None:
    done = run_gate(
        tmp_path,
        **{
            "model": model,
            "tasks": "lm-dawinobias",
            "run-options": "--data builtin --sample 40",
            "allow-undecided": allow,
        },
    )
    assert done.returncode == code, done.stderr
    assert (tmp_path / "output").read_text() == f"report={tmp_path / 'run' / 'report.html'}\n"
    assert (tmp_path / "run" / "report.html").is_file()
    assert "lm-dawinobias" in (tmp_path / "summary.md").read_text()


def test_every_expression_of_the_action_names_an_input_of_it() -> None:
    text = ACTION.read_text(encoding="utf-8")
    action = yaml.safe_load(text)
    used = {part.partition(" ")[0] for part in text.split("${{ inputs.")[1:]}
    assert used == set(action["inputs"])
