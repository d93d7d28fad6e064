"""The run loop: runs each model through its tests, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gendalens.data.home import find_home
from gendalens.engine.applicability import (
    check_endpoint,
    check_model_tests,
    check_named_tests,
    explain_idle_option,
    find_idle_options,
)
from gendalens.engine.cache import Cache
from gendalens.engine.model_run import ModelRun
from gendalens.engine.request_plan import RequestPlan
from gendalens.engine.run_options import RunOptions
from gendalens.engine.selection import Test, choose_tests
from gendalens.engine.watcher import SessionReport, SilentWatcher, Watcher
from gendalens.errors import UserError
from gendalens.models.base import Backend, LoadOptions
from gendalens.models.detect import load_model
from gendalens.models.endpoint_options import as_endpoint
from gendalens.models.objects.choice import as_backend, name_of
from gendalens.results import run_folder
from gendalens.system.steps import listen, tell_step
from gendalens.words import Template, say

if TYPE_CHECKING:
    from gendalens.engine.cluster.staff import Staff

LOADING = Template("loading_model", "loading {model}")
READING_DATA = Template("reading_data", "reading the data")


@dataclass(frozen=True, slots=True)
class Job:
    """A model (a name, a folder or an object) and its tests; None means all that it can take."""

    model: Any
    tests: Sequence[Test] | None = None

    @property
    def name(self) -> str:
        """The model as the user named it."""
        if isinstance(self.model, str | Path):
            return str(self.model)
        return name_of(self.model)


def run_jobs(
    jobs: Iterable[Job],
    options: RunOptions,
    watcher: Watcher | None = None,
    kind_of_run: Callable[..., ModelRun] = ModelRun,
) -> SessionReport:
    """Run every model through its tests; one that fails does not stop the others.

    Results are written to ``options.out`` as soon as a model is done. Ctrl-C ends the run, and the
    report holds what was measured until then.
    """
    watcher = watcher or SilentWatcher()
    jobs = list(jobs)
    _check_options(jobs, options)
    idle = set(options.task_options)
    report = SessionReport()
    is_new = options.out is not None and not options.out.exists()
    if options.out is not None:
        run_folder.check_writable(options.out)
    with ExitStack() as stack:
        stack.enter_context(listen(watcher))
        stack.callback(watcher.ends)
        cache = (
            stack.enter_context(
                Cache(find_home() / "cache.sqlite", threads=options.executor is not None)
            )
            if options.use_cache
            else None
        )
        if options.executor is not None:
            report, idle = _run_on_cluster(jobs, options, cache, watcher, kind_of_run)
        for job in jobs if options.executor is None else ():
            try:
                done, chosen = _run_job(
                    job, options, cache, watcher, kind_of_run, is_alone=len(jobs) == 1
                )
            except UserError as error:
                report.failures.append(str(error))
                continue
            except KeyboardInterrupt:
                report.failures.append(_describe_interruption(job.name, cache is not None))
                report.interrupted = True
                break
            idle &= set(find_idle_options([plan.task for plan in chosen], options))
            watcher.finishes(job.name, done)
            report.extend(done)
    if not report.failures:
        names = [job.name for job in jobs]
        report.failures += [str(explain_idle_option(name, *names)) for name in sorted(idle)]
    if is_new and not report.outcomes and options.out is not None:
        with suppress(OSError):  # not empty: it holds other files
            options.out.rmdir()
    return report


def _run_on_cluster(
    jobs: Sequence[Job],
    options: RunOptions,
    cache: Cache | None,
    watcher: Watcher,
    kind_of_run: Callable[..., ModelRun],
) -> tuple[SessionReport, set[str]]:
    """Run every model on the workers of a Ray cluster, several at once; also the idle options."""
    from gendalens.engine.cluster.ray_cluster import RayCluster
    from gendalens.engine.cluster.staff import Staff
    from gendalens.engine.joint_run import run_together

    assert options.executor is not None
    idle: list[set[str]] = [set(options.task_options)]

    def run(job: Job, joint: Watcher) -> SessionReport:
        done, chosen = _run_job(
            job, options, cache, joint, kind_of_run, is_alone=len(jobs) == 1, staff=staff
        )
        idle.append(set(find_idle_options([plan.task for plan in chosen], options)))
        return done

    with closing(RayCluster(options.executor)) as cluster:
        staff = Staff(cluster)
        report = run_together(
            jobs, run, staff, watcher, lambda name: _describe_interruption(name, cache is not None)
        )
    return report, set.intersection(*idle)


def _describe_interruption(model: str, is_stored: bool) -> str:
    if is_stored:
        return say(
            "Stopped while {model} ran; run the same command again to resume.",
            model=model,
        )
    return say("Stopped while {model} ran; run the same command again to start over.", model=model)


def _check_options(jobs: Sequence[Job], options: RunOptions) -> None:
    """Refuse what cannot have an effect, as far as it is known before a model is loaded."""
    check_endpoint([job.name for job in jobs], options)
    named = [job.tests for job in jobs if job.tests is not None]
    if jobs and len(named) == len(jobs):
        check_named_tests([test for tests in named for test in tests], options)


def _run_job(
    job: Job,
    options: RunOptions,
    cache: Cache | None,
    watcher: Watcher,
    kind_of_run: Callable[..., ModelRun],
    *,
    is_alone: bool,
    staff: Staff | None = None,
) -> tuple[SessionReport, Sequence[RequestPlan]]:
    tell_step(LOADING(model=job.name))
    with ExitStack() as stack:
        model = stack.enter_context(_open_model(job.model, _complete(options)))
        if staff is not None:
            from gendalens.engine.cluster.remote_backend import host_model

            model = stack.enter_context(host_model(model, job.model, options.load, staff))
        for remark in model.remarks:
            watcher.notes(remark)
        tell_step(READING_DATA())
        tests = choose_tests(model, job.tests, options, watcher.notes)
        if is_alone:
            check_model_tests(job.name, tests, options)
        return kind_of_run(model, options, cache, watcher).run(tests), tests


def _complete(options: RunOptions) -> LoadOptions:
    """How to load a model; one behind an endpoint also keeps what arrives."""
    if options.load.endpoint is None:
        return options.load
    endpoint = replace(
        as_endpoint(options.load.endpoint), run_folder=options.out, use_cache=options.use_cache
    )
    return replace(options.load, endpoint=endpoint)


@contextmanager
def _open_model(model: Any, options: LoadOptions) -> Iterator[Backend]:
    """The backend of a model; an object of the user's is left as it was, whatever happens."""
    if isinstance(model, str | Path):
        with closing(load_model(str(model), options)) as loaded:
            yield loaded
    elif isinstance(model, Backend):
        yield model
    else:
        with closing(as_backend(model)) as backend:
            yield backend
