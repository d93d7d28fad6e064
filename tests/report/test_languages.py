"""Everything a person sees is in the language they read, and a page is in all of them."""

from __future__ import annotations

import gettext
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import altair as alt
import extra_language
import pytest

from gendalens.comparison.comparison import compare
from gendalens.report.charts import charts
from gendalens.report.charts import style as chart_style
from gendalens.report.charts.number_format import number_format
from gendalens.report.charts.style import CONFIG
from gendalens.report.exports.latex_tables import to_latex
from gendalens.report.exports.model_card import model_card
from gendalens.report.exports.result_tables import long_table, short_tables
from gendalens.report.exports.tables import to_csv, to_markdown
from gendalens.report.html import comparison_page, run_page
from gendalens.report.html.page import _read_asset
from gendalens.report.html.texts import PageTexts
from gendalens.report.terminal import comparison as comparison_terminal
from gendalens.report.terminal import result as terminal
from gendalens.report.terminal.console import PlainConsole
from gendalens.report.wording import name_identifier
from gendalens.results import saved_results
from gendalens.results.saved_results import SavedResult
from gendalens.tasks import get_task
from gendalens.words import ENGLISH, languages, phrase, translate
from gendalens.words.catalogues import DOMAIN, LOCALE

FIVE = {"coref-abc", "coref-dawinobias", "lm-abc", "lm-dawinobias", "ner-dane"}


class Unknown(gettext.NullTranslations):
    """What gettext falls back on: nothing."""

    def gettext(self, message: str) -> str:
        """Find nothing."""
        raise LookupError(message)


def is_translated(identifier: str) -> bool:
    """Whether the Danish catalogue or the words of a test hold an identifier, as it is or in words."""
    catalogue = gettext.translation(DOMAIN, LOCALE, languages=["da"])
    catalogue.add_fallback(Unknown())
    for text in (identifier, name_identifier(identifier, ENGLISH)):
        if translate(text, "da") != text:
            return True
        try:
            catalogue.gettext(text)
        except LookupError:
            continue
        return True
    return False


def has_danish(one: SavedResult) -> bool:
    """Whether the test of a result is in Danish at all: an added one may be in English alone."""
    title = get_task(one.result.task, one.result.protocol).card.title
    return translate(title, "da") != title


def list_identifiers(one: SavedResult) -> Iterator[str]:
    """What a result and its page name by identifiers."""
    result = one.result
    yield from (result.gap.unit, *result.harms.values(), *result.sources.values())
    for cell in (*result.conditions, *result.nuance):
        yield from (cell.condition, cell.metric, cell.group or cell.condition)
    yield from (extra.unit for extra in result.extra)
    for one_effect in (result.finding.main, result.finding.groups):
        yield from (name for one in one_effect.evidence for name in (one.unit, *one.sides))
    yield from result.coverage
    task = get_task(result.task, result.protocol)
    records = one.records()
    for example in task.examples(records):
        yield from (example.condition, example.outcome)
    for name in task.name_tallies(records):
        yield f"{name.origin} {name.gender}"
    if leanings := task.leanings(records):
        yield from (leanings.what, leanings.unit)


def test_every_identifier_of_the_results_has_its_danish(small_run: Path) -> None:
    found = [one for one in saved_results.find_results([small_run]) if has_danish(one)]
    assert {one.result.task for one in found} >= FIVE
    names = {name for one in found for name in list_identifiers(one)}
    assert len(names) > 50
    assert {name for name in names if not is_translated(name)} == set()
    assert not is_translated("something of a user's own")


@pytest.mark.parametrize(
    ("identifier", "english", "danish"),
    [
        ("female occupations", "female occupations", "kvindeerhverv"),
        ("f1", "F1", "F1"),
        (
            "median_relative_perplexity",
            "median relative perplexity",
            "median af relativ perpleksitet",
        ),
        ("lines_asked", "lines asked", "linjer i alt"),
        ("a_user_s own", "a user s own", "a user s own"),
    ],
)
def test_identifiers_are_put_into_words(identifier: str, english: str, danish: str) -> None:
    assert name_identifier(identifier, ENGLISH) == english
    assert name_identifier(identifier, "da") == danish


