"""The examples of docs/objects.md, as a reader would run them."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "objects.md"
# Blocks marked "py" need models from the network.
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=["transformers", "functions", "spacy"])
def test_an_example_runs(block: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # spaCy's, on its first import
        import spacy  # noqa: F401
    exec(compile(block, str(PAGE), "exec"), {})
