"""The commands that show what was measured: report, plot, show, compare, gate.

Heavy imports happen inside them, so that ``--help`` is instant. For the same reason, annotations are
not postponed: Typer would compile each of them several times.
"""

from pathlib import Path
from typing import Annotated

import typer

from gendalens.cli import completion
from gendalens.cli.options import (
    AsCsv,
    AsJson,
    AsLatex,
    AsMarkdown,
    Details,
    Language,
    Runs,
    split_names,
)


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="HTML file to write.", show_default="RUN/report.html"),
    ] = None,
    language: Language = None,
) -> None:
    """Write the report of a run: one HTML page that works offline."""
    from gendalens.cli.report import write_page

    write_page(runs, out)


def plot(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")],
    kind: Annotated[
        str,
        typer.Option(
            "--format",
            autocompletion=completion.offer(("png", "svg", "pdf")),
            help="png, svg or pdf.",
        ),
    ] = "png",
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to.")] = Path("charts"),
    language: Language = None,
) -> None:
    """Write the charts of a run's report as files."""
    from gendalens.cli.report import write_charts

    write_charts(runs, out, kind)


def show(
    runs: Runs,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
    as_latex: AsLatex = False,
    model_card: Annotated[
        bool, typer.Option("--model-card", help="Print a section for the model card, in Markdown.")
    ] = False,
    annex_iv: Annotated[
        bool,
        typer.Option(
            "--annex-iv",
            help="Print a draft of technical documentation along Annex IV of the EU AI Act, in "
            "Markdown.",
        ),
    ] = False,
    hub_yaml: Annotated[
        bool, typer.Option("--hub-yaml", help="Print the model-index metadata that the hub reads.")
    ] = False,
    every_eval_ever: Annotated[
        bool, typer.Option("--every-eval-ever", help="Print JSON in the Every Eval Ever schema.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="With --every-eval-ever: write its file, and the one with a line per item, into this "
            "folder.",
        ),
    ] = None,
    details: Details = False,
    language: Language = None,
) -> None:
    """Show the results of a run, or export them.

    Exports are for papers, model cards and evaluation databases.
    """
    from gendalens.cli.show import show_runs

    wanted = {
        "json": as_json,
        "csv": as_csv,
        "markdown": as_markdown,
        "latex": as_latex,
        "model-card": model_card,
        "annex-iv": annex_iv,
        "hub-yaml": hub_yaml,
        "every-eval-ever": every_eval_ever,
    }
    show_runs(runs, wanted, out, details=details)


def compare(
    runs: Runs,
    tasks: Annotated[
        list[str] | None,
        typer.Option(
            autocompletion=completion.complete_tasks,
            help="Comma-separated tests to compare. Default: all.",
        ),
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also write the comparison as an HTML page.")
    ] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
    as_latex: AsLatex = False,
    language: Language = None,
) -> None:
    """Compare models, with paired differences on the same items."""
    from gendalens.cli.compare import compare_runs

    wanted = {"json": as_json, "csv": as_csv, "markdown": as_markdown, "latex": as_latex}
    compare_runs(runs, split_names(tasks), wanted, page)


def gate(
    runs: Runs,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEST=LIMIT",
            autocompletion=completion.complete_bands,
            help="Largest effect in the unit of the test's gap; TEST.main or TEST.groups for one part, "
            "TEST:UNIT for another unit. May be repeated. Default: the test's band.",
        ),
    ] = None,
    max_effect: Annotated[
        float | None,
        typer.Option(
            metavar="LIMIT", help="Largest absolute GES of the main effect, in all tests."
        ),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEST=LIMIT",
            autocompletion=completion.complete_bands,
            help="Largest absolute GES in one test. May be repeated.",
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="main|groups",
            autocompletion=completion.offer(("main", "groups")),
            help="Judge only the main effect, or only the groups.",
        ),
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write the outcome as JUnit XML.")] = None,
    language: Language = None,
) -> None:
    """Check a run against limits, for CI.

    Exit code 0 means that it passes, 1 that it fails, 3 that the data cannot tell.
    """
    from gendalens.cli.gate import judge_runs, parse_effects, parse_gaps
    from gendalens.comparison.gate import Limits

    limits = Limits(
        effect=max_effect, effects=parse_effects(task or []), gaps=parse_gaps(limit or [])
    )
    judge_runs(runs, limits, only, junit)
