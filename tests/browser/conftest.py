"""A report for the tests in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
import report_run

from gendalens.report.html import run_page
from gendalens.results import saved_results


@pytest.fixture(scope="session")
def page_file(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of five tests of the small run, under a name that is no easy one."""
    file = tmp_path_factory.mktemp("page") / "rapport æøå #1.html"
    run_page.write(saved_results.find_results(report_run.one_model(small_run)), file)
    return file
