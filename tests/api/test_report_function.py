"""``gendalens.report``: the page of a run folder, of saved results, and of results in memory."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gendalens
from gendalens.errors import UserError
from gendalens.report.html import run_page
from gendalens.results.saved_results import find_results


@pytest.fixture
def results(small_run: Path, chart_library: None) -> gendalens.Results:
    return gendalens.load(small_run)


def examples(page: Path) -> dict[str, Any]:
    text = page.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    shown: dict[str, Any] = json.loads(found[1])["examples"]
    return shown


@pytest.mark.slow
def test_saved_results_have_the_page_of_their_run(
    results: gendalens.Results, small_run: Path, tmp_path: Path
) -> None:
    page = results.report(tmp_path / "page.html")
    assert page == tmp_path / "page.html"
    run_page.write(find_results([small_run]), tmp_path / "same.html")
    assert page.read_bytes() == (tmp_path / "same.html").read_bytes()
    assert len(examples(page)) == 10


def test_a_run_folder_has_its_page_in_it_by_default(chart_library: None, tmp_path: Path) -> None:
    out = tmp_path / "run"
    gendalens.run("control:fair", tasks="lm-abc", data="builtin", sample=40, out=out, cache=False)
    (out / "report.html").unlink()
    assert gendalens.report(out) == out / "report.html"
    assert gendalens.report(str(out / "control_fair")) == out / "control_fair" / "report.html"
    assert examples(out / "report.html")


def test_results_that_were_never_saved_have_a_page_without_examples(
    results: gendalens.Results, tmp_path: Path
) -> None:
    unsaved = [replace(one, folder=None) for one in results]
    page = gendalens.report(unsaved, tmp_path / "page.html")
    text = page.read_text(encoding="utf-8")
    assert examples(page) == {}
    assert text.count("This result was not saved, so there are no examples to show.") == 10
    for one in results:
        assert one.signature in text
        assert f'data-value="{one.gap.value!r}"' in text
    assert "records.jsonl" not in text


def test_one_result_has_a_page_of_its_own(results: gendalens.Results, tmp_path: Path) -> None:
    text = gendalens.report(results[3], tmp_path / "page.html").read_text(encoding="utf-8")
    assert results[3].signature in text
    assert results[2].signature not in text


def test_results_need_a_file_since_they_may_be_a_part_of_their_run(
    results: gendalens.Results, small_run: Path
) -> None:
    before = (small_run / "report.html").stat().st_mtime_ns
    with pytest.raises(UserError, match="Name a file"):
        gendalens.report(results[:1])
    assert (small_run / "report.html").stat().st_mtime_ns == before


def test_a_place_that_cannot_be_written_is_told(results: gendalens.Results, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no/such.*No such file or directory"):
        results[:1].report(tmp_path / "no" / "such" / "page.html")
    with pytest.raises(UserError, match=r"no/such.*No such file or directory"):
        gendalens.compare(results).report(tmp_path / "no" / "such" / "page.html")


def test_nothing_has_no_page(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing to report"):
        gendalens.report([], tmp_path / "page.html")


def test_a_comparison_has_a_page(results: gendalens.Results, tmp_path: Path) -> None:
    page = gendalens.compare(results).report(str(tmp_path / "page.html"))
    text = page.read_text(encoding="utf-8")
    assert "Differences between models" in text
    for one in results:
        assert one.signature in text
