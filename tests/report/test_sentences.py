"""What a reader is told says which side is favoured: compared with a table that a person can check.

``sentences.toml`` holds the table, in English and Danish side by side.
"""

from __future__ import annotations

import html
import io
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import gendalens
from gendalens.report.exports.model_card import model_card
from gendalens.report.exports.result_tables import short_tables
from gendalens.report.exports.tables import to_markdown
from gendalens.report.html import run_page
from gendalens.report.terminal import result as terminal
from gendalens.report.terminal.console import PlainConsole
from gendalens.report.wording import name_identifier
from gendalens.results import saved_results
from gendalens.results.result import Result
from gendalens.results.saved_results import SavedResult
from gendalens.stats.evidence import SIZES, Evidence
from gendalens.stats.findings import EffectFinding, Finding
from gendalens.words import ENGLISH, use_language

TABLE: dict[str, list[dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("sentences.toml").read_text(encoding="utf-8")
)
READINGS, PICTURES = TABLE["reading"], TABLE["picture"]
LANGUAGES = ("en", "da")
SCORED = "coref-dawinobias"
SIDES = ("above", "below")
#: Value and interval of a figure that says so, in bands.
BOUNDS = {
    "small": (1.5, 0.5, 2.5),
    "medium": (3.0, 1.5, 4.5),
    "large": (6.0, 4.0, 8.0),
    "negligible": (0.1, -0.5, 0.7),
    "undecided": (0.5, -1.5, 2.5),
}


@dataclass(frozen=True)
class Case:
    """A row of the table, with a side and a size."""

    row: int
    side: str
    size: str

    @property
    def reading(self) -> dict[str, Any]:
        return READINGS[self.row]

    def __str__(self) -> str:
        reading = self.reading
        return f"{reading['test']} {reading['part']} {reading['figure']} {self.side} {self.size}"


CASES = [Case(row, side, size) for row in range(len(READINGS)) for side in SIDES for size in SIZES]


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    yield
    use_language(ENGLISH)


@pytest.fixture(scope="module")
def by_test(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, SavedResult]:
    """A result of each test; of coref-dawinobias by a resolver that scores, which has all figures."""
    (model,) = (path for path in small_run.iterdir() if "stereotyped" in path.name)
    out = tmp_path_factory.mktemp("scored")
    resolver = "lm-coref:demo-lm?prompt=refers"
    gendalens.run(resolver, tasks=SCORED, data="builtin", sample=6, out=out, cache=False)
    gendalens.run("control:stereotyped", tasks="chat-abc", data="builtin", sample=40, out=out)
    found = saved_results.find_results([model, out])
    return {one.result.task: one for one in found}


def say(one: Evidence, what: str, side: str = "above") -> Evidence:
    """The figure with a value and an interval that say so."""
    sign = 1 if side == "above" else -1
    value, *bounds = (sign * factor * one.band for factor in BOUNDS[what])
    low, high = sorted(bounds)
    found = what in SIZES
    p = 0.0001 if found else 0.4
    seen, acquitted = (0.31, 0.37) if one.id == "gap" else (0.62, 0.71)
    placed = replace(one, value=value, low=low, high=high, reason=None)
    return replace(placed, p=p, p_adjusted=p, seen=seen, acquitted=acquitted)


def judge(result: Result, main: list[Evidence], groups: list[Evidence]) -> Result:
    """The result with another finding."""
    finding = Finding(EffectFinding(tuple(main)), EffectFinding(tuple(groups)))
    return replace(result, finding=finding, problem=None, warnings=())


def find(result: Result, case: Case) -> Result:
    """The result whose finding is that of a case: one figure shows a bias, all others are negligible."""
    parts: dict[str, list[Evidence]] = {}
    for part in ("main", "groups"):
        figures = getattr(result.finding, part).evidence
        parts[part] = [say(one, "negligible") for one in figures]
        if part == case.reading["part"]:
            chosen = [one for one in figures if one.id == case.reading["figure"]]
            assert len(chosen) == 1
            parts[part] = [say(chosen[0], case.size, case.side)]
    return judge(result, **parts)


def print_result(result: Result, language: str) -> str:
    use_language(language)
    console = PlainConsole(file=io.StringIO(), width=10_000)
    terminal.show(console, result, None)
    return _flatten(console.file.getvalue())  # type: ignore[attr-defined]


def print_summary(result: Result, language: str) -> str:
    use_language(language)
    console = PlainConsole(file=io.StringIO(), width=10_000)
    terminal.show_summary(console, [result])
    return _flatten(console.file.getvalue())  # type: ignore[attr-defined]


def write_card(result: Result, language: str) -> str:
    use_language(language)
    return _flatten(re.sub(r"\\(.)", r"\1", model_card([result])))


def write_tables(result: Result, language: str) -> str:
    use_language(language)
    return _flatten(to_markdown(short_tables([result])))


def _flatten(text: str) -> str:
    return " ".join(text.split())


@cache
def _others(row: int, side: str, language: str) -> tuple[str, ...]:
    """The readings of the same test that say something else."""
    own = READINGS[row][side][language]
    same = [one for one in READINGS if one["test"] == READINGS[row]["test"]]
    every = {one[key][language] for one in same for key in (*SIDES, "alike") if key in one}
    return tuple(every - {own})


def headline(case: Case, language: str) -> str:
    in_groups = case.reading["part"] == "groups"
    row = TABLE["headline"][1 if in_groups else 0]
    return str(row[case.size][language])


# The table is complete


def test_the_table_has_a_row_for_every_figure_that_a_test_is_judged_on(
    by_test: dict[str, SavedResult],
) -> None:
    judged = {
        (one.result.task, part, figure.id)
        for one in by_test.values()
        for part in ("main", "groups")
        for figure in getattr(one.result.finding, part).evidence
    }
    assert {(row["test"], row["part"], row["figure"]) for row in READINGS} == judged
    assert {row["test"] for row in PICTURES} == set(by_test)
    for row in READINGS:
        assert ("alike" in row) == (row["part"] == "main")


def test_no_two_sides_of_a_figure_read_the_same() -> None:
    for row in READINGS:
        for language in LANGUAGES:
            assert row["above"][language] != row["below"][language]


# Each surface says what the table says


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_bias_is_told_with_its_side_and_size(
    case: Case, language: str, by_test: dict[str, SavedResult]
) -> None:
    result = find(by_test[case.reading["test"]].result, case)
    told, head = case.reading[case.side][language], headline(case, language)
    printed = print_result(result, language)
    assert f" {head} {told}" in printed
    assert not [other for other in _others(case.row, case.side, language) if other in printed]
    assert print_summary(result, language).endswith(f" {head}")
    if case.size == "large":  # the others differ in one word alone
        card = write_card(result, language)
        assert f"**{head[0].upper()}{head[1:]}.** {told}" in card
        assert not [other for other in _others(case.row, case.side, language) if other in card]
        assert f"| {head} |" in write_tables(result, language)


@pytest.fixture(scope="module")
def page(by_test: dict[str, SavedResult]) -> list[dict[str, str]]:
    """The findings on one page of a result for every row and side: the text of each, by language."""
    found = []
    for number, case in enumerate(_large()):
        one = by_test[case.reading["test"]]
        result = find(one.result, case)
        named = replace(result, model=replace(result.model, name=f"model {number}"))
        found.append(replace(one, result=named))
    text = run_page.html(found)
    rows = r'<article class="test [^>]*data-result="test-(\d+)".*?<summary>(.*?)</summary>'
    items = re.findall(rows, text, re.DOTALL)
    assert [int(number) for number, _ in items] == list(range(1, len(found) + 1))
    return [{language: _read(item, language) for language in LANGUAGES} for _, item in items]


def _large() -> list[Case]:
    return [case for case in CASES if case.size == "large"]


def _read(item: str, language: str) -> str:
    spans = re.findall(rf'<span class="t" lang="{language}">(.*?)</span>', item, re.DOTALL)
    return _flatten(html.unescape(re.sub(r"<.*?>", "", " ".join(spans))))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_says_the_same(page: list[dict[str, str]], language: str) -> None:
    for case, texts in zip(_large(), page, strict=True):
        told, head = case.reading[case.side][language], headline(case, language)
        assert texts[language].startswith(f"{head[0].upper()}{head[1:]}"), case
        assert f" {told}" in texts[language], case
        assert not [
            other for other in _others(case.row, case.side, language) if other in texts[language]
        ]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "row", [row for row in READINGS if "alike" in row], ids=lambda row: row["test"]
)
def test_no_difference_that_matters_is_told_as_such(
    row: dict[str, Any], language: str, by_test: dict[str, SavedResult]
) -> None:
    result = by_test[row["test"]].result
    main, groups = (
        [say(one, "negligible") for one in part.evidence]
        for part in (result.finding.main, result.finding.groups)
    )
    for text in (
        print_result(judge(result, main, groups), language),
        write_card(judge(result, main, groups), language),
    ):
        assert row["alike"][language] in text
        assert row["above"][language] not in text
        assert row["below"][language] not in text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("row", PICTURES, ids=lambda row: row["test"])
