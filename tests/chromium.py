"""A Chromium for the pages: Debian's, or the one that CHROMIUM names."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

SWITCHES = [
    "--no-sandbox",  # it may be root's
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A running Chromium; where there is none, tests skip, or fail if BROWSER_TESTS=required."""
    give_up = pytest.fail if os.environ.get("BROWSER_TESTS") == "required" else pytest.skip
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        give_up("no chromium on this machine (Debian: apt-get install chromium)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        give_up("playwright is not installed (pip install playwright)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=SWITCHES)
        yield browser
        browser.close()


@dataclass
class Opened:
    """A page from disk with the network off, and everything that went wrong in it."""

    page: Any
    file: Path
    troubles: list[str] = field(default_factory=list)
    #: The folder of the site that the page is part of, whose files it may ask for.
    site: Path | None = None

    def dialog(self, dialog: Any) -> None:
        """No page of ours asks anything."""
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def request(self, asked: Any) -> None:
        """Nothing but the file itself may be asked for."""
        own = asked.url.partition("#")[0]
        of_site = self.site is not None and own.startswith(f"{self.site.as_uri()}/")
        if own != self.file.as_uri() and not of_site and not asked.url.startswith("data:"):
            self.troubles.append(f"request: {asked.url}")


@pytest.fixture
def opened(chromium: Any) -> Iterator[Any]:
    """A function that opens a file; what the page says, asks for or throws is kept."""
    contexts = []

    def open_page(
        file: Path, width: int = 1400, site: Path | None = None, **options: Any
    ) -> Opened:
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, **{"locale": "en-GB", **options}
        )
        contexts.append(context)
        context.set_default_timeout(120_000)  # a busy machine is slow, not wrong
        context.set_offline(True)
        page = context.new_page()
        found = Opened(page, file, site=site)
        page.on("console", lambda said: found.troubles.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: found.troubles.append(f"error: {error}"))
        page.on("dialog", found.dialog)
        page.on("request", found.request)
        page.goto(file.as_uri())
        # The more tests a page has, the further down is its first chart, which is drawn when near.
        if page.locator('[data-chart="forest"]').count():
            page.locator('[data-chart="forest"]').scroll_into_view_if_needed()
            page.wait_for_selector('[data-chart="forest"] svg')
            page.evaluate("scrollTo(0, 0)")
        return found

    yield open_page
    for context in contexts:
        context.close()
