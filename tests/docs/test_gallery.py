"""The gallery holds every model of its script, is small, and was written as one."""

from __future__ import annotations

import re

import pytest

from tools.site.gallery import DOCS, ENTRIES

INDEX = (DOCS / "index.md").read_text(encoding="utf-8")
LARGEST = 5_000_000  # bytes of all its files


def test_every_model_has_a_section_a_report_and_a_picture() -> None:
    assert re.findall(r"^## (.+)", INDEX, re.MULTILINE) == [entry.title for entry in ENTRIES]
    files = {f"{entry.name}{ending}" for entry in ENTRIES for ending in (".html", ".png")}
    assert {path.name for path in DOCS.iterdir()} == {"index.md", *files}


def test_it_is_small() -> None:
    assert sum(path.stat().st_size for path in DOCS.iterdir()) < LARGEST


@pytest.mark.parametrize("name", [entry.name for entry in ENTRIES])
def test_a_report_is_of_the_version_that_the_page_names(name: str) -> None:
    report = (DOCS / f"{name}.html").read_text(encoding="utf-8")
    [version] = re.findall(r"with GenDa Lens (\S+) \(", INDEX)
    assert f"Made by GenDa Lens {version};" in report
    assert not re.search(r"(?<![\w.])/(?:home/\w+|root|tmp|work)/", report), "a path of a machine"
