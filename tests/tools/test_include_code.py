"""The code in the documentation is that of the files it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.include_code import PAGES, ROOT, include_code, read_code

PLUGIN = Path("examples/plugin/src/gendalens_job_ads/job_ads.py")


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_code_is_up_to_date(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "class JobAds(Task[Ad])" in text
    assert include_code(text) == text


def test_a_block_that_differs_is_found() -> None:
    stale = f"<!-- code: {PLUGIN}#Ad.request -->\n```python\nold\n```\n"
    fresh = include_code(stale)
    assert "old" not in fresh
    assert "def request(self) -> Fill:" in fresh


def test_a_definition_is_cut_out_with_its_decorators() -> None:
    assert read_code(ROOT / PLUGIN, "Ad").startswith(
        "@dataclass(frozen=True, slots=True)\nclass Ad"
    )
