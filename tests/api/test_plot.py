"""``gendalens.plot``: the charts of the report as Altair charts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import altair as alt
import pytest

import gendalens
from gendalens.errors import UserError
from gendalens.report.charts.charts import BY_TEST
from gendalens.words import write

#: Which tests have which charts, by what they are about.
CHARTS = {
    "interaction": {"coref-abc", "coref-dawinobias", "lm-abc", "lm-dawinobias", "ner-dane"},
    "occupations": {"coref-abc", "coref-dawinobias", "lm-abc", "lm-dawinobias"},
    "length": {"ner-dane"},
    "bearers": {"ner-dane"},
}


@pytest.fixture(scope="module")
def results(small_run: Path) -> gendalens.Results:
    return gendalens.load(small_run)[:5]


def rows(spec: dict[str, Any], name: str = "rows") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = spec["datasets"][name]
    return found


def test_several_results_have_a_forest_plot_with_every_effect(results: gendalens.Results) -> None:
    chart = results.plot()
    assert isinstance(chart, alt.LayerChart)
    shown = [(row["value"], row["low"], row["high"]) for row in rows(chart.to_dict())]
    effects = (one.gender_effect_size for one in results)
    assert shown == [(one.value, one.low, one.high) for one in effects]


def test_one_result_has_its_conditions_by_group(results: gendalens.Results) -> None:
    result = next(one for one in results if one.task == "lm-dawinobias")
    spec = gendalens.plot(result).to_dict()
    shown = {row["value"] for row in rows(spec)}
    assert shown == {cell.value for cell in (*result.conditions, *result.nuance)}
    assert result.task in spec["title"]["subtitle"]


@pytest.mark.slow
@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_of_single_results_is_drawn_for_each_that_has_it(
    results: gendalens.Results, chart: str
) -> None:
    for result in results:
        if result.task in CHARTS[chart]:
            assert gendalens.plot(result, chart).to_dict()["title"]["text"]
        else:
            with pytest.raises(UserError, match=f"no chart '{chart}' of {result.task};"):
                gendalens.plot(result, chart)
    together = gendalens.plot(results, chart).to_dict()
    having = [one for one in results if one.task in CHARTS[chart]]
    views = together.get("vconcat", [together])
    assert [view["title"]["subtitle"].split("@")[0] for view in views] == [
        one.task for one in having
    ]


@pytest.mark.slow
def test_charts_below_one_another_keep_their_own_data(results: gendalens.Results) -> None:
    together = results.plot("interaction").to_dict()
    for place, (view, result) in enumerate(zip(together["vconcat"], results, strict=True)):
        alone = rows(gendalens.plot(result).to_dict())
        name = f"rows-{place}"
        assert rows(together, name) == alone
        assert name in str(view)
        assert "'rows'" not in str(view)


@pytest.mark.slow
def test_charts_are_drawn_with_their_data(results: gendalens.Results, tmp_path: Path) -> None:
    def draw(chart: str) -> str:
        results[:2].plot(chart).save(tmp_path / "chart.svg")
        return (tmp_path / "chart.svg").read_text(encoding="utf-8")

    forest, interaction = draw("forest"), draw("interaction")
    for result in results[:2]:
        assert f">{result.task}@2<" in forest
        for cell in result.nuance:
            assert cell.condition == "reflexive" or f">{cell.condition}<" in interaction


def test_a_run_folder_is_plotted_as_well(small_run: Path) -> None:
    assert len(rows(gendalens.plot(small_run).to_dict())) == 10


def test_charts_that_need_records_say_how_to_get_them(results: gendalens.Results) -> None:
    unsaved = [replace(one, folder=None) for one in results]
    assert gendalens.plot(unsaved).to_dict()
    assert gendalens.plot(unsaved[0]).to_dict()
    with pytest.raises(UserError, match=r"needs the records.*`out`"):
        gendalens.plot(unsaved, "occupations")


def test_a_chart_of_another_name_is_told_which_there_are(results: gendalens.Results) -> None:
    with pytest.raises(UserError, match="no chart 'pie'; choose forest, interaction"):
        gendalens.plot(results, "pie")
    with pytest.raises(UserError, match="nothing to plot"):
        gendalens.plot([])


@pytest.mark.usefixtures("danish")
def test_charts_are_in_the_language_in_use(results: gendalens.Results) -> None:
    danish = results.plot().to_dict()
    assert danish["title"]["text"] == write(BY_TEST, "da") != str(BY_TEST)
    assert danish["config"]["locale"]["number"]["decimal"] == ","
