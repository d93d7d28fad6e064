"""The names of the package: all are listed, and each is what it is called."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gendalens

PUBLIC = {
    *("Comparison", "Result", "Results", "UserError", "build_site", "compare", "load"),
    *("load_model", "merge", "plot", "power", "report", "run", "tasks"),
}


def test_dir_lists_every_public_name_and_nothing_else() -> None:
    names = {name for name in dir(gendalens) if not name.startswith("__")}
    assert names >= PUBLIC
    assert names <= set(gendalens.__all__)
    assert "__version__" in dir(gendalens)


def test_every_listed_name_is_there() -> None:
    for name in gendalens.__all__:
        assert getattr(gendalens, name) is not None


def test_the_classes_are_those_of_what_the_functions_give() -> None:
    models = ["control:fair", "control:stereotyped"]
    results = gendalens.run(models, tasks="lm-abc", data="builtin", sample=40, cache=False)
    assert type(results) is gendalens.Results
    assert type(results[0]) is gendalens.Result
    assert type(gendalens.compare(results)) is gendalens.Comparison


@pytest.mark.slow
def test_report_can_be_called_whichever_module_is_imported_first() -> None:
    # Importing a module of the package `gendalens.report` binds that name in `gendalens`.
    for first in ("gendalens", "gendalens.report.wording", "gendalens.cli.app"):
        code = f"import {first}, gendalens; gendalens.load; print(callable(gendalens.report))"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "True"