def test_the_counts_belong_to_the_side_that_they_are_told_of(
    row: dict[str, Any], language: str, by_test: dict[str, SavedResult]
) -> None:
    result = _with_shares(by_test[row["test"]].result, row["shares"])
    place = next(
        i
        for i, one in enumerate(READINGS)
        if one["test"] == row["test"] and one["part"] == "groups"
    )
    in_groups = find(result, Case(place, "above", "large"))
    main, groups = row["main"][language], row["groups"][language]
    for show in (print_result, write_card):
        assert f"{main} {groups}" in show(in_groups, language)
    everything = [say(one, "negligible") for one in result.finding.groups.evidence]
    biased = judge(result, [say(result.finding.main.evidence[0], "large")], everything)
    for show in (print_result, write_card):
        assert main in show(biased, language)
        assert groups not in show(biased, language)  # there is no bias in them


def _with_shares(result: Result, shares: dict[str, float]) -> Result:
    """The result with other figures, by id or by condition and group."""
    left = dict(shares)
    extra = tuple(
        replace(one, value=left.pop(one.id)) if one.id in left else one for one in result.extra
    )

    def change(cells: Any) -> Any:
        return tuple(
            replace(cell, value=left.pop(key)) if (key := _key(cell)) in left else cell
            for cell in cells
        )

    changed = replace(
        result, extra=extra, conditions=change(result.conditions), nuance=change(result.nuance)
    )
    assert not left, "the result has no such figure"
    return changed


