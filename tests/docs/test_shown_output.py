"""What the first pages show of a run is what that run prints today."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import gendalens
from gendalens.cli.app import app
from tools.site.code_blocks import ROOT, read_blocks

pytestmark = pytest.mark.slow
PAGE = "docs/start/first-run.md"
BLOCKS = read_blocks(PAGE)
#: The command of the first run, and what the page says that it prints.
COMMAND, OUTPUT = next(
    (block.code, shown.code)
    for block, shown in itertools.pairwise(BLOCKS)
    if shown.language == "text"
)


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The output of the documented command."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    done = CliRunner().invoke(app, shlex.split(COMMAND)[1:])
    assert done.exit_code == 0
    return str(done.stdout)


def strip_hash(text: str) -> list[str]:
    """The lines of an output, without the hash of the signature, which holds numpy's version."""
    lines = text.strip().splitlines()
    return [re.sub(r"(@2-)[0-9a-f]{8}", r"\1…", line).rstrip() for line in lines]


def test_the_first_run_prints_what_the_page_shows(printed: str) -> None:
    assert strip_hash(printed) == strip_hash(OUTPUT)


@pytest.mark.usefixtures("printed")
def test_the_signature_on_the_page_about_reports_is_that_of_the_first_run() -> None:
    [file] = Path("runs/first").rglob("result.json")
    signature = json.loads(file.read_text(encoding="utf-8"))["signature"]
    [shown] = [b.code for b in read_blocks("docs/start/reading.md") if b.language == "text"]
    assert shown.strip().rpartition("|")[0] == signature.rpartition("|")[0]


def test_an_example_of_a_prediction_file_names_this_version() -> None:
    page = (ROOT / "docs" / "prediction-files.md").read_text(encoding="utf-8")
    assert f'"gendalens": "{gendalens.__version__}"' in page
