"""No export takes built-in or own data for the published sets."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import gendalens
from gendalens.comparison.comparison import compare
from gendalens.data import occupations
from gendalens.data.builtin import occupations as builtin
from gendalens.data.registry import checksum
from gendalens.report import provenance
from gendalens.report.exports import result_tables
from gendalens.report.exports.comparison_tables import long_table, short_tables
from gendalens.report.exports.every_eval_ever import every_eval_ever
from gendalens.report.exports.hub_metadata import hub_metadata
from gendalens.report.exports.model_card import model_card
from gendalens.report.exports.tables import to_csv, to_markdown
from gendalens.report.html import comparison_page, run_page
from gendalens.results import saved_results
from gendalens.results.result import Result
from gendalens.results.saved_results import SavedResult
from gendalens.tasks import get_task

pytestmark = pytest.mark.usefixtures("chart_library")
FIVE = {"coref-abc", "coref-dawinobias", "lm-abc", "lm-dawinobias", "ner-dane"}
TITLES = ("DaWinoBias", "ABC (Danish)", "DaNE, persons renamed")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[SavedResult]:
    out = tmp_path_factory.mktemp("builtin")
    gendalens.run("control:fair", data="builtin", sample=8, repeats=1, out=out)
    return saved_results.find_results([out])


def list_sets(result: Result) -> tuple[str, ...]:
    """The sets that the test reads: an added one may read none, and bring its own sentences."""
    return get_task(result.task, result.protocol).card.data


def as_official(result: Result) -> Result:
    """The same result as if the published files had been read."""
    data = {
        name: {"from": "its publisher", "sha256": checksum(name), "whose": "official"}
        for name in list_sets(result)
    }
    return replace(result, data={**result.data, **data})


def as_own(result: Result) -> Result:
    data = {
        name: {"from": "the user's own", "sha256": "0" * 64, "whose": "own"}
        for name in list_sets(result)
    }
    return replace(result, data={**result.data, **data})


def with_data(runs: list[SavedResult]) -> list[SavedResult]:
    """The results of tests that read a data set, as the five of the package do."""
    found = [run for run in runs if list_sets(run.result)]
    assert {run.result.task for run in found} >= FIVE
    return found


def without_data(runs: list[SavedResult]) -> list[SavedResult]:
    """The results of added tests that bring their own sentences."""
    return [run for run in runs if not list_sets(run.result)]


def sampled(runs: list[SavedResult]) -> list[SavedResult]:
    """The results of a sample: an added test may have no more than 8 items."""
    found = [run for run in runs if "|sample:8|" in run.result.signature]
    assert {run.result.task for run in found} >= FIVE
    return found


@pytest.mark.slow
def test_each_set_is_one_of_three(runs: list[SavedResult]) -> None:
    for run in runs:
        for name in list_sets(run.result):
            assert provenance.find_owner(run.result, name) == "builtin"
            assert provenance.find_owner(as_official(run.result), name) == "official"
            assert provenance.find_owner(as_own(run.result), name) == "own"
    for run in without_data(runs):
        (name,) = run.result.data
        assert provenance.find_owner(run.result, name) == "test"


@pytest.mark.parametrize("whose", [lambda result: result, as_own], ids=["built in", "own"])
def test_the_hub_s_metadata_name_the_published_set_only_where_it_was_used(
    runs: list[SavedResult], whose: Callable[[Result], Result]
) -> None:
    text = hub_metadata([whose(run.result) for run in runs])
    assert "alexandrainst/dane" not in text
    assert not any(f"name: {title}\n" in text for title in TITLES)
    official = hub_metadata([as_official(run.result) for run in runs])
    assert "alexandrainst/dane" in official
    assert all(f"name: {title}\n" in official for title in TITLES)


def test_every_eval_ever_does_so_too(runs: list[SavedResult]) -> None:
    def sources(found: list[SavedResult]) -> list[dict[str, str]]:
        return [
            one["source_data"] for one in json.loads(every_eval_ever(found))["evaluation_results"]
        ]

    assert not any("hf_repo" in one for one in sources(runs))
    assert all("built-in set" in one["dataset_name"] for one in sources(with_data(runs)))
    for run in without_data(runs):
        own = f"{run.result.task}@{run.result.protocol}"
        assert all(one["dataset_name"] == own for one in sources([run]))
    official = [replace(run, result=as_official(run.result)) for run in runs]
    assert any(one.get("hf_repo") == "alexandrainst/dane" for one in sources(official))


def test_cards_and_comparisons_say_whose_data_and_how_much_of_them(runs: list[SavedResult]) -> None:
    comparison = compare(runs)
    for text in (
        model_card([run.result for run in runs]),
        to_csv(long_table(comparison)),
        to_markdown(short_tables(comparison)),
    ):
        assert text.count("built in (gendalens") >= len(with_data(runs))
        assert text.count("the test's own") >= len(without_data(runs))
        assert text.count("a sample of 8") >= len(sampled(runs))


def test_tables_for_papers_do_so_too_with_the_signature(runs: list[SavedResult]) -> None:
    results = [run.result for run in runs]
    text = (
        to_csv(result_tables.long_table(results)),
        to_markdown(result_tables.short_tables(results)),
    )
    for one in text:
        assert one.count("built in (gendalens") >= len(with_data(runs))
        assert one.count("the test's own") >= len(without_data(runs))
        assert one.count("a sample of 8") >= len(sampled(runs))
    assert text[1].count("Signature:") == len(runs)


def test_pages_say_it_beside_every_test_in_both_languages(runs: list[SavedResult]) -> None:
    for page in (run_page.html(runs), comparison_page.html(compare(runs))):
        for words in ("built-in data", "indbyggede data"):
            assert page.count(words) >= len(with_data(runs))
        for words in ("a sample of 8", "en stikprøve på 8"):
            assert page.count(words) >= len(sampled(runs))
    whole = replace(
        runs[0].result, signature=runs[0].result.signature.replace("sample:8", "sample:all")
    )
    assert provenance.list_reservations(as_official(whole)) == []


def test_what_limits_the_published_sets_is_said_of_them_alone(runs: list[SavedResult]) -> None:
    results = [run.result for run in runs]
    foreign = "follow shares in the United States"
    assert foreign not in run_page.html(runs)
    assert foreign not in comparison_page.html(compare(runs))
    official = [replace(run, result=as_official(run.result)) for run in runs]
    assert foreign in run_page.html(official)
    of_abc = provenance.LIMITS_OF_LABELS["abc"]
    assert of_abc not in provenance.list_limits([as_own(one) for one in results])
    abc = [one for one in results if "abc" in one.data]
    assert provenance.list_limits(map(as_official, abc))[-1] == of_abc


def test_the_dialect_is_named_where_sentences_rest_on_standard_danish(
    runs: list[SavedResult],
) -> None:
    results = [run.result for run in runs]
    dialect = provenance.LIMIT_OF_DIALECT
    by_set = {name: [one for one in results if name in one.data] for name in ("abc", "dawinobias")}
    assert dialect in provenance.list_limits(map(as_official, by_set["abc"]))
    assert dialect in provenance.list_limits(by_set["dawinobias"])
    assert dialect not in provenance.list_limits(map(as_official, by_set["dawinobias"]))
    assert dialect not in provenance.list_limits([one for one in results if "dane" in one.data])
    assert "western Jutlandic" in run_page.html(runs)
    assert "vestjysk" in run_page.html(runs)


def test_the_chart_of_occupations_has_the_shares_of_its_set(tmp_path: Path) -> None:
    gendalens.run("control:fair", data="builtin", tasks=["lm-abc"], sample=400, out=tmp_path)
    (run,) = saved_results.find_results([tmp_path])
    (model,) = run_page.prepare([run])
    spec = model.tests[0].charts["occupations"]("en", 560)
    shown = {row["occupation"]: row["share"] for row in spec["datasets"]["rows"]}
    known = {name: one.dk_pct_women for name, one in builtin.read_occupations().items()}
    asked = {str(row["occupation"]) for row in run.records()}
    assert shown == {name: known[name] for name in asked}
    assert shown.keys() - occupations.read_occupations("abc").keys(), (
        "some are the built-in set's alone"
    )
