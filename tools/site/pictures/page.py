"""The first screen of a report as a picture, with numbers that a page of the documentation explains."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image, PngImagePlugin

WIDTH, HEIGHT = 1200, 900
#: Where each number stands: the first element that a selector finds. The numbers are those of the
#: headings in docs/start/reading.md.
MARKS = {1: ".test .chip", 2: ".test h3", 3: ".test .measure", 5: ".test .notes"}
_SAYS = "Text"
_BADGE = """
(marks) => {
  for (const [number, selector] of Object.entries(marks)) {
    const element = document.querySelector(selector);
    if (!element) continue;
    const box = element.getBoundingClientRect();
    const badge = document.createElement("span");
    badge.textContent = number;
    badge.ariaHidden = "true";
    Object.assign(badge.style, {
      position: "absolute", left: `${box.left + scrollX - 30}px`, top: `${box.top + scrollY - 4}px`,
      width: "26px", height: "26px", borderRadius: "50%", background: "#b3005e", color: "#fff",
      font: "bold 15px/26px sans-serif", textAlign: "center", zIndex: 99, boxShadow: "0 0 0 2px #fff",
    });
    document.body.append(badge);
  }
}
"""
#: The text of the elements that are at least partly within the window.
_VISIBLE = """
() => [...document.querySelectorAll("main h1, main h2, main .facts dd, main .answer, main summary")]
  .filter((one) => one.getBoundingClientRect().top < innerHeight)
  .map((one) => one.innerText).join("\\n")
"""


@contextmanager
def open_browser() -> Iterator[Any]:
    """A Chromium without a window."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        raise SystemExit("Pictures of pages need Chromium (Debian: apt-get install chromium).")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_page(browser: Any, page_file: Path, language: str) -> Iterator[Any]:
    """A page as it is first seen."""
    page = browser.new_page(
        viewport={"width": WIDTH, "height": HEIGHT}, locale=language, color_scheme="light"
    )
    page.goto(page_file.as_uri())
    page.wait_for_load_state()
    yield page
    page.close()


def read_screen(page: Any) -> str:
    """The text of a page's first screen."""
    return str(page.evaluate(_VISIBLE))


def take(
    browser: Any, page_file: Path, picture: Path, language: str, marks: Mapping[int, str]
) -> None:
    """Write the first screen of a page, with the text it shows, as a PNG file."""
    with open_page(browser, page_file, language) as page:
        says = read_screen(page)
        page.evaluate(_BADGE, {str(number): selector for number, selector in marks.items()})
        page.screenshot(path=picture)
    image = Image.open(picture).convert("P", palette=Image.Palette.ADAPTIVE, colors=128)
    info = PngImagePlugin.PngInfo()
    info.add_itxt(_SAYS, says)
    image.save(picture, optimize=True, pnginfo=info)


def read_text(picture: Path) -> str:
    """What a picture says, without dates and versions, which change while the page stays the same."""
    with Image.open(picture) as image:
        return strip_changing(str(image.info[_SAYS]))


def strip_changing(text: str) -> str:
    """A text without dates and versions."""
    return re.sub(r"\d{4}-\d\d-\d\d|GenDa Lens \d+\.\d+\.\d+", "…", text)
