"""Trials in processes of their own, so that none can end, stop or exhaust the others."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

from tools.sweep.heads import HEADS
from tools.sweep.outcome import Outcome, Verdict

_SECONDS = 600
_BYTES = 6 * 1024**3
_PRELOADED = ["tools.sweep.trial", "transformers.modeling_utils", "transformers.activations"]


class Job(NamedTuple):
    """An architecture to try with a head."""

    head: str
    architecture: str


class _Running(NamedTuple):
    job: Job
    process: BaseProcess
    results: Connection
    start: float

    def find_problem(self) -> str | None:
        """Why the trial must be ended, if it must."""
        if time.monotonic() - self.start > _SECONDS:
            return f"It ran for more than {_SECONDS} seconds."
        if _count_bytes(self.process.pid) > _BYTES:
            return f"It needed more than {_BYTES // 1024**2} MB of memory."
        return None


def run_jobs(
    jobs: Sequence[Job], workers: int, run: Callable[[Job, Connection], None]
) -> Iterator[tuple[Outcome, float]]:
    """The outcome of each job and the seconds that it took, as they come."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    waiting = list(reversed(jobs))
    running: list[_Running] = []
    while waiting or running:
        while waiting and len(running) < workers:
            job = waiting.pop()
            here, there = context.Pipe(duplex=False)
            process = context.Process(target=run, args=(job, there), daemon=True)
            process.start()
            there.close()
            running.append(_Running(job, process, here, time.monotonic()))
        wait([one.results for one in running], timeout=0.5)
        for one in list(running):
            if outcome := _collect(one):
                running.remove(one)
                yield outcome, time.monotonic() - one.start


def _collect(one: _Running) -> Outcome | None:
    """The outcome of a trial that has ended or must end; None if it goes on."""
    if one.results.poll():
        try:
            values: Any = one.results.recv()
        except EOFError:
            one.process.join()
            return _fail(one, f"Its process ended with exit code {one.process.exitcode}.")
        one.process.join()
        return Outcome.from_json(values)
    if problem := one.find_problem():
        one.process.kill()
        one.process.join()
        return _fail(one, problem)
    return None


def _fail(one: _Running, reason: str) -> Outcome:
    return Outcome(
        head=one.job.head,
        architecture=one.job.architecture,
        verdict=Verdict.FAILED,
        reason=reason,
    )


def _count_bytes(pid: int | None) -> int:
    """The memory that a process holds; 0 where the system does not tell."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except OSError:
        return 0
    return int(pages) * 4096


def list_jobs(heads: Sequence[str], only: Sequence[str]) -> list[Job]:
    """The jobs of some heads; all architectures if none is named."""
    return [
        Job(name, architecture)
        for name in heads
        for architecture in HEADS[name].list_classes()
        if not only or architecture in only
    ]


def try_in_process(job: Job, results: Connection) -> None:
    """Try one architecture and send its outcome."""
    import torch
    import transformers

    from tools.sweep.trial import try_architecture

    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    results.send(try_architecture(HEADS[job.head], job.architecture).to_json())
