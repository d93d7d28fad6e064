"""The demo models as packaged, and ``gendalens demo``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from safetensors import safe_open
from typer.testing import CliRunner

import gendalens
from gendalens.cli.app import app
from gendalens.data.builtin import schemas
from gendalens.models import demo

PAGE = Path(__file__).parents[2] / "docs" / "demo-models.md"
MEGABYTES_3 = 3 * 1024 * 1024


@pytest.mark.parametrize("name", demo.MODELS)
def test_a_demo_model_is_small_and_holds_no_pickle(name: str) -> None:
    folder = demo.find_folder(name)
    assert folder is not None
    files = {file.name: file.stat().st_size for file in folder.iterdir()}
    assert sum(files.values()) <= MEGABYTES_3
    assert {"config.json", "model.safetensors", "tokenizer.json", "README.md"} <= set(files)
    assert {Path(file).suffix for file in files} <= {".json", ".safetensors", ".md"}
    with safe_open(folder / "model.safetensors", "pt") as weights:
        assert weights.keys()


@pytest.mark.parametrize("name", demo.MODELS)
def test_the_card_calls_the_model_a_toy_and_says_what_was_planted(name: str) -> None:
    card = (demo.FOLDER / name / "README.md").read_text(encoding="utf-8")
    assert "toy" in card
    assert "**Planted**" in card


def test_the_page_counts_the_words_of_schemas_that_the_language_model_spells_in_letters() -> None:
    tokenizer = json.loads((demo.FOLDER / "demo-lm" / "tokenizer.json").read_text(encoding="utf-8"))
    asked = " ".join(line.text for line in schemas.read()).lower()
    spelt = set(re.findall(r"\w+", asked)) - tokenizer["model"]["vocab"].keys()
    assert f"({len(spelt)} words of schemas that were reworded since" in PAGE.read_text(
        encoding="utf-8"
    )


def test_a_demo_model_is_run_by_its_name(tmp_path: Path) -> None:
    (result,) = gendalens.run("demo-lm", tasks="lm-dawinobias", data="builtin", sample=20)
    assert result.model.name == "demo-lm"
    assert result.model.dtype == "float32"


@pytest.mark.slow
def test_the_demo_finds_every_planted_bias_as_its_page_says(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    assert "gendalens run MODEL" in done.output
    shown = done.output.partition("Planted and measured")[2]
    tests = re.findall(r"^(\S+)  (bias found.*?)\n.*?^  measured  (.*?)\s*$", shown, re.M | re.S)
    assert {test for test, _, _ in tests} == {planted.task for planted in demo.PLANTED}
    page = PAGE.read_text(encoding="utf-8")
    for test, verdict, measured in tests:
        assert f"| `{test}` | {measured} | {verdict.strip()} |" in page
    results = {path.parent.name.split("@")[0] for path in tmp_path.rglob("result.json")}
    assert results == {test for test, _, _ in tests}
