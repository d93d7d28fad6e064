"""The page of a comparison in a real browser: from disk, network off, sortable, in two languages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from keyboard import walk
from page_numbers import at, check_text
from small_runs import HOSTILE, THREE, renamed, resigned, three_runs

import gendalens
from gendalens.comparison.comparison import Comparison
from gendalens.report.html import comparison_page
from gendalens.results import saved_results

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Three runs, a fourth model of hostile names in one test, and a result that stands apart."""
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENDALENS_HOME", str(folder / "home"))
        out = three_runs(folder)
    one = next(run for run in saved_results.find_results([out]) if run.result.task == "lm-abc")
    hostile = [renamed(one, folder / str(i), name) for i, name in enumerate(HOSTILE)]
    apart = resigned(one, folder / "apart", "sample:all", "sample:5")
    return gendalens.compare(out, hostile, apart)


@pytest.fixture(scope="module")
def page_file(comparison: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("html") / "compare.html"
    comparison_page.write(comparison, path)
    return path


@pytest.fixture(params=[1400, 390])
def page(
    opened: Callable[..., Any], page_file: Path, request: pytest.FixtureRequest
) -> Iterator[Any]:
    """The page at two widths; whatever it complains about fails the test."""
    found = opened(page_file, width=request.param)
    found.page.evaluate(
        "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
    )
    yield found.page
    assert found.troubles == []


def column(page: Any, group: str, place: int) -> list[str]:
    rows = page.locator(f"{group} table[data-table=models] tbody tr")
    return [row.locator("th, td").nth(place).inner_text() for row in rows.all()]


def test_the_page_opens_from_disk_and_fits(page: Any) -> None:
    assert page.locator(".board .bar-chart").count() > 10
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for name in THREE:
        assert page.locator(".board").get_by_text(name, exact=True).count() == 1


def test_every_number_is_the_comparisons(page: Any, comparison: Comparison) -> None:
    plain = comparison.to_dict()
    numbers = page.evaluate(
        """() => [...document.querySelectorAll(".n")].map((one) => [one.dataset.path,
          one.dataset.value, Number(one.dataset.scale ?? 1), one.textContent])"""
    )
    assert len(numbers) > 100
    for path, value, scale, text in numbers:
        held = at(plain, path)
        assert repr(held) == value, path
        check_text(held, scale, text)


def test_a_heading_sorts_its_column_both_ways_with_what_is_undefined_last(page: Any) -> None:
    group = "section[data-task='coref-abc@2']"
    label = "Effect size (GES)\n"  # on a phone, where a row is a card
    heading = page.locator(f"{group} table[data-table=models] .sort").nth(1)
    heading.click()
    assert column(page, group, 0)[:2] == ["control:stereotyped?strength=0.5", "control:fair"]
    assert column(page, group, 1)[-1].removeprefix(label).startswith("–")
    assert page.locator(f"{group} th[aria-sort=ascending]").count() == 1
    heading.press("Enter")
    assert column(page, group, 0)[:2] == ["control:fair", "control:stereotyped?strength=0.5"]
    assert column(page, group, 1)[-1].removeprefix(label).startswith("–")
    page.locator(f"{group} table[data-table=models] .sort").nth(0).click()
    assert column(page, group, 0) == sorted(THREE)


def test_main_effect_and_groups_of_every_model_stand_beside_each_other(page: Any) -> None:
    group = "section[data-task='coref-abc@2']"
    headings = page.locator(f"{group} table[data-table=models] thead th").all_inner_texts()
    assert [heading.strip() for heading in headings] == [
        *("Model", "Effect size (GES)", "Verdict", "Main effect", "Groups"),
    ]
    assert all("FPR_M - FPR_F" in text for place in (3, 4) for text in column(page, group, place))
    differences = page.locator(f"{group} table[data-table=differences] tbody tr").first
    assert differences.locator("td .n[data-path*='.main.0.']").count() == 4
    assert differences.locator("td .n[data-path*='.groups.0.']").count() == 4


def test_danish_is_a_click_away_with_danish_numbers(page: Any) -> None:
    page.get_by_role("button", name="Dansk").click()
    assert page.locator("h1").inner_text() == "Sammenligning af modeller"
    text = page.locator("main").inner_text()
    assert "Forskelle mellem modellerne" in text
    assert "kan ikke skelnes fra hinanden" in text
    assert "Ikke sammenlignet med andre resultater af lm-abc" in text
    assert "1,000" in text


def test_what_is_not_lined_up_says_why(page: Any) -> None:
    notes = page.locator("section[data-task='lm-abc@2'] .warning")
    assert notes.count() == 2
    assert "sample 5 here, all elsewhere" in notes.first.inner_text()


def test_hostile_names_stay_text(page: Any) -> None:
    assert page.locator("main script").count() == 0
    assert page.locator("section[data-task='lm-abc@2'] bdi", has_text="<script>alert(1)").count()


def test_the_matrix_has_the_difference_of_every_pair(page: Any, comparison: Comparison) -> None:
    group = comparison.groups[0]
    matrix = page.locator(f"section[data-task='{group.test}'] table[data-table=matrix]")
    values = matrix.locator("td .n[data-path$='.main.0.value']").all()
    assert [one.get_attribute("data-value") for one in values] == [
        repr(pair.main[0].value) for pair in group.pairs if pair.main[0].value is not None
    ]


def test_models_are_filtered_in_every_table_at_once(page: Any) -> None:
    count = page.locator(".count.shown")
    assert count.inner_text() == "8 of 8 models are shown"
    page.locator(".filters input[name=search]").fill("always")
    assert count.inner_text() == "1 of 8 models are shown"
    for table in ("board", "models", "differences"):
        rows = page.locator(f"table[data-table={table}] tbody tr:visible").all_inner_texts()
        assert all("always-han" in row for row in rows)
    assert page.locator("table[data-table=differences] tbody tr:visible").count() == 0
    page.locator(".filters select[name=data]").select_option(label="own data; a sample of 5")
    assert count.inner_text() == "1 of 8 models are shown"  # the result that stands apart is its
    page.locator(".filters input[name=search]").fill("stereotyped")
    assert count.inner_text() == "0 of 8 models are shown"
    page.locator(".filters input[name=search]").fill("")
    assert page.locator("section.test:visible").count() == 1


def test_the_keyboard_reaches_everything_and_sorts(
    page_file: Path, opened: Callable[..., Any]
) -> None:
    found = opened(page_file, reduced_motion="reduce")
    walk(found.page).check()
    heading = found.page.locator("table[data-table=board] .sort").nth(1)
    for key, order in (("Enter", "ascending"), ("Space", "descending")):
        heading.press(key)
        assert heading.locator("..").get_attribute("aria-sort") == order
    assert found.page.evaluate("document.activeElement.className") == "sort"
    assert found.troubles == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(page: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python")
    page.emulate_media(color_scheme=scheme)
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