def test_what_has_no_translation_stands_in_english_and_once() -> None:
    texts = PageTexts(("en", "da"))
    assert str(texts.show("something <of> a user's own")) == (
        "something &lt;of&gt; a user&#39;s own"
    )
    assert str(texts.show_phrase("Gender bias report")) == (
        '<span class="t" lang="en">Gender bias report</span>'
        '<span class="t" lang="da">Rapport om kønsbias</span>'
    )
    assert str(texts.show_attribute("aria-label", "GES")) == 'aria-label="GES"'
    attribute = str(texts.show_attribute("placeholder", "Search"))
    assert attribute.startswith('placeholder="Search" data-attribute="placeholder" data-texts="{')
    assert "Søg" in attribute
    assert str(texts.show_sentence(phrase("not measurable"))).count(".</span>") == 2


def test_the_terminal_speaks_the_language_in_use(small_run: Path, danish: None) -> None:
    console = PlainConsole(file=io.StringIO(), width=80)
    found = [one for one in saved_results.find_results([small_run]) if has_danish(one)]
    for one in found:
        terminal.show(console, one.result, one.folder)
    comparison_terminal.show(console, compare(found))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    for word in ("kontrolmodel", "kønsforskel", "betingelse", "dækning", "skade:", "signatur"):
        assert word in text
    assert "for få data til at afgøre det" in text
    assert "kan ikke skelnes fra hinanden" in text
    assert re.search(r"\d,\d\d \[−?\d,\d\d; −?\d,\d\d\]", text)
    assert re.search(r"\d\.\d\d", re.sub(r"^(signatur|mappe) .*$", "", text, flags=re.M)) is None
    for english in ("coverage", "condition", "too little data", "told apart", "may come from"):
        assert english not in text


def test_tables_for_papers_speak_it_too_and_those_for_programs_english(
    small_run: Path, danish: None
) -> None:
    one_model = next(path for path in small_run.iterdir() if "stereotyped" in path.name)
    results = [one.result for one in saved_results.find_results([one_model])]
    for text in (to_markdown(short_tables(results)), to_latex(short_tables(results))):
        assert "konklusion" in text
        assert "for få data til at afgøre det" in text
        assert "too little data" not in text
    assert "Målt med GenDa Lens" in model_card(results)
    table = to_csv(long_table(results))
    assert "too little data to tell" in table
    assert "undecided" in table
    assert "for få data" not in table


@pytest.mark.slow
def test_a_page_is_in_every_language_there_is(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A third language is a catalogue, and nothing else."""
    extra_language.add(tmp_path / "locale", monkeypatch)
    assert languages() == ("en", "da", "sv")
    found = saved_results.find_results([small_run])
    for page in (run_page.html(found), comparison_page.html(compare(small_run))):
        assert 'data-language="sv" aria-pressed="false" lang="sv">Svenska</button>' in page
        assert ':root:not([lang="sv"]) .t[lang="sv"] { display: none; }' in page
        held = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
        assert held is not None
        data = json.loads(held.group(1))
        assert data["numbers"]["sv"]["thousands"] == "\xa0"
        assert data["numbers"]["sv"]["decimal"] == ","
        assert data["words"]["sv"]["any"] == "alla"
        assert all(chart.keys() == {"en", "da", "sv"} for chart in data["charts"].values())
        assert '<span class="t" lang="sv">Om siffrorna</span>' in page
        # What the third language lacks is English in it.
        assert '<span class="t" lang="sv">Formula</span>' in page


def test_charts_write_numbers_as_their_language_does() -> None:
    assert number_format("en")["decimal"] == "."
    assert number_format("da") | {"percent": "%"} == {
        "decimal": ",",
        "thousands": ".",
        "grouping": [3],
        "currency": ["", ""],
        "percent": "%",
    }


@pytest.mark.slow
def test_every_chart_is_a_valid_spec_in_every_language(small_run: Path) -> None:
    models = run_page.prepare(saved_results.find_results([small_run]))
    rows = run_page.forest_rows(models)
    specs = [charts.draw_forest(rows, language) for language in languages()]
    for test in models[0].tests:
        specs += [draw(language, 300) for draw in test.charts.values() for language in languages()]
    for spec in specs:
        assert spec["config"] == CONFIG
        assert spec["description"]
        alt.Chart.from_dict(spec, validate=True)


def test_the_style_sheet_knows_every_colour_of_the_charts() -> None:
    colours = {v for v in vars(chart_style).values() if isinstance(v, str) and v.startswith("#")}
    assert colours
    assert all(colour in _read_asset("page.css") for colour in colours)
