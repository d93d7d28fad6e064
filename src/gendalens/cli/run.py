"""``gendalens run``: each model is loaded once, and a failure does not stop the others."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import typer
from rich.text import Text

from gendalens.api import RunReport, execute
from gendalens.cli.first_sign import find_status_line
from gendalens.engine.run_options import RunOptions
from gendalens.engine.session import Job
from gendalens.engine.watcher import SessionReport
from gendalens.errors import UserError, printable
from gendalens.models.endpoint_options import EndpointOptions
from gendalens.report import escape
from gendalens.report.terminal.console import PlainConsole
from gendalens.report.terminal.digest import explain_terms, show_model
from gendalens.report.terminal.progress import TerminalWatcher
from gendalens.report.terminal.result import show, show_summary, title_model
from gendalens.tasks import all_tasks, get_task
from gendalens.words import say, write


def run_models(
    models: Sequence[str],
    tests: Sequence[str] | None,
    options: RunOptions,
    *,
    as_json: bool,
    details: bool,
) -> None:
    """Run the tests and print the results; exit with code 2 if a model could not be measured."""
    check_tests(tests, options.protocol)
    watcher = ResultPrinter(as_json=as_json, details=details)
    report = execute([Job(name, tests) for name in dict.fromkeys(models)], options, watcher)
    finish(report, as_json=as_json, details=details, problems=watcher.problems)


class ResultPrinter(TerminalWatcher):
    """Shows progress and, unless JSON is requested, each model's results as soon as it is done.

    Those of a model fill a screen, unless ``details`` are wanted. ``problems`` collects a sentence for
    every result that could not be measured.
    """

    def __init__(self, *, as_json: bool, details: bool = False) -> None:
        super().__init__(find_status_line())
        if as_json and details:
            raise UserError("--{format} has all details: leave out --details.", format="json")
        self._details = details
        self._results = None if as_json else PlainConsole()
        self.problems: list[str] = []

    def finishes(self, model: str, report: SessionReport) -> None:
        """Print the results of one model."""
        super().finishes(model, report)
        for outcome in report.outcomes:
            result = outcome.result
            if result.problem:
                self.problems.append(f"{model}, {result.task}: {write(result.problem)}.")
            if self._results is not None and self._details:
                show(self._results, result, outcome.folder)
        if self._results is not None and not self._details:
            results = [outcome.result for outcome in report.outcomes]
            show_model(self._results, results, [outcome.folder for outcome in report.outcomes])


def read_endpoint(urls: Sequence[str], given: Mapping[str, Any]) -> EndpointOptions | None:
    """The endpoint of a run, if there is one; options for it are refused without one."""
    named = {name: value for name, value in given.items() if value is not None}
    if urls:
        return EndpointOptions(urls=tuple(urls), **named)
    for name in named:
        raise UserError(
            "{flag} is for a model behind an endpoint: add --endpoint URL and name the model "
            "openai:MODEL, or leave it out.",
            flag={"headers": "--header"}.get(name, f"--{name.replace('_', '-')}"),
        )
    return None


def finish(
    report: RunReport, *, as_json: bool, details: bool = False, problems: Sequence[str] = ()
) -> None:
    """Print what concerns the whole run; exit with code 2 if something failed."""
    console = PlainConsole()
    if as_json:
        sys.stdout.write(escape.as_json([result.to_dict() for result in report.results]))
    elif len(report.results if details else set(map(title_model, report.results))) > 1:
        show_summary(console, report.results)
    if report.results and not (as_json or details):
        explain_terms(console)
    if report.page is not None:
        where = PlainConsole(stderr=True) if as_json else console
        where.print(Text(f"{say('report'):<10} {report.page}", style="dim"), soft_wrap=True)
    failures = [*report.failures, *problems]
    for failure in failures:
        sys.stderr.write(f"gendalens: {printable(failure)}\n")
    if failures:
        raise typer.Exit(2)


def check_tests(tests: Sequence[str] | None, protocol: int) -> None:
    """Refuse an unknown test or protocol before anything is loaded."""
    protocols = sorted({its_protocol for _, its_protocol in all_tasks()})
    if tests is None and protocol not in protocols:
        raise UserError(
            "There is no protocol {protocol}; choose {known:or}.",
            protocol=protocol,
            known=tuple(protocols),
        )
    for name in tests or []:
        get_task(name, protocol)
