"""Results and comparisons as a notebook shows them: the finding first, and nothing harmful."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from report_run import HOSTILE, LONG, poison

import gendalens
from gendalens.results.figures import show_evidence, show_interval
from gendalens.results.result import Result
from gendalens.words import write

VOID = {"br"}
ALLOWED = {"div", "p", "strong", "small", "bdi", "code", "span", "br", "details", "summary"}
ALLOWED |= {"table", "caption", "thead", "tbody", "tr", "th", "td"}


class Block(HTMLParser):
    """The tags of a block of HTML, which must be balanced, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def results(small_run: Path) -> gendalens.Results:
    return gendalens.load(small_run)


def html_of(shown: Result) -> str:
    html = shown._repr_html_()
    assert html is not None
    return html


def test_a_result_says_what_was_found_before_anything_else(results: gendalens.Results) -> None:
    for result in results:
        text = Block(html_of(result)).text
        assert text.lower().startswith(str(result.finding).lower())


def test_a_result_shows_its_figures_with_intervals_and_its_signature(
    results: gendalens.Results,
) -> None:
    for result in results:
        text = Block(html_of(result)).text
        assert str(show_interval(result.gender_effect_size)) in text
        for evidence in result.finding.evidence:
            assert str(show_evidence(evidence)) in text
        for warning in result.warnings:
            assert str(warning) in text
        assert result.signature in text
        assert result.model.name in text


def test_results_have_an_overview_and_each_result_on_demand(results: gendalens.Results) -> None:
    html = results._repr_html_()
    assert html.count("<details>") == len(results)
    overview = Block(html[: html.index("<details>")] + "</div>").text
    for result in results:
        assert str(show_interval(result.gender_effect_size)) in overview
        assert result.signature in html
    assert overview.count(results[0].model.name) == 5


def test_a_single_result_in_a_list_is_shown_as_that_result(results: gendalens.Results) -> None:
    assert results[:1]._repr_html_() == results[0]._repr_html_()


def test_no_results_are_shown_as_an_empty_overview() -> None:
    assert Block(gendalens.Results()._repr_html_()).text == "ModelTestVerdictGESMain effectGroups"


def test_a_comparison_shows_findings_differences_and_signatures(
    results: gendalens.Results,
) -> None:
    comparison = gendalens.compare(results)
    text = Block(comparison._repr_html_()).text
    for group in comparison.groups:
        [pair] = group.pairs
        assert str(pair.finding.describe()).lower() in text.lower()
        for one in (*pair.main, *pair.groups):
            assert str(one.name) in text
        assert group.test in text
    for result in results:
        assert result.signature in text
    assert text.index("Finding") < text.index("Verdict")


def test_a_comparison_without_differences_says_why(results: gendalens.Results) -> None:
    unsaved = [replace(one, folder=None) for one in results]
    assert "Differences need the records" in Block(gendalens.compare(unsaved)._repr_html_()).text


@pytest.mark.usefixtures("danish")
def test_everything_is_in_the_language_in_use(results: gendalens.Results) -> None:
    comparison = gendalens.compare(results)
    for html in (html_of(results[0]), results._repr_html_(), comparison._repr_html_()):
        assert 'lang="da"' in html
        assert "Konklusion" in html
        assert "Verdict" not in html
        assert re.search(r"[−\d],\d\d \[", html)  # the decimal comma
    assert write(results[0].finding.message, "da") in unescape(html_of(results[0])).lower()


def test_nothing_in_a_result_can_break_out_of_its_place(small_run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(small_run, copy)
    poison(copy)
    results = gendalens.load(copy)
    assert results[0].model.name == HOSTILE + LONG
    comparison = gendalens.compare([replace(one, folder=None) for one in results])
    for html in (*map(html_of, results), results._repr_html_(), comparison._repr_html_()):
        block = Block(html)
        assert block.tags <= ALLOWED
        assert block.attributes <= {"class", "lang", "style", "scope"}
        assert "\u202e" not in html
        assert "\u2066" not in html


def test_a_block_loads_nothing_and_has_no_colour_of_its_own_for_text_or_paper(
    results: gendalens.Results,
) -> None:
    for html in (
        html_of(results[0]),
        results._repr_html_(),
        gendalens.compare(results)._repr_html_(),
    ):
        assert Block(html).tags <= ALLOWED
        for word in ("http", "url(", "src=", "@import", "background", "color:"):
            assert word not in html


def test_a_result_of_a_test_that_is_not_installed_is_still_shown(
    results: gendalens.Results,
) -> None:
    foreign = replace(results[0], task="somebody-elses-test")
    text = Block(html_of(foreign)).text
    assert text.lower().startswith(str(foreign.finding).lower())
    assert "somebody-elses-test" in text


def link_nothing(texts: Sequence[str]) -> list[list[Any]]:
    """A coreference system that finds no clusters."""
    return [[] for _ in texts]


def test_a_result_that_could_not_be_measured_says_why() -> None:
    [result] = gendalens.run(
        gendalens.Resolver(link_nothing), tasks="coref-abc", data="builtin", sample=40
    )
    assert not result.finding.is_measured
    assert str(result.problem).lower() in Block(html_of(result)).text.lower()
