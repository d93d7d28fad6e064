"""The examples in docstrings run as they stand, and the page of the Python interface names every column.

The blocks of the page itself are run by tests/docs.
"""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

import gendalens

PACKAGE = Path(gendalens.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "python.md"
#: The modules with the public names; each must have an example.
PUBLIC = (
    *("gendalens", "gendalens.api", "gendalens.report", "gendalens.report.results"),
    "gendalens.results.result",
)


def find_modules() -> list[str]:
    """The modules with an example in a docstring."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        if ">>>" in path.read_text(encoding="utf-8"):
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            found.append(".".join(parts).removesuffix(".__init__"))
    return sorted(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", find_modules())
@pytest.mark.usefixtures("chart_library")
def test_the_examples_of_a_module_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = import_module(name)
    found = doctest.testmod(module, raise_on_error=False)
    assert found.attempted > 0
    assert found.failed == 0


def test_the_public_modules_have_examples() -> None:
    assert set(PUBLIC) <= set(find_modules())


def test_the_page_names_every_column_of_the_frame() -> None:
    results = gendalens.run("control:fair", tasks="lm-abc", data="builtin", sample=40, cache=False)
    table = PAGE.read_text(encoding="utf-8").partition("| columns | hold |")[2]
    named = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE)))
    assert named == results.to_frame().columns.tolist()
