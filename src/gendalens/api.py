"""The Python interface: the same runs as the command line, with results as objects."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gendalens.comparison import comparison
from gendalens.comparison.power import Power, compute_power
from gendalens.data.choice import read_choices
from gendalens.engine.applicability import check_named_tests
from gendalens.engine.ray_options import RayOptions, as_ray_options
from gendalens.engine.run_options import RunOptions
from gendalens.engine.session import Job, run_jobs
from gendalens.engine.watcher import TestOutcome, Watcher
from gendalens.errors import FailuresError, UserError
from gendalens.models import detect
from gendalens.models.base import Backend, LoadOptions
from gendalens.models.division import Shard
from gendalens.models.objects.choice import as_backend, name_of
from gendalens.models.objects.given import Given, list_models
from gendalens.report.comparison import Comparison
from gendalens.report.gathering import Run, gather_results, locate
from gendalens.report.html.after_run import write_report
from gendalens.report.plots import plot_results
from gendalens.report.progress import choose_watcher
from gendalens.report.results import Results
from gendalens.results.result import Result
from gendalens.results.saved_results import SavedResult
from gendalens.shards.answering import answer_shard
from gendalens.shards.merging import merge_shards
from gendalens.tasks import all_options, get_task, plugin_problems, register
from gendalens.tasks.bands import read_bands
from gendalens.tasks.base import Task

if TYPE_CHECKING:
    from altair.typing import ChartType

    from gendalens.report.site.build import BuiltSite

__all__ = [
    "Comparison",
    "Result",
    "Results",
    "build_site",
    "compare",
    "load",
    "load_model",
    "merge",
    "plot",
    "power",
    "run",
]


@dataclass(frozen=True, slots=True)
class RunReport:
    """The outcome of a run: results, a sentence for each failure, and the path of the report."""

    outcomes: tuple[TestOutcome, ...]
    failures: tuple[str, ...]
    page: Path | None
    interrupted: bool

    @property
    def results(self) -> Results:
        """The results, each with its folder."""
        return Results(locate(outcome.result, outcome.folder) for outcome in self.outcomes)


def execute(jobs: Iterable[Job], options: RunOptions, watcher: Watcher | None = None) -> RunReport:
    """Run the jobs and write their report; the command line and :func:`run` both end up here."""
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
    tokenizer: Any = None,
    tasks: str | Task[Any] | Sequence[str | Task[Any]] | None = None,
    protocol: int = 2,
    data: Mapping[str, str | Path] | str | None = None,
    out: str | Path | None = None,
    seed: int = 0,
    sample: int | None = None,
    negligible: Mapping[str, float] | None = None,
    batch_tokens: int | None = None,
    cache: bool = True,
    shard: str | None = None,
    progress: bool | None = None,
    executor: str | RayOptions | None = None,
    **options: Any,
) -> Results:
    """Test one or more models; gives a result per model and test.

    Parameters
    ----------
    models
        One model or several. A model is a hub name, a local folder, a ``.gguf`` file, ``lm-coref:``
        before one of these (a language model as coreference resolver), the name of a control model, a
        ``gendalens.models.base.Backend``, or an object that you have loaded, such as a pair
        ``(model, tokenizer)`` (docs/objects.md lists them). A mapping gives objects names of your own:
        ``{"after 500 steps": (model, tokenizer)}``.
    tokenizer
        The tokenizer of ``models``, if that is one model of transformers in memory.
    tasks
        Tests by name, or your own ``Task`` objects. Default: every test the model can take.
    protocol
        2 is the sound measurement, 1 reproduces GenDa Lens 0.0.3.
    data
        Your own files or built-in sets to use instead of the official ones:
        ``{"abc": "builtin", "dane": "own.conllu"}``, or ``"builtin"`` for all.
    out
        The run folder for results and report. Default: nothing is written.
    seed, sample
        Seed for resampling and samples; number of schemas, triples or sentences to use.
    negligible
        The largest effects that are too small to matter, instead of those on the tests' cards:
        ``{"ner-dane": 0.02}`` in the unit of the test's gap, or ``{"lm-dawinobias:bits": 0.5}``.
    batch_tokens, cache
        Tokens per batch; whether to reuse stored answers and store new ones.
    shard
        ``"2/7"`` answers the second of seven parts of one model's requests, and writes the answers to
        ``out`` for :func:`merge`; there are no results yet.
    progress
        Whether to show the progress on standard error, or below the cell of a notebook. Default: in
        notebooks, and if standard error is a terminal.
    executor
        ``"ray"`` or ``"ray:ADDRESS"`` answers on a Ray cluster (docs/howto/cluster.md), as do
        :class:`gendalens.engine.ray_options.RayOptions`, which also say how many workers there are and
        what they need. Default: in this process.
    options
        Options for loading models (``revision``, ``device``, ``dtype``, ``trust_remote_code``,
        ``offline``, ``allow_pickle``, ``max_memory``; ``endpoint``, the URL of a server or
        ``gendalens.models.endpoint_options.EndpointOptions``), and options of individual tests
        (``repeats``, ``names``, ``unisex`` and ``labels`` of ``ner-dane``; ``gendalens tasks NAME`` lists
        them).

    Returns
    -------
    Results
        A list of :class:`Result` that also gives data frames, a report and charts. If a test could not
        be measured, ``problem`` of its result says why. If a test failed, ``UserError`` is raised
        after all others are done and their answers stored.

    Examples
    --------
    >>> import gendalens
    >>> [result] = gendalens.run("control:fair", tasks="lm-abc", data="builtin", sample=40)
    >>> result.finding.headline in ("negligible", "undecided", "bias")
    True

    """
    several = list_models(models, tokenizer)
    _check_load_options(several, options)
    if out is not None:
        _check_names([model for model in several if not isinstance(model, str | Path)])
    tests = [tasks] if isinstance(tasks, str | Task) else tasks
    for test in tests or ():
        if isinstance(test, Task):
            register(test)  # so that its options are known
    load, task_options = split_options(options)
    jobs = [Job(model, tests) for model in several]
    run_options = RunOptions(
        protocol=protocol,
        seed=seed,
        sample=sample,
        data=read_choices(data),
        batch_tokens=batch_tokens,
        out=Path(out) if out is not None else None,
        use_cache=cache,
        task_options=task_options,
        negligible=read_bands(negligible),
        load=load,
        executor=as_ray_options(executor),
    )
    watcher = choose_watcher(progress)
    if shard is not None:
        part = answer_shard(jobs, run_options, Shard.parse(shard), watcher)
        return _finish(RunReport((), tuple(part.failures), None, part.interrupted))
    return _finish(execute(jobs, run_options, watcher))


def _finish(report: RunReport) -> Results:
    """The results of a run; raises if something failed."""
    for problem in (*plugin_problems(), *detect.plugin_problems()):
        warnings.warn(str(problem), stacklevel=3)
    if report.interrupted:
        raise KeyboardInterrupt
    if report.failures:
        raise FailuresError(report.failures)
    return report.results


def merge(
    *shards: str | Path,
    data: Mapping[str, str | Path] | str | None = None,
    out: str | Path | None = None,
    offline: bool = False,
    progress: bool | None = None,
) -> Results:
    """The results of a run that was answered in shards: the same, byte for byte, as without shards.

    Parameters
    ----------
    shards
        The folders that ``run`` wrote with ``shard``, in any order: all parts of one model's run.
    data
        Where the data sets are, if not where the shards read them.
    out
        The run folder for results and report. Default: nothing is written.
    offline
        Whether to use local files only.
    progress
        As in :func:`run`.

    Examples
    --------
    >>> import gendalens
    >>> for part in ("1/2", "2/2"):
    ...     _ = gendalens.run("control:fair", tasks="lm-abc", data="builtin", sample=40, shard=part,
    ...                       out="shards")
    >>> [result] = gendalens.merge("shards")
    >>> [whole] = gendalens.run("control:fair", tasks="lm-abc", data="builtin", sample=40)
    >>> result.to_json() == whole.to_json()
    True

    """
    watcher = choose_watcher(progress)
    with merge_shards(
        [Path(place) for place in shards],
        data=read_choices(data),
        out=Path(out) if out is not None else None,
        offline=offline,
    ) as merged:
        for note in merged.notes:
            if watcher is not None:
                watcher.notes(note)
        return _finish(execute([merged.job], merged.options, watcher))


def load(*runs: str | Path) -> Results:
    """The results in run folders; also of one model's or one result's folder in them.

    >>> import gendalens
    >>> _ = gendalens.run(["control:fair", "control:stereotyped"], tasks="lm-abc", data="builtin",
    ...                   sample=40, out="runs/controls")
    >>> [result.model.name for result in gendalens.load("runs/controls")]
    ['control:fair', 'control:stereotyped?strength=0.5']
    >>> len(gendalens.load("runs/controls/control_fair"))
    1
    """
    return Results(gather_results(runs))


def compare(
    *runs: str | Path | SavedResult | Result | Iterable[str | Path | SavedResult | Result],
    tasks: str | Sequence[str] | None = None,
) -> Comparison:
    """Compare models; if their records are on disk, also by paired differences.

    Parameters
    ----------
    runs
        Run folders, results, or lists of these. Results of a run without ``out`` have no records, so
        they are shown side by side, without differences.
    tasks
        The tests to compare. Default: all.

    Examples
    --------
    >>> import gendalens
    >>> results = gendalens.run(["control:fair", "control:stereotyped"], tasks="lm-dawinobias",
    ...                         data="builtin", sample=80, out="runs/compared")
    >>> comparison = gendalens.compare(results)
    >>> frame = comparison.to_frame()
    >>> frame[frame.part == "main"][["figure", "unit", "differs"]].values.tolist()
    [['gap', 'F1', True], ['log_odds_gap', 'bits', True]]

    """
    return Comparison(comparison.compare(*runs, tasks=tasks).groups)


def build_site(runs: Run | Iterable[Run], out: str | Path) -> BuiltSite:
    """Make a static site of any number of results: a leaderboard without an overall score.

    Parameters
    ----------
    runs
        Run folders, results, or several of these. The same result in several folders counts once. If
        two have the same signature and different contents, neither is shown, and ``conflicts`` of the
        site names both.
    out
        The folder to write: new, empty, or with an older site in it.

    Examples
    --------
    >>> import gendalens
    >>> results = gendalens.run(["control:fair", "control:stereotyped"], tasks="lm-abc",
    ...                         data="builtin", sample=40, out="runs/listed")
    >>> site = gendalens.build_site(results, "public")
    >>> site.models, site.index.name
    (2, 'index.html')

    """
    from gendalens.report.site import build

    return build.build_site(runs, out)


def plot(results: Run | Iterable[Run], chart: str | None = None) -> ChartType:
    """A chart of results as an Altair chart, for notebooks or ``.save("chart.png")``.

    Parameters
    ----------
    results
        A result, a run folder, or several of these.
    chart
        ``"forest"``, the gender effect sizes of all results on one axis, is the default for several
        results; ``"interaction"``, conditions by group, that for one. Results on disk may also have
        ``"occupations"`` (leanings against the share of women in Denmark), and in ``ner-dane``
        ``"bearers"`` and ``"length"`` (recall by how common and how long first names are). A chart
        of single results is drawn for each that has it, below one another.

    Examples
    --------
    >>> import gendalens
    >>> results = gendalens.run("control:fair", tasks="lm-abc", data="builtin", sample=40)
    >>> gendalens.plot(results).to_dict()["description"]
    'Gender effect size by test'
    >>> gendalens.plot(results[0]).to_dict()["description"]
    'Median relative perplexity by condition and group'

    """
    return plot_results(results, chart)


def power(
    task: str | Task[Any],
    *,
    data: Mapping[str, str | Path] | str | None = None,
    seed: int = 0,
    sample: int | None = None,
    negligible: Mapping[str, float] | None = None,
    **options: Any,
) -> list[Power]:
    """How small an effect a test could see, for a model that answers by chance.

    Parameters are as in :func:`run`; gives a row for each figure that the test is judged on, in each of
    two worlds (see :mod:`gendalens.comparison.power`).

    >>> import gendalens
    >>> rows = gendalens.power("lm-abc", data="builtin", sample=40)
    >>> [(row.part, row.unit, row.world) for row in rows[:2]]
    [('main', 'bits', 'independent'), ('main', 'bits', 'clustered')]
    """
    if isinstance(task, Task):
        register(task)
    load, task_options = split_options(options)
    chosen = RunOptions(
        seed=seed,
        sample=sample,
        data=read_choices(data),
        task_options=task_options,
        negligible=read_bands(negligible),
        load=load,
    )
    check_named_tests([task], chosen)
    plan = chosen.plan(get_task(task, 2) if isinstance(task, str) else task)
    return compute_power(plan.task, plan.items)


def split_options(options: Mapping[str, Any]) -> tuple[LoadOptions, dict[str, Any]]:
    """Split options into those for loading and those declared by tests; raise on any other."""
    known = all_options()
    of_tests = {name: value for name, value in options.items() if name in known}
    of_loading = {name: value for name, value in options.items() if name not in known}
    if unknown := sorted(set(of_loading) - set(LoadOptions.__dataclass_fields__)):
        raise TypeError(f"run() has no option {unknown[0]!r}")
    return replace(LoadOptions(), **of_loading), of_tests


def load_model(name: str, **options: Any) -> Backend:
    """The model with a name; its weights are loaded with the first request.

    ``options`` are those of :class:`gendalens.models.base.LoadOptions`.
    """
    return detect.load_model(name, LoadOptions(**options))


def _check_load_options(models: Sequence[Any], options: Mapping[str, Any]) -> None:
    """Refuse options for loading together with a model that is loaded already."""
    # Data sets are loaded in every run, and ``offline`` is for them as well.
    wanted = [
        name for name in options if name in LoadOptions.__dataclass_fields__.keys() - {"offline"}
    ]
    loaded = [model for model in models if isinstance(model, Given)]
    if wanted and loaded:
        raise UserError(
            "{name} is already loaded, so {option} has no effect on it: leave it out, or give the"
            " model's name or folder instead.",
            name=name_of(loaded[0]),
            option=wanted[0],
        )


def _check_names(objects: Sequence[Any]) -> None:
    """Refuse systems with the same name, which would overwrite each other's results."""
    seen: dict[str, Any] = {}
    for system in objects:
        try:
            backend = as_backend(system)
        except UserError:  # not a model: reported when its turn comes
            continue
        if backend.cacheable:  # its revision distinguishes it
            continue
        name, itself = backend.info.name, system.model if isinstance(system, Given) else system
        if seen.setdefault(name, itself) is not itself:
            raise UserError(
                "Two of the systems are called {name} and would write to the same folder: pass a mapping"
                " that gives each a name of its own, or run them into different folders.",
                name=name,
            )
