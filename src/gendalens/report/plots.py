"""The charts of the report as Altair charts, for notebooks and programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gendalens.errors import UserError
from gendalens.report.charts.number_format import number_format
from gendalens.report.gathering import Run, find_records, gather_results
from gendalens.report.wording import load_plugin_words, shorten
from gendalens.results.model_labels import label_models
from gendalens.results.result import Result
from gendalens.words import current_language

if TYPE_CHECKING:
    from altair.typing import ChartType

    from gendalens.report.charts.charts import Spec

ROWS = "rows"
FOREST, INTERACTION = "forest", "interaction"
#: The charts of single results, by name; all but the first need the records.
OF_RESULTS = (INTERACTION, "occupations", "bearers", "length")
CHARTS = (FOREST, *OF_RESULTS)


def plot_results(results: Run | Iterable[Run], chart: str | None = None) -> ChartType:
    """A chart of results; see :func:`gendalens.plot`."""
    several = list(gather_results(results))
    if not several:
        raise UserError("There is nothing to plot; name a run folder or results.")
    load_plugin_words()
    name = chart or (INTERACTION if isinstance(results, Result) else FOREST)
    if name not in CHARTS:
        raise UserError(
            "There is no chart {name}; choose {charts:or}.", name=repr(name), charts=CHARTS
        )
    if name == FOREST:
        return _make_chart(_draw_forest(several))
    specs = [spec for result in several if (spec := _draw(result, name))]
    if not specs and name != INTERACTION and all(one.folder is None for one in several):
        raise UserError(
            "The chart {name} needs the records, which are kept only in a run folder: run the test "
            "with `out`.",
            name=repr(name),
        )
    if not specs:
        raise UserError(
            "There is no chart {name} of {tests:and}; choose another.",
            tests=tuple(dict.fromkeys(one.task for one in several)),
            name=repr(name),
        )
    return _make_chart(specs[0] if len(specs) == 1 else _stack(specs))


def _draw_forest(results: list[Result]) -> Spec:
    from gendalens.report.charts.charts import ForestRow, draw_forest
    from gendalens.report.exports.chart_files import add_title

    labels = label_models(results)
    models = list(dict.fromkeys(labels))
    rows = [
        ForestRow(test, result, label if len(models) > 1 else "")
        for label, result in zip(labels, results, strict=True)
        for test in [f"{result.task}@{result.protocol}"]
    ]
    return add_title(draw_forest(rows, current_language()), shorten(", ".join(models), 80))


def _draw(result: Result, name: str) -> Spec | None:
    """One chart of one result; None if the result has no such chart."""
    from gendalens.report.charts.charts import FILE_WIDTH
    from gendalens.report.exports.chart_files import add_title
    from gendalens.report.html.run_page import prepare

    [model] = prepare([find_records(result)])
    [test] = model.tests
    if name not in test.charts:
        return None
    spec = test.charts[name](current_language(), FILE_WIDTH)
    return add_title(spec, f"{test.card.id} · {shorten(model.heading)}")


def _stack(specs: list[Spec]) -> Spec:
    """Charts below one another, each with data and scales of its own."""
    inner = [_rename_data(spec, f"rows-{place}") for place, spec in enumerate(specs)]
    datasets: dict[str, Any] = {}
    for spec in inner:
        datasets |= spec.pop("datasets")
        spec.pop("$schema", None)
        config = spec.pop("config")
    scales = dict.fromkeys(("color", "shape", "strokeDash"), "independent")
    return {
        "vconcat": inner,
        "datasets": datasets,
        "config": config,
        "resolve": {"scale": scales, "legend": scales},
    }


def _rename_data(spec: Any, name: str) -> Any:
    """A chart whose rows have another name."""
    if isinstance(spec, list):
        return [_rename_data(one, name) for one in spec]
    if not isinstance(spec, dict):
        return spec
    if spec == {"name": ROWS}:
        return {"name": name}
    if "datasets" in spec:
        sets = {name if old == ROWS else old: rows for old, rows in spec["datasets"].items()}
        rest = {key: _rename_data(one, name) for key, one in spec.items() if key != "datasets"}
        return {**rest, "datasets": sets}
    return {key: _rename_data(one, name) for key, one in spec.items()}


def _make_chart(spec: Spec) -> ChartType:
    import altair as alt

    numbers = {"locale": {"number": number_format(current_language())}}
    chart: ChartType = alt.Chart.from_dict(spec | {"config": spec["config"] | numbers})
    return chart
