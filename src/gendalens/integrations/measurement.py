"""The bias of a model at one point of its training."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gendalens.api import execute, split_options
from gendalens.data.choice import read_choices
from gendalens.engine.run_options import RunOptions
from gendalens.engine.session import Job
from gendalens.errors import UserError
from gendalens.integrations.flat_figures import flatten_results
from gendalens.integrations.sharded_weights import is_sharded, refuse_sharded
from gendalens.integrations.training_state import preserve_training_state
from gendalens.models.objects.choice import name_of
from gendalens.models.objects.given import Given
from gendalens.results.result import Result
from gendalens.tasks import all_options, get_task, register
from gendalens.tasks.bands import read_bands
from gendalens.tasks.base import Task


@dataclass(frozen=True, slots=True)
class BiasMeasurement:
    """The results of a model's tests at one step of its training, and what they cost.

    ``failures`` are sentences on tests that could not be run. ``folder`` is the run folder, if the
    results were saved.
    """

    results: tuple[Result, ...]
    failures: tuple[str, ...] = ()
    seconds: float = 0.0
    step: int | None = None
    epoch: float | None = None
    folder: Path | None = None

    @property
    def figures(self) -> dict[str, float]:
        """The figures by name, ``lm-abc/gap`` for instance, and the ``seconds`` that they took."""
        return {**flatten_results(self.results), "seconds": self.seconds}


def measure_bias(
    model: Any,
    tokenizer: Any,
    *,
    tasks: str | Task[Any] | Sequence[str | Task[Any]] | None = None,
    data: Mapping[str, str | Path] | str | None = None,
    sample: int | None = None,
    step: int | None = None,
    epoch: float | None = None,
    name: str | None = None,
    out: str | Path | None = None,
    seed: int = 0,
    negligible: Mapping[str, float] | None = None,
    batch_tokens: int | None = None,
    **options: Any,
) -> BiasMeasurement:
    """Test a model that is being trained, and leave the training as it was.

    Random numbers, train and eval mode, gradients, devices and thread counts are afterwards what they
    were before, so that the losses that follow are the same bits as without the test.

    Parameters
    ----------
    model, tokenizer
        A transformers model and its tokenizer. Wrappers of data-parallel training and of
        ``torch.compile`` are looked through.
    tasks, data, sample, seed, negligible, batch_tokens, options
        As in :func:`gendalens.run`. The sample is the same at every step.
    step, epoch
        Where the training is, for the record.
    name
        The model's name in results. Default: its own, with the step.
    out
        A run folder for results and report. Default: nothing is written.

    Returns
    -------
    BiasMeasurement
        Results, figures by name, and the seconds it took. A test that cannot be run is no exception
        here: ``failures`` says why.

    """
    tests, run_options = plan_measurement(
        tasks=tasks,
        data=data,
        sample=sample,
        out=out,
        seed=seed,
        negligible=negligible,
        batch_tokens=batch_tokens,
        **options,
    )
    _check_module(model)
    if is_sharded(model):
        raise refuse_sharded()
    clock = time.perf_counter()
    with preserve_training_state(model):
        given = Given(model, tokenizer, name or _name_step(model, step))
        report = execute([Job(given, tests)], run_options)
    if report.interrupted:
        raise KeyboardInterrupt
    return BiasMeasurement(
        results=tuple(report.results),
        failures=report.failures,
        seconds=time.perf_counter() - clock,
        step=step,
        epoch=epoch,
        folder=run_options.out if report.outcomes else None,
    )


def plan_measurement(
    *,
    tasks: str | Task[Any] | Sequence[str | Task[Any]] | None = None,
    data: Mapping[str, str | Path] | str | None = None,
    sample: int | None = None,
    out: str | Path | None = None,
    seed: int = 0,
    negligible: Mapping[str, float] | None = None,
    batch_tokens: int | None = None,
    **options: Any,
) -> tuple[Sequence[str | Task[Any]] | None, RunOptions]:
    """The tests and options of a measurement; raises if one of them is wrong."""
    tests = [tasks] if isinstance(tasks, str | Task) else tasks
    for test in tests or ():
        if isinstance(test, Task):
            register(test)  # so that its options are known
        else:
            get_task(test, 2)  # raises if there is no such test
    # The model is loaded already, so of the options for loading only that for data sets has a meaning.
    if unknown := sorted(set(options) - set(all_options()) - {"offline"}):
        raise TypeError(f"measure_bias() has no option {unknown[0]!r}")
    load, task_options = split_options(options)
    return tests, RunOptions(
        sample=sample,
        data=read_choices(data),
        out=Path(out) if out is not None else None,
        seed=seed,
        negligible=read_bands(negligible),
        batch_tokens=batch_tokens,
        task_options=task_options,
        load=load,
        use_cache=False,  # the weights change with every step, so no answer would be used again
    )


def _check_module(model: Any) -> None:
    from torch.nn import Module

    if not isinstance(model, Module):
        raise UserError(
            "measure_bias is for models in training, and {kind} is not a module of torch: use "
            "gendalens.run instead.",
            kind=type(model).__name__,
        )


def _name_step(model: Any, step: int | None) -> str:
    name = name_of(Given(model))
    return name if step is None else f"{name}, step {step}"
