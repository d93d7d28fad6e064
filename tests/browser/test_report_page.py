"""The report in a real browser, opened from disk with the network off."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import extra_language
import pytest
import report_run
from small_runs import resaved

from gendalens.report.html import run_page
from gendalens.results import saved_results
from gendalens.words import phrase

pytestmark = pytest.mark.browser
Open = Callable[..., Any]


def show_all(page: Any) -> None:
    """Scroll through the page, so that every chart is drawn, and unfold what is folded."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    for plot in page.query_selector_all("[data-chart]"):
        plot.scroll_into_view_if_needed()
        plot.wait_for_selector("svg", state="attached")


def wait_until(page: Any, condition: str) -> None:
    """Wait for a condition; Playwright's own function is one that the page's policy forbids."""
    for _ in range(200):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never true: {condition}")


def show_forest(page: Any, language: str) -> None:
    """Scroll to the forest plot, which is below the findings, and wait until it is drawn."""
    page.locator('[data-chart="forest"]').scroll_into_view_if_needed()
    page.wait_for_selector(f'[data-chart="forest"][data-drawn="{language}"] svg')


@pytest.fixture(scope="module")
def page_file(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report_run.write_page(small_run, tmp_path_factory.mktemp("page"))


def test_every_chart_of_every_test_is_drawn_and_nothing_is_asked_of_the_network(
    small_run: Path, tmp_path: Path, opened: Open
) -> None:
    results = saved_results.find_results([report_run.one_model(small_run)[0].parent])
    (model,) = run_page.prepare(results)
    charts = {test.card.name: len(test.charts) for test in model.tests}
    assert [charts[name] for name in report_run.FIVE] == [2, 2, 2, 2, 3]
    run_page.write(results, tmp_path / "page.html")
    found = opened(tmp_path / "page.html")
    show_all(found.page)
    sizes = found.page.eval_on_selector_all(
        "[data-chart] svg",
        "all => all.map((one) => one.getBoundingClientRect()).map((b) => [b.width, b.height])",
    )
    assert len(sizes) == 1 + sum(charts.values())
    assert all(width > 150 and height > 60 for width, height in sizes)
    assert found.page.locator(".failed:visible").count() == 0
    assert found.troubles == []


@pytest.mark.parametrize("parts", [("low", "high"), ("low", "high", "value")])
def test_charts_of_figures_without_intervals_or_values_are_drawn_without_a_warning(
    small_run: Path, tmp_path: Path, opened: Open, parts: tuple[str, ...]
) -> None:
    missing: dict[str, Any] = dict.fromkeys(parts)
    results = []
    for one in saved_results.find_results(report_run.one_model(small_run)):
        result = one.result
        changed = replace(
            result,
            gender_effect_size=replace(
                result.gender_effect_size, reason=phrase("too few sentences"), **missing
            ),
            conditions=tuple(replace(cell, **missing) for cell in result.conditions),
            nuance=tuple(replace(cell, **missing) for cell in result.nuance),
        )
        results.append(resaved(one, tmp_path, changed))
    run_page.write(results, tmp_path / "page.html")
    found = opened(tmp_path / "page.html")
    show_all(found.page)
    assert found.page.locator(".failed:visible").count() == 0
    assert found.troubles == []


def test_an_occupation_is_named_when_pointed_at(page_file: Path, opened: Open) -> None:
    found = opened(page_file)
    found.page.locator("details.row > summary h3").first.click()
    chart = found.page.locator('[data-chart$="-occupations"]').first
    chart.scroll_into_view_if_needed()
    chart.locator(".mark-symbol path").first.hover(force=True)
    tooltip = found.page.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    assert {"occupation", "in English", "leaning"} <= set(
        tooltip.locator("td.key").all_inner_texts()
    )
    assert found.troubles == []


def test_examples_are_searched_filtered_and_sorted(page_file: Path, opened: Open) -> None:
    found = opened(page_file)
    test = found.page.locator('[data-task="lm-dawinobias@2"]')
    explorer = test.locator(".examples")
    assert not explorer.locator(".list").is_visible()
    test.locator("summary h3").click()
    explorer.locator("summary").click()
    assert explorer.locator(".list").is_visible()
    # First come the ones that show the finding, each with the reason and both pronouns.
    assert explorer.locator(".list li").count() == explorer.locator(".list .why").count() == 6
    assert "72 examples match" in explorer.locator(".count").inner_text()
    first = explorer.locator(".list li").first.inner_text()
    assert re.search(r"(han|ham|hans) \d+\.\d% · (hun|hende|hendes) \d+\.\d%", first)

    explorer.locator("select[name=sort]").select_option("male")
    assert explorer.locator(".list li").count() == 20
    assert explorer.locator(".list .why").count() == 0
    leans = [float(one.get_attribute("data-lean")) for one in explorer.locator(".list li").all()]
    assert leans == sorted(leans, reverse=True)
    orders = explorer.locator("select[name=sort] option")
    assert orders.first.get_attribute("label") == "what shows the finding"
    explorer.locator("select[name=sort]").select_option("female")
    leans = [float(one.get_attribute("data-lean")) for one in explorer.locator(".list li").all()]
    assert leans == sorted(leans)
    assert leans[0] < 0

    explorer.locator("select[name=outcome]").select_option(label="wrong")
    outcomes = {one.get_attribute("data-outcome") for one in explorer.locator(".list li").all()}
    assert outcomes == {"wrong"}

    explorer.locator("select[name=outcome]").select_option(label="any")
    explorer.locator("input[name=search]").fill("MEKANIKEREN")
    texts = explorer.locator(".list .sentence").all_inner_texts()
    assert texts
    assert all("mekanikeren" in text.lower() for text in texts)
    marks = explorer.locator(".list mark.pronoun").all_inner_texts()
    assert set(marks) <= {"han", "hun", "ham", "hende", "hans", "hendes"}

    explorer.locator(".more").click()
    assert explorer.locator(".list li").count() > 20
    explorer.locator("input[name=search]").fill("nothing is like this")
    assert explorer.locator(".list li").count() == 0
    assert found.troubles == []


def test_the_language_can_be_switched(page_file: Path, opened: Open) -> None:
    found = opened(page_file)
    page = found.page
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.locator("h1").inner_text() == "Gender bias report"
    number = page.locator('[data-path="gap.value"]').first
    english = number.text_content()
    page.get_by_role("button", name="Dansk").click()
    show_forest(page, "da")
    assert page.locator("html").get_attribute("lang") == "da"
    assert page.locator("h1").inner_text() == "Rapport om kønsbias"
    assert page.title().startswith("Rapport om kønsbias")
    assert number.text_content() == english.replace(".", ",")
    assert "kvinder" in page.locator('[data-chart="forest"] svg').text_content()
    assert page.locator("input[name=search]").first.get_attribute("placeholder").startswith("ord")
    assert "eksempler fundet" in page.locator(".count").first.text_content()
    page.get_by_role("button", name="English").click()
    assert number.text_content() == english
    assert found.troubles == []


def test_a_third_language_is_one_more_button(
    small_run: Path, tmp_path: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    extra_language.add(tmp_path / "locale", monkeypatch)
    file = tmp_path / "page.html"
    run_page.write(saved_results.find_results(report_run.one_model(small_run)), file)
    found = opened(file, locale="sv-SE")
    page = found.page
    assert page.locator("html").get_attribute("lang") == "sv"
    assert page.locator(".languages button").all_inner_texts() == ["English", "Dansk", "Svenska"]
    assert page.locator("h1").inner_text() == "Rapport om könsbias"
    number = page.locator('[data-path="gap.value"]').first
    swedish = number.text_content()
    assert "," in swedish
    # What the catalogue lacks is English.
    assert page.locator("input[name=search]").first.get_attribute("placeholder").startswith("word")
    page.get_by_role("button", name="English").click()
    show_forest(page, "en")
    assert number.text_content() == swedish.replace(",", ".")
    page.get_by_role("button", name="Dansk").click()
    assert page.locator("h1").inner_text() == "Rapport om kønsbias"
    assert found.troubles == []


def test_a_danish_browser_gets_danish(page_file: Path, opened: Open) -> None:
    found = opened(page_file, locale="da-DK")
    assert found.page.locator("html").get_attribute("lang") == "da"


def test_hostile_strings_do_nothing(small_run: Path, tmp_path: Path, opened: Open) -> None:
    shutil.copytree(small_run, tmp_path / "run")
    report_run.poison(tmp_path / "run")
    file = tmp_path / "hostile.html"
    run_page.write(saved_results.find_results(report_run.one_model(tmp_path / "run")), file)
    found = opened(file)
    for width in (1400, 390):
        found.page.set_viewport_size({"width": width, "height": 900})
        show_all(found.page)
        box = found.page.locator(".examples input[name=search]").first
        box.fill("<script>")
        assert found.page.locator(".examples .list li").first.is_visible()
        found.page.get_by_role("button", name="Dansk").click()
        show_forest(found.page, "da")
        found.page.locator('[data-chart="forest"] .mark-symbol path').first.hover(force=True)
        assert found.page.evaluate("window.hacked") is None
        assert found.page.evaluate("document.images.length") == 0
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width
        assert found.troubles == []


def test_nothing_sticks_out_sideways(page_file: Path, opened: Open) -> None:
    page = opened(page_file).page
    for language in ("English", "Dansk"):
        page.get_by_role("button", name=language).click()
        for width in (1400, 390):
            page.set_viewport_size({"width": width, "height": 900})
            show_all(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(
    ("scheme", "rules"), [("light", "{}"), ("dark", "{runOnly: ['color-contrast']}")]
)
def test_axe_finds_nothing_at_all(
    small_run: Path, tmp_path: Path, opened: Open, scheme: str, rules: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python")
    # These two tests have every part that a page can have; axe takes its time with more.
    folders = [
        one for one in report_run.one_model(small_run) if one.name.startswith(("lm-d", "ner-dane"))
    ]
    run_page.write(saved_results.find_results(folders), tmp_path / "page.html")
    page = opened(tmp_path / "page.html", color_scheme=scheme).page
    show_all(page)
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    # A chart is one picture with a name: what it is drawn of is not looked at.
    result = page.evaluate(f"axe.run({{exclude: [['.plot svg']]}}, {rules})")
    serious = [
        (found["id"], found["nodes"][0]["html"][:200], found["nodes"][0]["failureSummary"][:300])
        for found in result["violations"]
    ]
    assert serious == []
    assert result["passes"]


def test_the_page_is_short_until_something_is_opened(page_file: Path, opened: Open) -> None:
    page = opened(page_file).page
    # A third of what five results took when everything was open.
    for width, most in ((1400, 7_800), (390, 12_500)):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollHeight") < most / 2
    page.get_by_role("button", name="Open all").click()
    assert page.evaluate("document.documentElement.scrollHeight") > 7_800
    page.get_by_role("button", name="Close all").click()
    assert page.locator("details[open]").count() == 0


def test_the_navigation_stays_and_opens_what_it_leads_to(page_file: Path, opened: Open) -> None:
    page = opened(page_file, width=390).page
    page.locator("nav a", has_text="ner-dane").click()
    test = page.locator('[data-task="ner-dane@2"]')
    test.locator(".body").wait_for()
    bar = "document.querySelector('.bar').getBoundingClientRect()"
    place = "document.querySelector('[data-task=\"ner-dane@2\"]').getBoundingClientRect()"
    wait_until(page, f"scrollY > 300 && Math.abs({place}.top - {bar}.bottom) < 60")
    assert page.evaluate(f"{bar}.top") == 0
    assert page.evaluate(f"{place}.top >= {bar}.bottom - 1")
    # Tables of figures are cards here; another that does not fit says so.
    assert test.locator(".cards").count() == 2
    assert test.locator(".cards thead:visible").count() == 0
    test.locator(".pair > div > .scroll").evaluate("(one) => { one.style.maxWidth = '100px'; }")
    hint = test.locator(".pair .wide-hint:visible")
    hint.first.wait_for()
    assert set(hint.all_inner_texts()) == {"Scroll the table sideways to see all of it."}
    page.locator("nav a", has_text="Findings").click()


def test_the_numbers_of_a_chart_have_the_same_digits_in_a_column(
    page_file: Path, opened: Open
) -> None:
    page = opened(page_file).page
    page.locator("details.row > summary h3").first.click()
    fold = page.locator('[data-numbers$="-interaction"]').first
    fold.locator("summary").click()
    fold.locator("thead th").first.wait_for()
    headings = fold.locator("thead th").all_inner_texts()
    assert headings[:2] == ["Condition", "Group"]
    assert all(name[0].isupper() for name in headings)
    for place in range(2, len(headings)):
        texts = fold.locator(f"tbody td:nth-child({place + 1})").all_inner_texts()
        assert len({len(text.partition(".")[2]) for text in texts}) == 1


def test_a_wide_table_stays_beside_its_chart(page_file: Path, opened: Open) -> None:
    page = opened(page_file, width=800, locale="da-DK").page
    page.locator("details.row > summary h3").first.click()
    pair = page.locator(".pair").first
    table = pair.locator("> div > .scroll")
    table.evaluate("(one) => { one.style.maxWidth = '100px'; }")
    pair.locator("> div > .wide-hint").wait_for()
    chart, beside = pair.locator(".chart").bounding_box(), table.bounding_box()
    assert beside["x"] > chart["x"] + chart["width"]


def test_a_term_is_explained_where_it_stands_and_in_the_glossary(
    page_file: Path, opened: Open
) -> None:
    page = opened(page_file).page
    tip = page.locator("#tip")
    assert not tip.is_visible()
    page.locator(".measure .term", has_text="GES").first.hover()
    assert tip.inner_text().startswith("Gender effect size: how many times as much")
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    page.locator("details.row > summary h3").first.click()
    page.locator(".figures a.term", has_text="GES").first.click()
    meaning = page.locator("#term-ges dd")
    meaning.wait_for()
    assert meaning.inner_text().startswith("Gender effect size")
    page.get_by_role("button", name="Dansk").click()
    page.locator(".figures a.term", has_text="GES").first.focus()
    assert tip.inner_text().startswith("Kønseffektstørrelse")


def test_labels_of_the_effects_stand_beside_the_plot(page_file: Path, opened: Open) -> None:
    page = opened(page_file, width=390).page
    show_forest(page, "en")
    left, right = page.evaluate(
        """() => {
          const plot = document.querySelector('[data-chart="forest"]');
          const edges = (found, side) => [...plot.querySelectorAll(found)].map(
            (one) => one.getBoundingClientRect()[side]);
          return [
            Math.max(...edges('.role-axis .role-axis-label text', 'right').slice(-5)),
            Math.min(...edges('.mark-rule line, .mark-symbol path', 'left')),
          ];
        }"""
    )
    assert left < right
