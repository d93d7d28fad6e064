"""Answering one shard of a model's run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from gendalens.engine.run_options import RunOptions
from gendalens.engine.session import Job, run_jobs
from gendalens.engine.watcher import SessionReport, Watcher
from gendalens.errors import UserError
from gendalens.models.division import Shard
from gendalens.shards.shard_run import ShardRun


def answer_shard(
    jobs: Sequence[Job], options: RunOptions, shard: Shard, watcher: Watcher | None = None
) -> SessionReport:
    """Have one model answer its share of its tests; the answers are written to ``options.out``."""
    if len(jobs) != 1:
        raise UserError("--shard divides the run of one model: name one, and run the others apart.")
    if options.out is None:
        raise UserError("A shard needs a folder for its answers: name one with out.")
    return run_jobs(jobs, options, watcher, partial(ShardRun, shard=shard))
