"""The report by keyboard and on paper."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import report_run
from keyboard import walk
from page_numbers import at, check_text

from gendalens.results import saved_results

pytestmark = pytest.mark.browser
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def page_file(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report_run.write_page(small_run, tmp_path_factory.mktemp("page"))


@pytest.mark.parametrize("width", [1400, 390])
def test_the_keyboard_reaches_everything_and_the_focus_is_seen(
    page_file: Path, opened: Open, width: int
) -> None:
    page = opened(page_file, width=width, reduced_motion="reduce").page
    walk(page).check()
    walk(page, "Shift+Tab").check()
    page.locator("details.row > summary").first.focus()
    page.keyboard.press("Enter")
    page.locator(".body .examples summary").first.focus()
    page.keyboard.press("Space")
    walk(page).check()


def test_keys_do_what_a_pointer_does(page_file: Path, opened: Open) -> None:
    page = opened(page_file, reduced_motion="reduce").page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#findings') !== null")
    page.keyboard.press("Shift+Tab")
    page.locator("[data-language=da]").focus()
    page.keyboard.press("Enter")
    assert page.locator("html").get_attribute("lang") == "da"

    row = page.locator("details.row").first
    row.locator("> summary").focus()
    for key, is_open in (("Enter", True), ("Space", False), ("Space", True)):
        page.keyboard.press(key)
        assert row.evaluate("(one) => one.open") is is_open, key
    tip = page.locator("#tip")
    row.locator(".evidence thead a.term").last.focus()
    page.wait_for_timeout(200)  # the term was out of sight, so the page has scrolled
    assert tip.is_visible()
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    page.locator("nav a", has_text="ner-dane").focus()
    page.keyboard.press("Enter")
    page.locator('[data-task="ner-dane@2"] .body').wait_for()


@pytest.mark.parametrize("locale", ["en-GB", "da-DK"])
def test_paper_is_a_case_file_of_two_pages(page_file: Path, opened: Open, locale: str) -> None:
    page = opened(page_file, color_scheme="dark", locale=locale).page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    ink = "getComputedStyle(document.querySelector('[data-chart] svg text')).fill"
    assert page.evaluate(ink) == "rgb(82, 96, 109)"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for part in (".facts", ".answer", ".measure", ".limits", ".paper", "#sets td", ".signature"):
        assert page.locator(part).first.is_visible(), part
    assert not page.locator(".body").first.is_visible()
    notes = page.locator(".row .notes").count()
    assert 0 < notes <= page.locator("summary .paper:visible").count()
    paper = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 2


def test_the_numbers_on_paper_are_those_of_the_results(
    small_run: Path, page_file: Path, opened: Open
) -> None:
    results = saved_results.find_results(report_run.one_model(small_run))
    plain = {f"test-{i}": json.loads(one.result.to_json()) for i, one in enumerate(results, 1)}
    page = opened(page_file, locale="da-DK").page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    numbers = page.evaluate(
        """() => [...document.querySelectorAll(".n")].filter((one) => one.checkVisibility())
          .map((one) => [one.closest("[data-result]").dataset.result, one.dataset.path,
            Number(one.dataset.scale ?? 1), one.textContent])"""
    )
    assert len(numbers) > 25
    for result, path, scale, text in numbers:
        english = text.replace(".", "").replace(",", ".")
        check_text(at(plain[result], path), scale, english)
