"""Merging: the answers of all shards of a run, as a model that can be run through its tests."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from gendalens.data.choice import Choice, read_choices
from gendalens.engine.cache import Cache
from gendalens.engine.dtype_check import sample_answers
from gendalens.engine.request_plan import RequestPlan
from gendalens.engine.run_options import RunOptions
from gendalens.engine.session import Job
from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.requests import Request
from gendalens.predictions.form import request_id
from gendalens.shards.first_asked import FirstAsked
from gendalens.shards.merged_model import MergedControl, MergedModel, merge_model
from gendalens.shards.shard_reading import ShardReader
from gendalens.shards.shard_set import ShardFile, ShardSet, find_shards
from gendalens.tasks import get_task
from gendalens.words import Message


@dataclass(frozen=True, slots=True)
class Merged:
    """The run of the merged answers: the job, its options, and what the user should know."""

    job: Job
    options: RunOptions
    notes: tuple[Message, ...]


@contextmanager
def merge_shards(
    places: Sequence[Path],
    *,
    data: Mapping[str, Choice] | None = None,
    out: Path | None = None,
    offline: bool = False,
) -> Iterator[Merged]:
    """The job that makes the result of one run of the answers in these folders.

    The answers are checked and then kept in a temporary database, so that memory does not grow with
    them. ``data`` says where data sets are, if that is not where the shards read them.
    """
    shards = find_shards(places)
    options = _make_options(shards, data or {}, out=out, offline=offline)
    plans = [options.plan(get_task(name, options.protocol)) for name in shards.tests]
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="gendalens-merge-"))
        store = stack.enter_context(Cache(Path(folder) / "answers.sqlite"))
        model = merge_model(shards, store)
        first_asked = FirstAsked()
        for plan, files in zip(plans, shards.tests.values(), strict=True):
            _check_data(plan, files[0])
            _read_answers(plan, files, model, first_asked)
        yield Merged(Job(model, plans), options, shards.notes)


def _make_options(
    shards: ShardSet, data: Mapping[str, Choice], *, out: Path | None, offline: bool
) -> RunOptions:
    run = shards.run
    choices: dict[str, str] = {}
    for files in shards.tests.values():
        choices |= files[0].header.choices
    return RunOptions(
        protocol=run.protocol,
        seed=run.seed,
        sample=run.sample,
        data={**read_choices(choices), **data},
        out=out,
        use_cache=False,
        task_options=run.options,
        negligible=run.negligible,
        load=LoadOptions(offline=offline),
    )


def _check_data(plan: RequestPlan, file: ShardFile) -> None:
    """Refuse data other than those that the shards asked about."""
    for name, its in plan.data.items():
        theirs = file.header.test.data.get(name, {}).get("sha256")
        if its["sha256"] != theirs:
            raise UserError(
                "The data set {name} here ({here}) is not the one that {path} was asked about "
                "({there}): name that one with --data.",
                name=name,
                here=its["sha256"][:12],
                there=(theirs or "–")[:12],
                path=str(file.path),
            )


def _read_answers(
    plan: RequestPlan,
    files: Sequence[ShardFile],
    model: MergedModel | MergedControl,
    first_asked: FirstAsked,
) -> None:
    """Check the answers of the shards of one test, and give them to the model, portion by portion."""
    portions = len(files[0].header.answers)
    with ExitStack() as stack:
        readers = [stack.enter_context(ShardReader.open(file.path, file.header)) for file in files]
        sampled: dict[Request, None] = {}
        unanswered = 0
        for number, portion in enumerate(plan.portions):
            wanted = {request_id(one): one for one in first_asked.take(portion.requests)}
            sampled |= sample_answers(dict.fromkeys(portion.requests))
            read_line = model.read_lines(plan.task, portion.items)
            for reader in readers:
                count = reader.header.answers[number] if number < portions else 0
                answers = reader.read(count, wanted, read_line)
                for request in answers:
                    del wanted[request_id(request)]
                model.keep(answers)
            unanswered += len(wanted)
        exact = files[0].header.exact
        if exact is not None:
            wanted = {request_id(one): one for one in sample_answers(sampled)}
            model.keep(readers[0].read(exact.count, wanted), exact=True)
        for reader in readers:
            reader.finish()
    if unanswered:
        raise UserError(
            "The shards of {test} leave {count:,} requests without an answer: run them again.",
            test=plan.card.name,
            count=unanswered,
        )
