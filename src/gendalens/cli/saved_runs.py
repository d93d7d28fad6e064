"""The commands that take runs which are there already: show, compare, gate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gendalens.errors import UserError

Runs = Annotated[
    list[Path],
    typer.Argument(metavar="RUN...", help="Run folders, or folders of models or results in them."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV: every figure, unrounded.")]
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="Print tables in Markdown.")]
AsLatex = Annotated[bool, typer.Option("--latex", help="Print tables in LaTeX (booktabs).")]


def show(
    runs: Runs,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
    as_latex: AsLatex = False,
    model_card: Annotated[
        bool, typer.Option("--model-card", help="A section for the model card, in Markdown.")
    ] = False,
    hub_yaml: Annotated[
        bool, typer.Option("--hub-yaml", help="The card's model-index, as the hub reads it.")
    ] = False,
    every_eval_ever: Annotated[
        bool, typer.Option("--every-eval-ever", help="JSON in the Every Eval Ever schema.")
    ] = False,
) -> None:
    """Show a run again, or write it for a paper, a model card or a database of evaluations."""
    from gendalens.cli.show import show_command

    wanted = {
        "json": as_json,
        "csv": as_csv,
        "markdown": as_markdown,
        "latex": as_latex,
        "model-card": model_card,
        "hub-yaml": hub_yaml,
        "every-eval-ever": every_eval_ever,
    }
    show_command(runs, wanted)


def compare(
    runs: Runs,
    tasks: Annotated[
        list[str] | None, typer.Option(help="Only these tests, divided by commas.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the comparison as an HTML page.")
    ] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
    as_latex: AsLatex = False,
) -> None:
    """Set models side by side, with differences on the same items."""
    from gendalens.cli.compare import compare_command

    wanted = {"json": as_json, "csv": as_csv, "markdown": as_markdown, "latex": as_latex}
    compare_command(runs, names_of(tasks), wanted, page)


def gate(
    runs: Runs,
    max_effect: Annotated[
        float, typer.Option(metavar="LIMIT", help="The largest absolute GES that passes.")
    ],
    task: Annotated[
        list[str] | None, typer.Option(metavar="TEST=LIMIT", help="Another limit for one test.")
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the findings as JUnit XML.")] = None,
) -> None:
    """Judge a run for CI: exit code 0 passes, 1 fails, 3 cannot tell."""
    from gendalens.cli.gate import gate_command

    gate_command(runs, max_effect, task or [], junit)


def names_of(parts: list[str] | None) -> list[str] | None:
    """Tests named one by one or divided by commas; None where nothing was said."""
    if parts is None:
        return None
    names = [name.strip() for part in parts for name in part.split(",") if name.strip()]
    if not names:
        raise UserError("--tasks names no test; leave it out to run all that fit.")
    return names
