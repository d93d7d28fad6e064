"""The Python interface: the same runs as the command line's, with results as objects."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gendalens.data.choice import read_choices
from gendalens.engine.run_options import RunOptions
from gendalens.engine.session import Job, run_jobs
from gendalens.engine.watcher import TestOutcome, Watcher
from gendalens.errors import FailuresError, UserError
from gendalens.models import detect
from gendalens.models.base import Backend, LoadOptions
from gendalens.models.objects import as_backend
from gendalens.report.html.after_run import write_report
from gendalens.results.result import Result
from gendalens.tasks import all_options, plugin_problems
from gendalens.tasks.base import Task


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run gave: results, a sentence for everything that failed, and the page about it."""

    outcomes: tuple[TestOutcome, ...]
    failures: tuple[str, ...]
    page: Path | None
    interrupted: bool

    @property
    def results(self) -> list[Result]:
        """The results alone."""
        return [outcome.result for outcome in self.outcomes]


def execute(jobs: Iterable[Job], options: RunOptions, watcher: Watcher | None = None) -> RunReport:
    """Run the jobs and write the report beside their results: what every way in goes through."""
    done = run_jobs(jobs, options, watcher)
    failures, page = done.failures, None
    if options.out is not None:
        try:
            page = write_report(options.out, [outcome.folder for outcome in done.outcomes])
        except UserError as error:
            failures = [*failures, str(error)]
    return RunReport(tuple(done.outcomes), tuple(failures), page, done.interrupted)


def run(
    models: Any,
    *,
    tasks: str | Task[Any] | Sequence[str | Task[Any]] | None = None,
    protocol: int = 2,
    data: Mapping[str, str | Path] | str | None = None,
    out: str | Path | None = None,
    seed: int = 0,
    sample: int | None = None,
    batch_tokens: int | None = None,
    cache: bool = True,
    **options: Any,
) -> list[Result]:
    """Test one or more models; a result per model and test.

    Parameters
    ----------
    models
        One model or several. A model is a hub name, a local folder, a ``.gguf`` file, ``lm-coref:``
        before one of these (a language model as coreference resolver), a control model's name, a
        ``gendalens.models.base.Backend``, or a coreference system that you have loaded (see
        ``gendalens.models.objects``).
    tasks
        Tests by name, or ``Task`` objects of your own. Default: every test the model can take.
    protocol
        2 is the sound measurement, 1 is what GenDa Lens 0.0.3 computes.
    data
        Files of your own or built-in sets in place of official ones:
        ``{"abc": "builtin", "dane": "own.conllu"}``, or ``"builtin"`` for all.
    out
        The run folder to write, with its report. Default: nothing is written.
    seed, sample
        Seed of resampling and samples; use only this many schemas, triples or sentences.
    batch_tokens, cache
        Tokens a batch; whether stored answers are used and new ones stored.
    options
        How models are loaded (``revision``, ``device``, ``dtype``, ``trust_remote_code``,
        ``offline``, ``allow_pickle``) and the options of single tests (``repeats``, ``names``,
        ``unisex`` and ``labels`` of ``ner-dane``; ``gendalens tasks NAME`` lists them).

    Returns
    -------
    list of Result
        A result that could not be measured says so in ``problem``; a test that failed raises
        ``UserError`` once all others are done and their answers stored.

    Examples
    --------
    >>> import gendalens
    >>> [result] = gendalens.run("control:fair", tasks="lm-abc", data="builtin", sample=40)
    >>> result.finding.headline in ("negligible", "undecided", "bias")
    True

    """
    several = _list_models(models)
    if out is not None:
        _check_names([model for model in several if not isinstance(model, str | Path)])
    tests = [tasks] if isinstance(tasks, str | Task) else tasks
    load, task_options = split_options(options)
    report = execute(
        [Job(model, tests) for model in several],
        RunOptions(
            protocol=protocol,
            seed=seed,
            sample=sample,
            data=read_choices(data),
            batch_tokens=batch_tokens,
            out=Path(out) if out is not None else None,
            use_cache=cache,
            task_options=task_options,
            load=load,
        ),
    )
    for problem in (*plugin_problems(), *detect.plugin_problems()):
        warnings.warn(str(problem), stacklevel=2)
    if report.interrupted:
        raise KeyboardInterrupt
    if report.failures:
        raise FailuresError(report.failures)
    return report.results


def split_options(options: Mapping[str, Any]) -> tuple[LoadOptions, dict[str, Any]]:
    """The options of loading, and those that single tests declare; any other is a mistake."""
    known = all_options()
    of_tests = {name: value for name, value in options.items() if name in known}
    of_loading = {name: value for name, value in options.items() if name not in known}
    if unknown := sorted(set(of_loading) - set(LoadOptions.__dataclass_fields__)):
        raise TypeError(f"run() has no option {unknown[0]!r}")
    return replace(LoadOptions(), **of_loading), of_tests


def load_model(name: str, **options: Any) -> Backend:
    """The model behind a name; its weights are loaded with the first question.

    ``options`` are those of :class:`gendalens.models.base.LoadOptions`.
    """
    return detect.load_model(name, LoadOptions(**options))


def _list_models(models: Any) -> list[Any]:
    if isinstance(models, Sequence) and not isinstance(models, str):
        return list(models)
    return [models]


def _check_names(objects: Sequence[Any]) -> None:
    """Refuse systems of one name, which would write to the same folder and overwrite each other."""
    seen: dict[str, Any] = {}
    for system in objects:
        try:
            backend = as_backend(system)
        except UserError:  # no model at all: said when its turn comes
            continue
        name = backend.info.name
        if backend.cacheable:  # its revision tells it from others
            continue
        if seen.setdefault(name, system) is not system:
            raise UserError(
                "Two of the systems are called {name} and would write to the same folder: give each an "
                "attribute `name` of its own, or run them into different folders.",
                name=name,
            )
