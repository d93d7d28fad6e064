"""``gendalens run``: several models, each loaded once; one that fails does not stop the others."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console

from gendalens.api import load_model
from gendalens.data.home import home
from gendalens.engine.cache import Cache
from gendalens.errors import UserError
from gendalens.report.progress import TerminalWatcher
from gendalens.report.terminal import show, summary
from gendalens.runfolder import check_writable
from gendalens.runner import Options, Outcome, choose_tasks, run_model
from gendalens.tasks import all_tasks, get_task


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The command line, read."""

    models: list[str]
    tasks: list[str] | None
    protocol: int
    data: dict[str, Path]
    out: Path
    seed: int
    sample: int | None
    revision: str | None
    device: str | None
    dtype: str
    batch_tokens: int
    offline: bool
    trust_remote_code: bool
    use_cache: bool
    as_json: bool


def run_command(request: Request) -> None:
    """Run, print, and end with code 2 if a model could not be measured."""
    _check_tasks(request)
    known = {name for task in all_tasks().values() for name in task.card.data}
    if unknown := sorted(set(request.data) - known):
        raise UserError(
            f"--data {unknown[0]}: the tests read {', '.join(sorted(known))}; name one of them."
        )
    check_writable(request.out)
    errors = Console(stderr=True)
    console = Console()
    failures: list[str] = []
    outcomes: list[Outcome] = []
    with ExitStack() as stack:
        cache = stack.enter_context(Cache(home() / "cache.sqlite")) if request.use_cache else None
        for name in dict.fromkeys(request.models):
            try:
                done = _one_model(name, request, cache, TerminalWatcher(errors))
            except UserError as error:
                failures.append(str(error))
                continue
            except KeyboardInterrupt:
                kept = "its answers so far are stored" if cache else "nothing was stored"
                raise UserError(
                    f"Stopped while {name} was running; {kept}: "
                    "run the same command again to go on from there."
                ) from None
            outcomes += done
            for outcome in done:
                if not request.as_json:
                    show(console, outcome.result, outcome.folder)
                if outcome.result.problem:
                    failures.append(f"{name}, {outcome.result.task}: {outcome.result.problem}.")
    results = [outcome.result for outcome in outcomes]
    if request.as_json:
        plain = [result.to_dict() for result in results]
        sys.stdout.write(json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
    elif len(results) > 1:
        summary(console, results)
    for failure in failures:
        sys.stderr.write(f"gendalens: {failure}\n")
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
    name: str, request: Request, cache: Cache | None, watcher: TerminalWatcher
) -> list[Outcome]:
    model = load_model(
        name,
        revision=request.revision,
        device=request.device,
        dtype=request.dtype,
        offline=request.offline,
        trust_remote_code=request.trust_remote_code,
    )
    options = Options(
        protocol=request.protocol,
        seed=request.seed,
        sample=request.sample,
        offline=request.offline,
        data=request.data,
        batch_tokens=request.batch_tokens,
        out=request.out,
    )
    tasks = choose_tasks(model, request.tasks, request.protocol)
    return run_model(model, tasks, options, cache=cache, watcher=watcher)
