"""``gendalens demo``: five tests on built-in sets and models, with no network at all."""

from __future__ import annotations

from pathlib import Path

from rich import box
from rich.table import Table

from gendalens.api import load_model
from gendalens.data.choice import choices
from gendalens.data.home import home
from gendalens.engine.cache import Cache
from gendalens.engine.session import Options, Outcome, choose_tasks, run_model
from gendalens.errors import FailuresError
from gendalens.models.demo import PLANTED
from gendalens.models.huggingface.libraries import import_transformers
from gendalens.report.figures import interval
from gendalens.report.html.after_run import write_report
from gendalens.report.terminal.console import PlainConsole
from gendalens.report.terminal.progress import TerminalWatcher
from gendalens.report.terminal.result import show, summary
from gendalens.results.result import Result
from gendalens.results.run_folder import check_writable

REPEATS = 5  # draws of names: a quarter of a usual run's, so that the demo stays short


def demo(out: Path, sample: int | None) -> None:
    """Run, print every result, then what was planted beside what was measured."""
    import_transformers()
    import torch

    torch.set_num_threads(1)  # models this small only lose by more
    console = PlainConsole()
    options = Options(
        data=choices("builtin"),
        offline=True,
        out=out,
        sample=sample,
        task_options={"repeats": REPEATS},
    )
    check_writable(out)
    outcomes: dict[str, Outcome] = {}
    with Cache(home() / "cache.sqlite") as cache:
        for name in dict.fromkeys(planted.model for planted in PLANTED):
            model = load_model(name, offline=True)
            wanted = [planted.task for planted in PLANTED if planted.model == name]
            tasks = choose_tasks(model, wanted, options.protocol, options.data)
            report = run_model(
                model,
                tasks,
                options,
                cache=cache,
                watcher=TerminalWatcher(PlainConsole(stderr=True)),
            )
            if report.failures:
                raise FailuresError(report.failures)
            for outcome in report.outcomes:
                outcomes[outcome.result.task] = outcome
                show(console, outcome.result, outcome.folder)
    results = {task: outcome.result for task, outcome in outcomes.items()}
    summary(console, list(results.values()))
    _planted(console, results)
    page = write_report(out, [outcome.folder for outcome in outcomes.values()])
    console.print(f"run folder  {out}\nreport      {page}", highlight=False, soft_wrap=True)
    console.print(
        "\nThe models are toys with a bias that was planted; they say nothing about any other model.\n"
        "Next, a model of your own (a hub name, a folder, a .gguf file):\n"
        "  gendalens run MODEL --data builtin",
        highlight=False,
    )


def _planted(console: PlainConsole, results: dict[str, Result]) -> None:
    table = Table(box=box.SIMPLE_HEAD, title="Planted and measured", title_justify="left")
    for column in ("test", "planted", "measured (gap)", "verdict"):
        table.add_column(column)
    for planted in PLANTED:
        result = results[planted.task]
        gap = f"{interval(result.gap)} {result.gap.unit}"
        table.add_row(planted.task, planted.text, gap, result.verdict)
    console.print()
    console.print(table)
