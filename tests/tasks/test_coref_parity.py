"""Both coreference tests on the scripted system that GenDa Lens 0.0.3 was run on."""

from __future__ import annotations

import csv
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import gendalens
from gendalens.compat import detailed, simple
from gendalens.data.registry import find_source

SHARED = Path(__file__).parents[2].parent / "shared" / "golden"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.network,
    pytest.mark.skipif(
        not SHARED.is_dir(), reason="the golden outputs are not beside the checkout"
    ),
    # The scripted system leaves the closing of its data files to Python.
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
    ),
]


@pytest.fixture
def stub(official_home: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The scripted system, which offers danlp's interface."""
    folder = find_source("abc", offline=True).folder
    monkeypatch.setenv("ABC_DATA", str(folder) + os.sep)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    found = importlib.util.spec_from_file_location("stub_coref", SHARED / "stub_coref.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module.StubCoref()


def run(stub: Any, task: str, protocol: int) -> gendalens.Result:
    (result,) = gendalens.run(stub, tasks=[task], protocol=protocol, offline=True)
    return result


def table(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_abc_gives_the_same_tables(stub: Any, tmp_path: Path) -> None:
    result = run(stub, "coref-abc", 1)
    for name, frame in (("simple", simple(result)), ("detailed", detailed(result))):
        frame.to_csv(tmp_path / "table.csv")
        assert table(tmp_path / "table.csv") == table(SHARED / "coref-abc.stub" / f"{name}.csv")


def test_dawinobias_gives_the_figures_of_each_line_once(stub: Any) -> None:
    result = run(stub, "coref-dawinobias", 1)
    # From the README of the golden outputs: 0.0.3's own counting depends on a shuffle.
    found = [(c.condition, round(c.value or 0, 6), c.n) for c in result.conditions]
    assert found == [("anti", 0.296875, 576), ("pro", 0.741135, 564)]
    assert [round(cell.value or 0, 4) for cell in result.nuance] == [0.2650, 0.3261, 0.7336, 0.7483]
    assert result.gender_effect_size.value == 1.30
    layout = table(SHARED / "coref-dawinobias.stub" / "detailed.csv")
    assert list(detailed(result).index) == [row[0] for row in layout[1:]]
    assert list(detailed(result).columns) == layout[0][1:]


def test_protocol_two_finds_what_the_script_plants_in_abc(stub: Any) -> None:
    result = run(stub, "coref-abc", 2)
    # The chance of a link as the script's docstring has it, for all 4,500 distinct triples.
    planted = {
        ("female", "female occupations"): 0.60,
        ("female", "male occupations"): 0.40,
        ("male", "female occupations"): 0.50,
        ("male", "male occupations"): 0.70,
        ("reflexive", "female occupations"): 0.95,
        ("reflexive", "male occupations"): 0.95,
    }
    for cell in result.nuance:
        assert cell.value == pytest.approx(planted[cell.condition, str(cell.group)], abs=0.02)
    # Distractor clusters without the pronoun are no links.
    assert result.coverage["sentences_with_clusters_but_no_link"]["male"] > 100
    assert result.gender_effect_size.value == pytest.approx(0.285, abs=0.001)
    assert result.finding.headline == "bias"


def test_protocol_two_drops_no_line_of_dawinobias(stub: Any) -> None:
    result = run(stub, "coref-dawinobias", 2)
    for condition in ("anti", "pro"):
        assert sum(result.coverage[f"outcomes_{condition}"].values()) == 674
    # Planted: 65% to the occupation of the pronoun's gender, 20% to the other, 15% to none.
    values = {cell.condition: cell.value for cell in result.conditions}
    assert values["pro"] == pytest.approx(2 * 0.65 / 1.85, abs=0.04)
    assert values["anti"] == pytest.approx(2 * 0.20 / 1.85, abs=0.04)
    assert result.gender_effect_size.value == pytest.approx(1.514, abs=0.001)
