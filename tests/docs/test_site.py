"""The site as a reader opens it, from disk and without a network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.site.code_blocks import ROOT

pytestmark = pytest.mark.browser
PAGES = (
    "index",
    "start/reading",
    "guide/lm-abc",
    "definitions",
    "reference/api",
    "gallery/index",
    "da/index",
)
WIDTHS = (1400, 390)
SCHEMES = ("light", "dark")
SERIOUS = {"serious", "critical"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built without a warning."""
    for name in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [*command, "--site-dir", str(folder)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


@pytest.fixture(params=WIDTHS)
def page(request: pytest.FixtureRequest, chromium: Any) -> Any:
    """A page of a screen and of a phone, which notes what is asked of the network."""
    context = chromium.new_context(viewport={"width": request.param, "height": 900}, offline=True)
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.asked = []
    local = ("file:", "data:", "blob:", "about:")
    page.on("request", lambda one: one.url.startswith(local) or page.asked.append(one.url))
    yield page
    assert page.asked == []
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_screen_and_everybody_can_read_it(site: Path, page: Any, name: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        page.goto((site / f"{name}.html").as_uri())
        page.wait_for_selector("h1")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        # Wide tables are wrapped, and made reachable by keyboard, after the page is loaded.
        page.wait_for_function(
            "[...document.querySelectorAll('.md-typeset__scrollwrap')].every((box) => box.tabIndex === 0)"
        )
        found = axe.run(page).response["violations"]
        assert [(scheme, one["id"]) for one in found if one["impact"] in SERIOUS] == []


def test_danish_pages_say_that_they_are_danish(site: Path) -> None:
    pages = (ROOT / "docs" / "da").glob("*.md")
    danish = {path for path in site.rglob("*.html") if b'<article lang="da"' in path.read_bytes()}
    assert danish == {site / "da" / f"{page.stem}.html" for page in pages}


@pytest.mark.parametrize(
    ("query", "title"), [("perplexity", "lm-abc"), ("bagatelgrænse", "Definitioner")]
)
def test_the_search_finds_pages_from_disk(site: Path, page: Any, query: str, title: str) -> None:
    page.goto((site / "index.html").as_uri())
    if page.viewport_size["width"] < 600:
        page.locator('label[for="__search"]').first.click()
    page.locator("input.md-search__input").click()
    page.keyboard.type(query)
    page.wait_for_selector(".md-search-result__item h1")
    titles = page.locator(".md-search-result__item h1").all_inner_texts()
    assert any(title in one for one in titles)