def _key(cell: Any) -> str:
    return cell.condition if cell.group is None else f"{cell.condition}, {cell.group}"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("row", TABLE["together"], ids=lambda row: f"{row['main']}-{row['groups']}")
def test_both_parts_are_told_together_the_worse_one_first(
    row: dict[str, str], language: str, by_test: dict[str, SavedResult]
) -> None:
    result = by_test["lm-abc"].result
    main, groups = (
        [say(one, "large" if what == "bias" else what) for one in part.evidence]
        for what, part in (
            (row["main"], result.finding.main),
            (row["groups"], result.finding.groups),
        )
    )
    told = row[language]
    head, _, rest = told.partition(". ")
    card = write_card(judge(result, main, groups), language)
    assert f"**{head[0].upper()}{head[1:]}.** {rest}" in card
    assert f" {head} {rest}" in print_result(judge(result, main, groups), language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_words_of_tables_name_the_right_side(language: str) -> None:
    for row in TABLE["word"]:
        assert name_identifier(row["identifier"], language) == row[language]
    words = [row[language] for row in TABLE["word"]]
    assert len(set(words)) == len(words)


def test_every_condition_and_group_of_a_table_is_among_these_words(
    by_test: dict[str, SavedResult],
) -> None:
    known = {row["identifier"] for row in TABLE["word"]} | {"reflexive"}
    for one in by_test.values():
        cells = (*one.result.conditions, *one.result.nuance)
        shown = {cell.condition for cell in cells} | {
            str(cell.group) for cell in cells if cell.group
        }
        assert shown <= known
