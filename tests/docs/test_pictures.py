"""The pictures of the documentation say what the product says today: `make pictures` draws them anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tools.site.pictures import page, terminal
from tools.site.pictures.__main__ import REPORTS, make_report


@pytest.mark.slow
def test_the_picture_of_a_run_says_what_a_run_says() -> None:
    drawn = terminal.read_text(terminal.draw())
    assert "bias found" in drawn
    assert terminal.read_text(terminal.FILE.read_text(encoding="utf-8")) == drawn


@pytest.mark.browser
def test_the_pictures_of_a_report_say_what_its_first_screen_says(
    chromium: Any, tmp_path: Path
) -> None:
    report = make_report(tmp_path / "run")
    for language, picture in REPORTS.items():
        with page.open_page(chromium, report, language) as opened:
            says = page.strip_changing(page.read_screen(opened))
        assert "100" in says
        assert page.read_text(picture) == says


def test_dates_and_versions_are_left_out() -> None:
    assert page.strip_changing("Measured 2026-11-18, GenDa Lens 0.11.0") == "Measured …, …"
