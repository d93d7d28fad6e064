"""``gendalens demo``: five tests on built-in data and models, without network access."""

from __future__ import annotations

from pathlib import Path

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gendalens.api import execute
from gendalens.cli.run import ResultPrinter
from gendalens.data.choice import read_choices
from gendalens.engine.run_options import RunOptions
from gendalens.engine.session import Job
from gendalens.errors import FailuresError
from gendalens.models.base import LoadOptions
from gendalens.models.demo import PLANTED
from gendalens.models.huggingface.libraries import import_transformers
from gendalens.report.terminal.console import PlainConsole
from gendalens.report.terminal.digest import explain_terms
from gendalens.report.terminal.result import name_finding
from gendalens.results.figures import show_evidence
from gendalens.results.result import Result
from gendalens.words import say, translate, write

REPEATS = 5  # draws of names: a quarter of the default, to keep the demo short
SAMPLE = 1_500  # a quarter of the triples, and all schemas and sentences


def run_demo(out: Path, sample: int | None) -> None:
    """Run the tests, print what was found, then the planted bias beside the measured one."""
    import_transformers()
    import torch

    torch.set_num_threads(1)  # more threads only slow down models this small
    options = RunOptions(
        data=read_choices("builtin"),
        out=out,
        sample=SAMPLE if sample is None else sample,
        task_options={"repeats": REPEATS},
        load=LoadOptions(offline=True),
    )
    models = dict.fromkeys(planted.model for planted in PLANTED)
    jobs = [Job(name, [p.task for p in PLANTED if p.model == name]) for name in models]
    report = execute(jobs, options, ResultPrinter(as_json=False))
    if report.failures:
        raise FailuresError(report.failures)
    console = PlainConsole()
    _print_planted(console, {result.task: result for result in report.results})
    places = {say("run folder"): out, say("report"): report.page}
    width = max(map(len, places))
    for label, place in places.items():
        console.print(f"{label:<{width}}  {place}", highlight=False, soft_wrap=True)
    console.print(
        "\n"
        + say("The models are toys with a planted bias; they say nothing about any other model.")
        + "\n"
        + say("Next, a model of your own (a hub name, a folder, a .gguf file):")
        + "\n  gendalens run MODEL --data builtin",
        highlight=False,
    )


def _print_planted(console: PlainConsole, results: dict[str, Result]) -> None:
    console.print()
    console.rule(Text(say("Planted and measured"), style="bold"), align="left")
    for planted in PLANTED:
        finding = results[planted.task].finding
        console.print(Text.assemble((planted.task, "bold"), "  ", name_finding(finding)))
        grid = Table.grid(padding=(0, 2))
        grid.add_row(say("planted"), Text(translate(planted.text)))
        grid.add_row(say("measured"), Text(write(show_evidence(finding.main.evidence[0]))))
        console.print(Padding(grid, (0, 0, 0, 2)))
    explain_terms(console)
    console.print()
