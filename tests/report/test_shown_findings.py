"""A finding as readers meet it: the worse of main effect and groups comes first, in plain numbers."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gendalens.cli.app import app
from gendalens.report.charts.charts import ForestRow, draw_forest, find_state
from gendalens.report.exports.every_eval_ever import every_eval_ever
from gendalens.report.exports.hub_metadata import hub_metadata
from gendalens.report.exports.model_card import model_card
from gendalens.report.exports.result_tables import long_table, short_tables
from gendalens.report.exports.tables import to_csv, to_markdown
from gendalens.report.html import run_page
from gendalens.report.terminal import result as terminal
from gendalens.report.terminal.console import PlainConsole
from gendalens.report.wording import explain_finding, picture_result
from gendalens.results import saved_results
from gendalens.results.result import Result
from gendalens.results.saved_results import SavedResult
from gendalens.stats.evidence import Evidence
from gendalens.stats.findings import EffectFinding, Finding
from gendalens.tasks import get_task
from gendalens.words import ENGLISH, phrase, use_language, write

NO_DIFFERENCE = "no difference that matters"
IN_GROUPS = "bias found in groups (large)"
BY_GROUP = "The model finds majority names better than minority names."


def make_evidence(
    value: float,
    half: float,
    *,
    band: float = 0.02,
    sides: tuple[str, str] = ("male", "female"),
    unit: str = "recall",
    p: float | None = None,
) -> Evidence:
    """A figure with an interval of ``value`` ± ``half``."""
    return Evidence(
        id="figure",
        effect=sides[0],
        name=phrase("a figure"),
        unit=unit,
        sides=sides,
        band=band,
        value=value,
        low=value - half,
        high=value + half,
        p=0.001 if abs(value) > half else 0.5,
        p_adjusted=p,
        seen=1.4 * half,
        acquitted=1.6 * half,
    )


ORIGINS = ("majority names", "minority names")
SMALL, OPEN = make_evidence(0.001, 0.01), make_evidence(0.03, 0.05)
FOUND = make_evidence(0.2, 0.05)
OF_GROUPS = make_evidence(0.4, 0.05, sides=ORIGINS)
SMALL_GROUPS = make_evidence(0.001, 0.01, sides=ORIGINS)
OPEN_GROUPS = make_evidence(0.03, 0.05, sides=ORIGINS)


@pytest.fixture
def saved(small_run: Path) -> SavedResult:
    (model,) = (path for path in small_run.iterdir() if "stereotyped" in path.name)
    (one,) = saved_results.find_results([*model.glob("ner-dane@2-*")])
    return one


def judged(
    saved: SavedResult, main: Sequence[Evidence], groups: Sequence[Evidence] = ()
) -> SavedResult:
    finding = Finding(EffectFinding(tuple(main)), EffectFinding(tuple(groups)))
    return replace(saved, result=replace(saved.result, finding=finding))


def explain(result: Result, language: str = "en") -> str:
    card = get_task(result.task, result.protocol).card
    return " ".join(write(sentence, language) for sentence in explain_finding(result, card))


def print_result(result: Result) -> str:
    console = PlainConsole(file=io.StringIO(), width=80)
    terminal.show(console, result, None)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


# The worse of the two heads everything


def test_a_bias_in_groups_heads_the_terminal_and_the_summary(saved: SavedResult) -> None:
    result = judged(saved, [SMALL], [OF_GROUPS]).result
    lines = print_result(result).split("\n")
    assert lines[4] == IN_GROUPS
    assert lines[5].startswith(BY_GROUP)
    console = PlainConsole(file=io.StringIO(), width=80)
    terminal.show_summary(console, [result])
    summary = console.file.getvalue()  # type: ignore[attr-defined]
    assert IN_GROUPS in summary
    assert NO_DIFFERENCE not in summary
    assert terminal.style_finding(result.finding) == "bold red"


def test_a_bias_in_groups_heads_the_page(saved: SavedResult) -> None:
    one = judged(saved, [SMALL], [OF_GROUPS])
    ((test,),) = (model.tests for model in run_page.prepare([one]))
    assert test.state == "found"
    assert str(test.meaning[0]) == BY_GROUP
    page = run_page.html([one])
    chip = '<span class="chip found"><span class="t" lang="en">Bias found in groups (large)</span>'
    assert page.count(chip) == 1
    top = page[page.index('<article class="test found"') :].partition("</summary>")[0]
    assert BY_GROUP in top.replace("&#39;", "'")
    assert "With minority names it finds" in top
    assert "Med minoritetsnavne genkender den" in top
    assert NO_DIFFERENCE not in top.lower()


def test_a_bias_in_groups_heads_the_model_card_and_tables(saved: SavedResult) -> None:
    result = judged(saved, [SMALL], [OF_GROUPS]).result
    for text in (model_card([result]), to_markdown(short_tables([result]))):
        assert IN_GROUPS in text
        found, _, _ = text.partition("### What this does not show")
        assert NO_DIFFERENCE not in found.lower()
    card = model_card([result])
    assert f"**Bias found in groups (large).** {BY_GROUP}" in card
    assert "With minority names it finds" in card


def test_the_main_effect_beside_a_bias_in_groups_acquits_nobody(saved: SavedResult) -> None:
    text = explain(judged(saved, [SMALL], [OF_GROUPS]).result)
    assert text == f"{BY_GROUP} The main effect alone does not show this: it is within ±2 points."
    text = explain(judged(saved, [OPEN], [OF_GROUPS]).result)
    assert text.startswith(f"{BY_GROUP} The main effect alone is not settled.")
    assert get_task("ner-dane", 2).card.readings.alike not in text


def test_of_two_biases_the_larger_comes_first(saved: SavedResult) -> None:
    men = get_task("ner-dane", 2).card.readings.male
    small = make_evidence(0.03, 0.02)
    assert explain(judged(saved, [small], [OF_GROUPS]).result) == f"{BY_GROUP} {men}"
    small = make_evidence(0.03, 0.02, sides=ORIGINS)
    assert explain(judged(saved, [FOUND], [small]).result) == f"{men} {BY_GROUP}"


def test_every_bias_in_groups_is_told_once(saved: SavedResult) -> None:
    minority = make_evidence(-0.05, 0.02, sides=("minority men", "minority women"))
    again = replace(OF_GROUPS, unit="F1", value=0.3)
    text = explain(judged(saved, [SMALL], [minority, OF_GROUPS, again]).result)
    readings = get_task("ner-dane", 2).card.readings
    assert text.startswith(f"{BY_GROUP} {readings.groups['minority women']} The main")


# What is not settled, and what is too small


@pytest.mark.parametrize(
    ("unit", "band", "english", "danish"),
    [
        ("recall", 0.02, "7.0 points or more|one of 8.0 points", "7,0 point eller mere|8,0 point"),
        ("F1", 0.04, "0.07 F1 or more|one of 0.08 F1", "0,07 F1 eller mere|0,08 F1"),
        ("bits", 0.04, "0.07 bits or more|one of 0.08 bits", "0,07 bit eller mere|0,08 bit"),
    ],
)
def test_undecided_says_what_could_have_been_seen(
    saved: SavedResult, unit: str, band: float, english: str, danish: str
) -> None:
    one = make_evidence(0.03, 0.05, unit=unit, band=band)
    result = judged(saved, [one], [OPEN_GROUPS]).result
    for language, parts in (("en", english), ("da", danish)):
        text = explain(result, language)
        assert all(part in text for part in parts.split("|")), text
    assert "Whether groups are treated differently is not settled." in explain(result)


def test_undecided_groups_come_before_a_main_effect_that_is_too_small(saved: SavedResult) -> None:
    text = explain(judged(saved, [SMALL], [OPEN_GROUPS]).result)
    assert text.startswith("Whether groups are treated differently is not settled. The data would")
    assert text.endswith("The main effect is within ±2 points, too small to matter.")


def test_a_difference_that_correction_took_away_says_so(saved: SavedResult) -> None:
    finding = EffectFinding((make_evidence(0.06, 0.05, p=0.2),), tests=5)
    result = replace(saved.result, finding=Finding(finding))
    text = explain(result)
    assert "does not survive correction for 5 figures" in text
    assert "would have shown" not in text


def test_what_is_too_small_names_its_band(saved: SavedResult) -> None:
    result = judged(saved, [SMALL], [SMALL_GROUPS]).result
    assert "Any difference is within ±2 points, too small to matter." in explain(result)
    assert "inden for ±2 point " in explain(result, "da")
    # F1 is open here, and the more precise figure decides.
    open_f1 = make_evidence(0.01, 0.09, unit="F1", band=0.05)
    bits = make_evidence(0.01, 0.02, unit="bits", band=0.25)
    assert "±0.25 bits" in explain(judged(saved, [open_f1, bits], [SMALL_GROUPS]).result)


# Counts that a person can picture


def test_every_test_has_a_picture_in_both_languages(small_run: Path) -> None:
    for one in saved_results.find_results([small_run]):
        result = one.result
        if result.task == "job-ads" or result.problem:
            continue
        pictures = picture_result(result)
        assert len(pictures) == (2 if result.finding.groups.verdict == "bias" else 1)
        for picture in pictures:
            assert "100" in str(picture)
            assert write(picture, "da") != str(picture)
        text = print_result(result)
        assert " ".join(str(pictures[0]).split()[:6]) in text


def test_the_groups_are_pictured_if_there_is_a_bias_in_them(saved: SavedResult) -> None:
    assert len(picture_result(judged(saved, [FOUND], [OF_GROUPS]).result)) == 2
    assert len(picture_result(judged(saved, [FOUND], [OPEN_GROUPS]).result)) == 1


# What the verdict rests on


def test_the_terminal_shows_each_figure_of_the_evidence(saved: SavedResult) -> None:
    text = print_result(judged(saved, [SMALL], [OF_GROUPS, OPEN_GROUPS]).result)
    assert "40.0 [35.0, 45.0] points, band ±2 points, p = .001" in text
    assert "bias found; could have seen 7.0 points, ruled out 8.0 points" in text
    assert "too little data to tell; could have seen 7.0 points" in text
    assert max(map(len, text.split("signature")[0].splitlines())) <= 80


def test_a_figure_without_an_interval_says_why(saved: SavedResult) -> None:
    reason = phrase("too few names")
    alone = replace(FOUND, low=None, high=None, p=None, seen=None, acquitted=None, reason=reason)
    one = judged(saved, [alone])
    assert "20.0 points, band ±2 points, no p" in print_result(one.result)
    assert "too little data to tell: too few names" in print_result(one.result)
    assert explain(one.result).endswith("is not settled. too few names")
    assert "too few names" in run_page.html([one])


def test_tables_hold_the_evidence_and_the_p_of_what_is_judged(saved: SavedResult) -> None:
    main = replace(FOUND, p_adjusted=0.0123)
    result = judged(saved, [main], [OF_GROUPS]).result
    rows = to_csv(long_table([result])).splitlines()
    assert sum(",evidence_main," in row for row in rows) == 1
    (row,) = (row for row in rows if ",evidence_groups," in row)
    assert row.endswith(f"0.02,{OF_GROUPS.seen},{OF_GROUPS.acquitted},bias")
    assert result.gap.p_adjusted is None
    assert "| .012 |" in to_markdown(short_tables([result]))


def test_other_formats_name_what_was_found_in_main_effect_and_groups(saved: SavedResult) -> None:
    one = judged(saved, [SMALL], [OF_GROUPS])
    for text in (hub_metadata([one.result]), every_eval_ever([one])):
        found = text.replace('"', "").replace("'", "")
        for detail in ("main_finding: negligible", "groups_finding: bias", "groups_size: large"):
            assert detail in found
        assert "groups_direction: majority names" in found
        assert "groups_band: 0.02 recall" in found


# Charts and cards


def test_a_forest_plot_has_no_band_and_takes_its_colour_from_the_headline(
    saved: SavedResult,
) -> None:
    result = judged(saved, [SMALL], [OF_GROUPS]).result
    spec = draw_forest([ForestRow("ner-dane", result)], "en")
    assert "rect" not in {layer["mark"]["type"] for layer in spec["layer"]}
    assert find_state(result.finding) == "found"


@pytest.mark.parametrize(("language", "word"), [("en", "band"), ("da", "bagatelgrænse")])
def test_the_card_of_a_test_shows_its_bands_with_their_reasons(language: str, word: str) -> None:
    try:
        shown = CliRunner().invoke(app, ["tasks", "lm-dawinobias", "--language", language])
    finally:
        use_language(ENGLISH)
    text = " ".join(shown.output.split())
    assert shown.exit_code == 0
    assert word in text
    for band in get_task("lm-dawinobias", 2).card.bands:
        assert write(phrase(band.why), language)[:40] in text


def test_a_page_lists_the_bands_of_its_tests(saved: SavedResult) -> None:
    page = run_page.html([saved])
    (band,) = get_task("ner-dane", 2).card.bands
    assert f"±2 points ({band.why})" in page
