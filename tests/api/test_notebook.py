"""The notebook in ``examples/``: it runs from top to bottom, and shows what it says."""

from __future__ import annotations

import re
import resource
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("transformers", reason="the notebook needs transformers")
nbformat = pytest.importorskip("nbformat", reason="the notebook is run by nbclient")
nbclient = pytest.importorskip("nbclient", reason="the notebook is run by nbclient")

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook.ipynb"
LONGEST = 60  # seconds of work, as the notebook says


def measure_children() -> float:
    """Seconds of work in processes that have ended, such as a kernel."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def outputs(cell: Any) -> dict[str, str]:
    """What a cell shows at its end, by kind."""
    shown: dict[str, str] = {}
    for output in cell.outputs:
        if output.output_type == "execute_result":
            shown |= output.data
    return shown


@pytest.mark.slow  # the code of the pages that it is made of runs in test_examples.py
def test_the_notebook_runs_and_shows_a_bias_that_is_smaller_afterwards(
    tmp_path: Path, chart_library: None
) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells)  # committed without
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    began = measure_children()
    client.execute()
    assert measure_children() - began < LONGEST
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    _, ran, findings, nuance, occupations, _, forest, compared, differences, last = map(
        outputs, cells
    )
    assert '<div class="gendalens"' in ran["text/html"]
    # Both biases are planted in the demo model: docs/demo-models.md.
    assert len(re.findall(r"\bbias\b", findings["text/plain"])) == 2
    assert "female occupations" in nuance["text/plain"]
    assert occupations["image/svg+xml"].startswith("<svg")
    assert "pronouns pulled together" in forest["image/svg+xml"]
    assert compared["text/html"].count("The first leans further") == 2
    assert "True" in differences["text/plain"]
    assert last["text/plain"].startswith("(True,")
    assert (tmp_path / "comparison.html").is_file()
    bars = [one for one in cells[1].outputs if one.output_type == "display_data"]
    assert [bar.data["text/html"] for bar in bars] == ["", ""]  # shown, and removed at the end
