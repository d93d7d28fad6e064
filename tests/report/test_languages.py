"""Both languages are complete, and every chart is a valid spec."""

from __future__ import annotations

import re
from pathlib import Path

import altair as alt
import pytest

from gendalens.report.charts import charts
from gendalens.report.charts.style import CONFIG
from gendalens.report.danish import danish, rows
from gendalens.report.html import run_page
from gendalens.report.words import LANGUAGES, said
from gendalens.results import saved_results
from gendalens.stats.findings import Finding
from gendalens.tasks import all_tasks


def test_every_card_has_its_danish() -> None:
    for task in all_tasks().values():
        card = task.card
        texts = [card.title, card.idea, card.reading, card.formula.removeprefix("GES = ")]
        texts += [text for pair in card.definitions for text in pair]
        assert [text for text in texts if danish(text) is None] == []


def test_the_page_s_words_have_both_languages_and_the_same_parts() -> None:
    table = rows("words.tsv")
    assert len({name for name, *_ in table}) == len(table)
    for name, english, translated in table:
        assert english
        assert translated
        parts = [set(re.findall(r"{\w+}", text)) for text in (english, translated)]
        assert parts[0] == parts[1], name


def test_no_word_of_the_page_is_left_over() -> None:
    folder = Path(charts.__file__).parent.parent
    sources = [*folder.rglob("*.py"), *folder.rglob("*.j2")]
    text = "".join(source.read_text(encoding="utf-8") for source in sources)
    names = [name for name, *_ in rows("words.tsv") if not name.startswith("sort_")]
    assert [name for name in names if f'"{name}"' not in text] == []


def test_two_reasons_at_once_are_both_put_into_danish() -> None:
    both = "the interval of P for hendes includes 0 and the interval of P for hans includes 0"
    assert danish(f"GES is unstable: {both}.") == (
        "GES er ustabil: intervallet for P ved »hendes« omfatter 0, og intervallet for P ved »hans« "
        "omfatter 0."
    )


def test_what_the_results_say_has_its_danish(small_run: Path) -> None:
    unknown = set()
    for one in saved_results.find([small_run]):
        result = one.result
        texts = [result.verdict, result.verdict_reason, result.gap.name, result.interaction.name]
        texts += [*result.warnings, *result.harms.values(), *result.sources.values()]
        for cell in (*result.conditions, *result.nuance):
            texts += [cell.condition, cell.group, cell.reason]
        for extra in result.extra:
            texts += [extra.name, extra.note, extra.reason]
        texts += [name.replace("_", " ") for name in result.coverage]
        unknown |= {text for text in texts if text and danish(text) is None}
    assert unknown == set()


@pytest.mark.parametrize(
    ("english", "translated"),
    [
        (
            "bias found, not after correction for 4 tests",
            "bias fundet, men ikke efter korrektion for 4 test",
        ),
        (
            "“hendes” is not more surprising than the reflexive (−0.02) and “hans” is not more "
            "surprising than the reflexive (−1)",
            "»hendes« er ikke mere overraskende end det refleksive pronomen (−0,02), og »hans« er "
            "ikke mere overraskende end det refleksive pronomen (−1)",
        ),
        ("3.1% of the resamples are undefined", "3,1 % af genudtrækningerne er udefinerede"),
        ("accuracy, anti", "nøjagtighed, antistereotyp"),
        ("gap, uncorrected", "kønsforskel, ukorrigeret"),
        ("a sample of 1,000", "en stikprøve på 1.000"),
        (
            "the model finds nothing where persons have female majority names, so the effect is "
            "undefined",
            "modellen finder intet, når personerne har kvindelige majoritetsnavne, så effekten er "
            "udefineret",
        ),
        (
            "masked language model as coreference resolver (prompted)",
            "maskeret sprogmodel som koreferencesystem (via prompt)",
        ),
    ],
)
def test_sentences_with_a_part_that_varies(english: str, translated: str) -> None:
    assert danish(english) == translated


def test_what_is_not_known_stays_english_and_says_so() -> None:
    both = said("something of a user's own and more")
    assert both.da is None
    assert both.of("da") == both.en
    assert danish("x" * 10_000) is None


def test_the_findings_have_their_danish() -> None:
    assert all(danish(finding) for finding in Finding.__args__)  # type: ignore[attr-defined]


def test_every_chart_is_a_valid_spec_in_both_languages(small_run: Path) -> None:
    models = run_page.prepare(saved_results.find([small_run]))
    specs = [charts.forest(run_page.forest_rows(models), language) for language in LANGUAGES]
    for test in models[0].tests:
        specs += [c(language, 300) for c in test.charts.values() for language in LANGUAGES]
    for spec in specs:
        assert spec["config"] == CONFIG
        alt.Chart.from_dict(spec, validate=True)


def test_the_style_sheet_knows_every_colour_of_the_charts() -> None:
    from gendalens.report.charts import style as chart_style
    from gendalens.report.html.page import _asset

    colours = {v for v in vars(chart_style).values() if isinstance(v, str) and v.startswith("#")}
    assert colours
    assert all(colour in _asset("page.css") for colour in colours)
