"""The charts of a report as files, for papers and slides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias, get_args

from gendalens.errors import UserError
from gendalens.report.charts.charts import FILE_WIDTH, Spec, draw_forest
from gendalens.report.charts.library import draw_pictures
from gendalens.report.html.page import Chart
from gendalens.report.html.run_page import forest_rows, prepare
from gendalens.report.wording import shorten
from gendalens.results.run_folder import folder_name
from gendalens.results.saved_results import SavedResult

Format: TypeAlias = Literal["png", "svg", "pdf"]
FORMATS: tuple[Format, ...] = get_args(Format)
TITLE = {"anchor": "start", "fontSize": 14, "subtitleFontSize": 12, "offset": 14}
AT_ONCE = 16  # charts drawn by one process


@dataclass(frozen=True, slots=True)
class ChartFile:
    """A chart with its file name and subtitle."""

    name: str
    subtitle: str
    chart: Chart


def check_format(kind: str) -> None:
    """Raise if charts cannot be written in this format."""
    if kind not in FORMATS:
        raise UserError("--format {kind}: choose png, svg or pdf.", kind=kind)


def list_files(found: Sequence[SavedResult]) -> list[ChartFile]:
    """Every chart of the report on these results, in files named by model, test and chart."""
    models = prepare(found)
    headings = ", ".join(shorten(model.heading) for model in models)
    files = [ChartFile("forest", shorten(headings, 80), partial(draw_forest, forest_rows(models)))]
    for model in models:
        for test in model.tests:
            start = f"{folder_name(test.result.model.name)[:80]}--{test.card.id}-{test.result.key}"
            subtitle = f"{test.card.id} · {shorten(model.heading)}"
            files += [
                ChartFile(f"{start}--{name}", subtitle, chart)
                for name, chart in test.charts.items()
            ]
    return files


def draw_files(files: Sequence[ChartFile], kind: str, language: str) -> Iterator[tuple[str, bytes]]:
    """The name and content of every file."""
    for start in range(0, len(files), AT_ONCE):
        batch = files[start : start + AT_ONCE]
        specs = [add_title(file.chart(language, FILE_WIDTH), file.subtitle) for file in batch]
        for file, picture in zip(batch, draw_pictures(specs, kind, language), strict=True):
            yield f"{file.name}.{kind}", picture


def add_title(spec: Spec, subtitle: str) -> Spec:
    """A chart with its title, on a white background for papers and slides."""
    title = {"text": spec["description"], "subtitle": subtitle, **TITLE}
    config = spec["config"] | {"background": "white", "padding": 12}
    return spec | {"title": title, "config": config}
