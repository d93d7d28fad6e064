"""``gendalens report`` and ``gendalens plot``: a run as a page, and its charts as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from rich.text import Text

from gendalens.errors import UserError
from gendalens.report.html.after_run import REPORT
from gendalens.report.terminal.console import PlainConsole
from gendalens.results.run_folder import check_writable, folder_name
from gendalens.results.saved_results import find

if TYPE_CHECKING:
    from gendalens.report.charts.charts import Spec
    from gendalens.report.html.run_page import Chart, Model
    from gendalens.report.words import Language

Format = Literal["png", "svg", "pdf"]
FORMATS: tuple[Format, ...] = get_args(Format)
TITLE = {"anchor": "start", "fontSize": 14, "subtitleFontSize": 12, "offset": 14}
AT_ONCE = 16  # charts drawn by one process


def report_command(runs: Sequence[Path], out: Path | None) -> None:
    """Write the page, and say where it is."""
    from gendalens.report.html.run_page import write

    found = find(runs)
    if out is None:
        place = runs[0] if runs[0].is_dir() else runs[0].parent
        out = place / REPORT
    write(found, out)
    _say(f"report  {out}")


def plot_command(runs: Sequence[Path], out: Path, kind: str, language: Language) -> None:
    """Write every chart of the page as a file, named by model, test and chart."""
    if kind not in FORMATS:
        raise UserError(f"--format {kind}: choose {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")
    from gendalens.report.charts.library import pictures
    from gendalens.report.html.run_page import prepare
    from gendalens.report.words import DANISH_NUMBERS

    models = prepare(find(runs))
    check_writable(out)
    charts = list(_charts(models))
    for start in range(0, len(charts), AT_ONCE):
        some = charts[start : start + AT_ONCE]
        specs = [_on_paper(chart(language, 560), subtitle) for _, subtitle, chart in some]
        numbers = DANISH_NUMBERS if language == "da" else None
        for (name, _, _), picture in zip(some, pictures(specs, kind, numbers), strict=True):
            path = out / f"{name}.{kind}"
            try:
                path.write_bytes(picture)
            except OSError as error:
                raise UserError(
                    f"The chart cannot be written to {path} ({error.strerror}); choose another folder "
                    "with -o."
                ) from None
            _say(f"chart   {path}")


def _charts(models: Sequence[Model]) -> Iterator[tuple[str, str, Chart]]:
    """Every chart with its file's name and what stands below its title."""
    from gendalens.report.charts import charts
    from gendalens.report.html import run_page
    from gendalens.report.words import shortened

    headings = ", ".join(shortened(model.heading) for model in models)
    yield "forest", shortened(headings, 80), partial(charts.forest, run_page.forest_rows(models))
    for model in models:
        for test in model.tests:
            who = folder_name(str(test.result.model["name"]))[:80]
            for name, chart in test.charts.items():
                file = f"{who}--{test.card.id}-{test.result.key}--{name}"
                yield file, f"{test.card.id} · {shortened(model.heading)}", chart


def _on_paper(spec: Spec, subtitle: str) -> Spec:
    """A chart with its title, on white: files end up on paper and slides."""
    title = {"text": spec["description"], "subtitle": subtitle, **TITLE}
    config = spec["config"] | {"background": "white", "padding": 12}
    return spec | {"title": title, "config": config}


def _say(line: str) -> None:
    PlainConsole(stderr=True).print(Text(line), soft_wrap=True)
