"""Links inside the repository lead somewhere, on a code host as well as on the site."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tools.site.code_blocks import PAGES, ROOT
from tools.site.repository_pages import FENCE, LINK, find_linked, resolve, rewrite

BENCHMARKS = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "benchmarks").glob("*.md"))]
HEADING = re.compile(r"^#+ (.*?)(?: \{: #(?P<id>[\w-]+) \})?$", re.MULTILINE)


def find_links(page: str) -> list[str]:
    text = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    return [link["target"] for link in LINK.finditer(text)]


@cache
def find_anchors(page: Path) -> frozenset[str]:
    """The anchors of a page, as code hosts make them of headings."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    plain = (re.sub(r"[`*]|\]\([^)]*\)|\[", "", found[1]) for found in HEADING.finditer(text))
    return frozenset(re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in plain)


@pytest.mark.parametrize("page", [*PAGES, *BENCHMARKS])
def test_every_link_leads_to_a_file_and_a_heading(page: str) -> None:
    for target in find_links(page):
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / page).parent / path if path else ROOT / page
        assert file.exists(), f"{page}: {target}"
        if anchor:
            assert anchor in find_anchors(file.resolve()), f"{page}: {target}"


def test_a_link_out_of_the_docs_follows_the_file_into_the_site() -> None:
    text = (
        "[a](../CHANGELOG.md#unreleased) ![b](run.svg) [c](../examples) [d](https://e.org) [e](#f)"
    )
    assert rewrite(text, "gate.md") == (
        "[a](repository/CHANGELOG.md#unreleased) ![b](run.svg) c [d](https://e.org) [e](#f)"
    )
    assert rewrite("[a](docs/gate.md)", "repository/CHANGELOG.md") == "[a](../gate.md)"
    assert resolve("../nowhere.md", "gate.md") is None


def test_a_file_in_a_hidden_folder_is_on_the_site() -> None:
    """Mkdocs would leave out a file whose address has a part that begins with a dot."""
    action = "[a](../../.github/actions/gate/action.yml)"
    assert rewrite(action, "howto/gate-ci.md") == (
        "[a](../repository/github/actions/gate/action.yml)"
    )


def test_code_is_no_link() -> None:
    code = "```python\nx[a](../CHANGELOG.md)\n```"
    assert rewrite(code, "gate.md") == code


def test_pages_that_are_linked_bring_what_they_link_to() -> None:
    found = find_linked(["reference/index.md"])
    assert "SECURITY.md" in found
    assert not any(place.startswith("docs/") for place in found)
