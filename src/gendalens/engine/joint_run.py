"""Several models at once, each with its own share of the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextvars import copy_context
from typing import Protocol, TypeVar

from gendalens.engine.cluster.staff import Staff
from gendalens.engine.joint_watcher import JointWatcher
from gendalens.engine.watcher import SessionReport, Watcher
from gendalens.errors import UserError
from gendalens.system.steps import listen


class Named(Protocol):
    """A job: the name of its model is for messages."""

    @property
    def name(self) -> str:
        """The model as the user named it."""


Job = TypeVar("Job", bound=Named)


def run_together(
    jobs: Sequence[Job],
    run: Callable[[Job, Watcher], SessionReport],
    staff: Staff,
    watcher: Watcher,
    describe_interruption: Callable[[str], str],
) -> SessionReport:
    """The outcome of all jobs in their order; as many run at once as there are workers.

    What a model's run tells arrives as it happens, from one model at a time.
    """
    joint = JointWatcher(watcher)
    left = len(jobs)
    found: dict[int, SessionReport] = {}

    def run_one(job: Job) -> SessionReport:
        nonlocal left
        with listen(joint):
            try:
                done = run(job, joint)
            except UserError as error:
                done = SessionReport(failures=[str(error)])
            else:
                joint.finishes(job.name, done)
            with staff.cluster.changed:
                left -= 1
                staff.expect(left)
            return done

    staff.expect(left)
    # One model may be answered from the cache alone, and then needs no cluster.
    pool = ThreadPoolExecutor(min(left, staff.cluster.estimate_room()) if left > 1 else 1, "model")
    interrupted = False
    futures: dict[Future[SessionReport], int] = {}
    try:
        for number, job in enumerate(jobs):
            futures[pool.submit(copy_context().run, run_one, job)] = number
        for future in as_completed(futures):
            found[futures[future]] = future.result()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        if len(found) < len(jobs):
            staff.cluster.close()  # whoever waits for a worker stops waiting
        pool.shutdown(cancel_futures=True)
    report = SessionReport(interrupted=interrupted)
    for number in sorted(found):
        report.extend(found[number])
    if interrupted:
        first = min(set(range(len(jobs))) - set(found))
        report.failures.append(describe_interruption(jobs[first].name))
    return report
