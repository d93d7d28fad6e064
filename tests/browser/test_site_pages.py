"""A site in a real browser: from disk, network off, sortable, filterable, in two languages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from keyboard import walk
from small_runs import HOSTILE, renamed, resigned

from gendalens.report.site.build import build_site
from gendalens.results.saved_results import SavedResult, find_results

pytestmark = pytest.mark.browser
Open = Callable[..., Any]
ATTACK = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"


def find(run: Path, model: str, task: str) -> SavedResult:
    (found,) = (
        one
        for one in find_results([run])
        if model in one.result.model.name and one.result.task == task
    )
    return found


@pytest.fixture(scope="module")
def site(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models in all tests, hostile names in one, and one result on a sample."""
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENDALENS_HOME", str(folder / "home"))
        own = find(small_run, "stereotyped", "lm-abc")
        for place, name in enumerate((*HOSTILE, ATTACK)):
            renamed(own, folder / "hostile" / str(place), name)
        resigned(own, folder / "apart", "sample:all", "sample:5")
        runs = [small_run, folder / "hostile", folder / "apart"]
        build_site(runs, folder / "public")
    return folder / "public"


def list_kinds(site: Path) -> dict[str, Path]:
    """A page of each kind."""
    return {
        "index": site / "index.html",
        "model": next((site / "models").glob("control-stereotyped*.html")),
        "test": site / "tests" / "lm-abc-2.html",
        "occupations": site / "occupations" / "index.html",
        "occupation": sorted((site / "occupations").glob("*-*.html"))[0],
    }


KINDS = ("index", "model", "test", "occupations", "occupation")


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_opens_from_disk_fits_and_speaks_danish(site: Path, opened: Open, kind: str) -> None:
    for width in (1400, 390):
        found = opened(list_kinds(site)[kind], width=width, site=site)
        page = found.page
        assert page.evaluate("getComputedStyle(document.body).margin") == "0px"  # styled
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.get_by_role("button", name="Dansk").click()
        assert page.locator("html").get_attribute("lang") == "da"
        assert "Alle modeller" in page.locator("nav").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("window.hacked") is None
        assert found.troubles == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_no_violation(site: Path, opened: Open, kind: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python")
    page = opened(list_kinds(site)[kind], site=site, color_scheme=scheme).page
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run({exclude: [['.plot svg']]})")
    assert found["passes"]
    assert [(one["id"], one["nodes"][0]["html"][:300]) for one in found["violations"]] == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_keyboard_reaches_everything(site: Path, opened: Open, kind: str) -> None:
    found = opened(list_kinds(site)[kind], site=site, reduced_motion="reduce")
    walk(found.page).check()
    assert found.troubles == []


def test_a_test_sorts_the_models_by_the_size_of_its_effect(site: Path, opened: Open) -> None:
    found = opened(site / "index.html", site=site)
    heading = found.page.locator(".board thead th", has_text="lm-dawinobias@2")
    place = heading.evaluate("(one) => one.cellIndex")
    for sign in (1, -1):
        heading.locator(".sort").click()
        values = found.page.evaluate(
            """(place) => [...document.querySelectorAll(".board tbody tr")]
              .map((row) => row.cells[place].querySelector(".n"))
              .map((one) => one && Math.abs(Number(one.dataset.value)))""",
            place,
        )
        known = [value for value in values if value is not None]
        assert len(known) == 2
        assert known == sorted(known, reverse=sign < 0)
        assert values[len(known) :] == [None] * (len(values) - len(known))
    assert found.troubles == []


def test_filters_hide_models_and_tests(site: Path, opened: Open) -> None:
    found = opened(site / "index.html", site=site)
    page = found.page
    rows, heads = page.locator(".board tbody tr:visible"), page.locator(".board thead th:visible")
    models, columns = rows.count(), heads.count()
    assert page.locator(".count.shown").inner_text() == f"{models} of {models} models are shown"
    data = page.locator(".filters select[name=data]")
    labels = data.evaluate("(one) => [...one.options].map((option) => option.label)")
    data.select_option(label=next(label for label in labels if "sample" in label))
    assert (rows.count(), heads.count()) == (1, 2)
    page.get_by_role("button", name="Dansk").click()
    assert page.locator(".count.shown").inner_text() == f"1 af {models} modeller vises"
    data.select_option("")
    assert (rows.count(), heads.count()) == (models, columns)
    page.locator(".filters input[name=search]").fill("MALE-DEFAULT")
    assert rows.count() == 1
    assert found.troubles == []


def test_occupations_are_searched_in_both_languages(site: Path, opened: Open) -> None:
    page = opened(site / "occupations" / "index.html", site=site).page
    rows = page.locator(".occupations tbody tr:visible")
    assert rows.count() > 5
    page.locator("input[name=search]").fill("mechanic")
    assert rows.locator("th").all_inner_texts() == ["mekanikeren"]


def test_the_language_is_kept_from_page_to_page(site: Path, opened: Open) -> None:
    page = opened(site / "index.html", site=site).page
    page.get_by_role("button", name="Dansk").click()
    page.locator("nav a", has_text="lm-abc@2").click()
    page.wait_for_url("**/tests/lm-abc-2.html*")
    assert page.locator("html").get_attribute("lang") == "da"


def test_without_scripts_everything_is_there(site: Path, opened: Open) -> None:
    page = opened(site / "index.html", site=site, java_script_enabled=False).page
    assert page.locator(".board tbody tr:visible").count() > 5
    assert not page.locator(".filters").is_visible()
    assert "Sorting and filtering need JavaScript" in page.locator("main").inner_text()
