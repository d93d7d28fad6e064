"""``gendalens run``: several models, each loaded once; one that fails does not stop the others."""

from __future__ import annotations

import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from gendalens.api import load_model
from gendalens.data.choice import Choice
from gendalens.data.home import home
from gendalens.engine.cache import Cache
from gendalens.engine.session import Options, Outcome, Report, choose_tasks, run_model
from gendalens.errors import UserError, printable
from gendalens.report import escape
from gendalens.report.html.after_run import write_report
from gendalens.report.terminal.console import PlainConsole
from gendalens.report.terminal.progress import TerminalWatcher
from gendalens.report.terminal.result import show, summary
from gendalens.results.run_folder import check_writable
from gendalens.tasks import all_tasks, get_task


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The command line, read."""

    models: list[str]
    tasks: list[str] | None
    protocol: int
    data: dict[str, Choice]
    out: Path
    seed: int
    sample: int | None
    revision: str | None
    device: str | None
    dtype: str
    batch_tokens: int | None
    offline: bool
    trust_remote_code: bool
    allow_pickle: bool
    use_cache: bool
    task_options: dict[str, Any]
    as_json: bool


def run_command(request: Request) -> None:
    """Run, print, and end with code 2 if a model could not be measured."""
    _check_tasks(request)
    options = Options(
        protocol=request.protocol,
        seed=request.seed,
        sample=request.sample,
        offline=request.offline,
        data=request.data,
        batch_tokens=request.batch_tokens,
        out=request.out,
        task_options=request.task_options,
    )
    made = not request.out.exists()
    check_writable(request.out)
    console, errors = PlainConsole(), PlainConsole(stderr=True)
    failures: list[str] = []
    outcomes: list[Outcome] = []
    with ExitStack() as stack:
        cache = stack.enter_context(Cache(home() / "cache.sqlite")) if request.use_cache else None
        for name in dict.fromkeys(request.models):
            try:
                report = _one_model(name, request, options, cache, TerminalWatcher(errors))
            except UserError as error:
                failures.append(str(error))
                continue
            except KeyboardInterrupt:
                kept = "go on from there" if cache else "start over"
                failures.append(f"Stopped while {name} ran; run the same command again to {kept}.")
                break
            outcomes += report.outcomes
            failures += shown(console, name, report, as_json=request.as_json)
    if made and not outcomes:
        with suppress(OSError):  # not empty: somebody else's files
            request.out.rmdir()
    finish(console, outcomes, failures, out=request.out, as_json=request.as_json)


def shown(console: PlainConsole, name: str, report: Report, *, as_json: bool) -> list[str]:
    """Print one model's results, unless they come as JSON; gives what went wrong."""
    failures = list(report.failures)
    for outcome in report.outcomes:
        result = outcome.result
        if result.problem:
            failures.append(f"{name}, {result.task}: {result.problem}.")
        if not as_json:
            show(console, result, outcome.folder)
    return failures


def finish(
    console: PlainConsole, outcomes: list[Outcome], failures: list[str], *, out: Path, as_json: bool
) -> None:
    """Print what all models have in common and write the report; code 2 if something went wrong."""
    results = [outcome.result for outcome in outcomes]
    if as_json:
        sys.stdout.write(escape.as_json([result.to_dict() for result in results]))
    elif len(results) > 1:
        summary(console, results)
    try:
        page = write_report(out, [outcome.folder for outcome in outcomes])
    except UserError as error:
        failures = [*failures, str(error)]
    else:
        if page is not None:
            where = PlainConsole(stderr=True) if as_json else console
            where.print(Text(f"report     {page}", style="dim"), soft_wrap=True)
    for failure in failures:
        sys.stderr.write(f"gendalens: {printable(failure)}\n")
    if failures:
        raise typer.Exit(2)


def _check_tasks(request: Request) -> None:
    """Tell an unknown test or protocol before anything is loaded."""
    protocols = sorted({protocol for _, protocol in all_tasks()})
    if request.tasks is None and request.protocol not in protocols:
        known = " or ".join(map(str, protocols))
        raise UserError(f"There is no protocol {request.protocol}; choose {known}.")
    for name in request.tasks or []:
        get_task(name, request.protocol)


def _one_model(
    name: str, request: Request, options: Options, cache: Cache | None, watcher: TerminalWatcher
) -> Report:
    model = load_model(
        name,
        revision=request.revision,
        device=request.device,
        dtype=request.dtype,
        offline=request.offline,
        trust_remote_code=request.trust_remote_code,
        allow_pickle=request.allow_pickle,
    )
    tasks = choose_tasks(model, request.tasks, request.protocol, request.data)
    return run_model(model, tasks, options, cache=cache, watcher=watcher)
