"""The processes of the sweep: none can end, stop or exhaust the others."""

from __future__ import annotations

import os
import time
from multiprocessing.connection import Connection

import pytest

from tools.sweep import runner
from tools.sweep.outcome import Outcome, Verdict
from tools.sweep.runner import Job

MEGABYTE = 1024**2


def behave(job: Job, results: Connection) -> None:
    """A trial that ends as its name says."""
    if job.architecture == "crash":
        os._exit(7)
    if job.architecture == "hang":
        time.sleep(600)
    if job.architecture == "swell":
        kept = b"x" * (600 * MEGABYTE)
        time.sleep(600 + len(kept))
    found = Outcome(head=job.head, architecture=job.architecture, verdict=Verdict.RIGHT)
    results.send(found.to_json())


def run(*names: str) -> dict[str, Outcome]:
    jobs = [Job("masked", name) for name in names]
    return {one.architecture: one for one, _ in runner.run_jobs(jobs, 2, behave)}


@pytest.fixture(autouse=True)
def _nothing_preloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_PRELOADED", [])


def test_a_trial_that_crashes_or_swells_ends_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_BYTES", 500 * MEGABYTE)
    found = run("crash", "swell", "fine", "better")
    assert found["crash"].verdict is found["swell"].verdict is Verdict.FAILED
    assert found["crash"].reason == "Its process ended with exit code 7."
    assert found["swell"].reason == "It needed more than 500 MB of memory."
    assert found["fine"].verdict is found["better"].verdict is Verdict.RIGHT


@pytest.mark.slow
def test_a_trial_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_SECONDS", 2)
    assert run("hang")["hang"].reason == "It ran for more than 2 seconds."
