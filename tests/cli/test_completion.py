"""What the shell is told when a choice is completed: by the protocol that its script speaks."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from gendalens.cli import app, completion
from gendalens.data import errata, names
from gendalens.models import entity_labels
from gendalens.models.chat.respondent import Rung
from gendalens.models.huggingface.stored_checkpoint import DTYPES
from gendalens.report.exports.chart_files import FORMATS
from gendalens.tasks import all_tasks

TESTS = sorted({name for name, _ in all_tasks()})
CONTROLS = ["fair", "stereotyped", "male-default", "always-han"]


def complete(monkeypatch: pytest.MonkeyPatch, typed: str, shell: str = "bash") -> list[str]:
    """The completions of the last word, as bash asks for them: it splits words at ``:`` and ``=``."""
    words = typed
    if shell == "bash":
        for sign in ":=":
            words = words.replace(sign, f" {sign} ").replace(f"{sign}  ", f"{sign} ")
        words = words.rstrip(" ") + (" " if typed.endswith(" ") else "")
    monkeypatch.setenv(completion.VARIABLE, f"complete_{shell}")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", typed)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    found = io.StringIO()
    with redirect_stdout(found), pytest.raises(SystemExit), completion.cope_with_bash():
        app.app(prog_name="gendalens")
    return found.getvalue().split()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("run x --tasks ", TESTS),
        ("run x --tasks lm-abc,lm-", ["lm-abc,lm-dawinobias"]),
        ("run x --tasks=lm-", ["lm-abc", "lm-dawinobias"]),
        ("compare runs --tasks ner", ["ner-dane"]),
        ("run x --dtype ", list(DTYPES)),
        ("run x --device ", ["cpu", "cuda", "mps", "auto"]),
        ("run x --protocol ", ["1", "2"]),
        ("run x --names ", list(names.HOWS)),
        ("run x --labels GPE=", [*entity_labels.TARGETS, "-"]),
        ("run x --labels GPE=LOC,FAC=P", ["PER"]),
        ("run x --uni", ["--unisex"]),
        ("run x --answer-by ", [one.value for one in Rung]),
        ("run x --data b", ["builtin"]),
        ("run x --data ab", ["abc="]),
        ("run x --data abc=bu", ["builtin"]),
        ("run x --negligible lm", ["lm-abc=", "lm-dawinobias="]),
        ("run x --language ", ["en", "da"]),
        ("run control:", CONTROLS),
        ("run control:f", ["fair"]),
        ("run lm-coref:demo-l", ["demo-lm"]),
        ("run demo", ["demo-lm", "demo-ner"]),
        ("requests lm", ["lm-abc", "lm-dawinobias"]),
        ("score ner", ["ner-dane"]),
        ("power coref-a", ["coref-abc"]),
        ("tasks lm-abc", ["lm-abc", "lm-abc@1", "lm-abc@2"]),
        ("data errata --severity ", list(errata.SEVERITIES)),
        ("data errata d", ["dawinobias", "dane"]),
        ("data pull ab", ["abc"]),
        ("names preview --names m", ["matched"]),
        ("cache clean w", ["weights"]),
        ("plot runs --format ", list(FORMATS)),
        ("gate runs --only ", ["main", "groups"]),
        ("gate runs --limit ner", ["ner-dane="]),
        ("gate runs --task ner", ["ner-dane="]),
        ("--language d", ["da"]),
    ],
)
def test_every_choice_is_completed(
    monkeypatch: pytest.MonkeyPatch, typed: str, offered: list[str]
) -> None:
    monkeypatch.chdir(Path(__file__).parent)  # a folder without any that begins so
    assert complete(monkeypatch, f"gendalens {typed}") == offered


def test_other_shells_get_whole_words(monkeypatch: pytest.MonkeyPatch) -> None:
    assert complete(monkeypatch, "gendalens run control:f", "fish") == ["control:fair"]
    assert complete(monkeypatch, "gendalens run x --dtype b", "fish") == ["bfloat16"]
    assert "control" in " ".join(complete(monkeypatch, "gendalens run control:f", "zsh"))


def test_completion_prints_nothing_else_and_loads_no_torch() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", Path(sys.executable).with_name("gendalens")],
        env={
            **os.environ,
            completion.VARIABLE: "complete_bash",
            "COMP_WORDS": "gendalens run x --tasks lm-a",
            "COMP_CWORD": "4",
        },
        capture_output=True,
        text=True,
    )
    assert done.stdout == "lm-abc\n"
    timed = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    assert timed == done.stderr.splitlines()  # no first sign of a run
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in timed}
    assert not {"torch", "transformers", "pandas", "altair"} & loaded
