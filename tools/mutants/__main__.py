"""``python -m tools.mutants``: see the package's docstring."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from tools.mutants import reach, selection, table, trial
from tools.mutants.operators import Mutant, find_mutants
from tools.mutants.table import Trial

# A survivor runs all its tests: no more of them than take this long, and this many.
_SECONDS, _TESTS = 60.0, 400


class Case(NamedTuple):
    """A mutant and the tests to try it on."""

    mutant: Mutant
    tests: tuple[str, ...]
    limit: float


def main() -> None:
    """Parse the command line and run one of the three steps."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    steps.add_parser("reach")
    run = steps.add_parser("run")
    run.add_argument("--count", type=int, default=480)
    run.add_argument("--only", default="", help="only mutants of files that begin with this")
    sample = steps.add_parser("sample")
    sample.add_argument("--count", type=int, default=24)
    for step in (run, sample):
        step.add_argument("--seed", type=int, default=0)
        step.add_argument("--workers", type=int, default=min(4, os.cpu_count() or 1))
    options = parser.parse_args()
    if options.step == "reach":
        record_reach()
    elif options.step == "run":
        run_mutants(options.count, options.seed, options.workers, options.only)
    else:
        sys.exit(run_sample(options.count, options.seed, options.workers))


def record_reach() -> None:
    """Run the quick suite once, recording which tests reach which lines."""
    reach.FOLDER.mkdir(exist_ok=True)
    for old in reach.FOLDER.glob("reach.*"):
        old.unlink()
    workers = ["-n", str(os.cpu_count() or 1)]
    quick = ["-m", "not slow and not browser", "-q", "-p", "tools.mutants.reach"]
    subprocess.run([sys.executable, "-m", "pytest", *workers, *quick], cwd=reach.ROOT, check=False)
    reach.combine()


def run_mutants(count: int, seed: int, workers: int, only: str) -> None:
    """Try the known mutants and a draw of others, and write the outcome."""
    known = reach.Reach()
    mutants = [*selection.read_known().values(), *selection.draw_mutants(count, seed)]
    cases = [_prepare(one, known) for one in mutants if one.file.startswith(only)]
    trials = []
    for number, one in enumerate(_try_all(cases, workers), 1):
        trials.append(one)
        mutant, verdict = one
        sys.stdout.write(
            f"{number}/{len(cases)} {verdict.outcome:8} {verdict.seconds:5.1f}s {mutant.file}:"
            f"{mutant.line} {mutant.operator}: {mutant.before!r:.60} -> {mutant.after!r:.60}"
            f" {verdict.test}\n"
        )
        sys.stdout.flush()
    if not only:
        table.write_outcome(trials, seed)


def _prepare(mutant: Mutant, known: reach.Reach) -> Case:
    """The mutant with as many of its tests as a trial may run."""
    last = mutant.line + mutant.before.count("\n")
    chosen: list[str] = []
    seconds = 0.0
    for test in known.find_tests(mutant.file, mutant.line, last)[:_TESTS]:
        seconds += known.seconds(test)
        if chosen and seconds > _SECONDS:
            break
        chosen.append(test)
    return Case(mutant, tuple(chosen), 60 + 5 * min(seconds, _SECONDS))


def run_sample(count: int, seed: int, workers: int) -> int:
    """Try some recorded mutants on the tests that noticed them; 1 if one goes unnoticed."""
    rows = json.loads(table.RECORD.read_text(encoding="utf-8"))
    random.Random(seed).shuffle(rows)  # noqa: S311 - a seeded draw
    cases: list[Case] = []
    for row in rows:
        mutant = _find_again(row)
        if mutant is not None and len(cases) < count:
            cases.append(Case(mutant, (row["test"],), 120))
    trials = list(_try_all(cases, workers))
    noticed = sum(one.verdict.outcome != "survived" for one in trials)
    for mutant, verdict in trials:
        if verdict.outcome == "survived":
            sys.stdout.write(f"survived: {mutant.key}\n")
    sys.stdout.write(
        f"mutants: {noticed} of {len(trials)} noticed by the tests recorded for them\n"
    )
    return 0 if trials and noticed == len(trials) else 1


def _find_again(row: dict[str, str]) -> Mutant | None:
    """The mutant of a record in the code of today; None if its place has changed."""
    path = selection.PACKAGE / row["file"]
    if row["operator"] == "known":
        return next(
            (one for one in selection.read_known().values() if one.scope == row["scope"]), None
        )
    if not path.exists():
        return None
    wanted = (row["scope"], row["operator"], row["before"], row["after"])
    for one in find_mutants(row["file"], path.read_bytes()):
        if (one.scope, one.operator, one.before, one.after) == wanted:
            return one
    return None


def _try_all(cases: Sequence[Case], workers: int) -> Iterator[Trial]:
    """The trials, several at a time, as they end."""
    trial.warm_up()
    context = multiprocessing.get_context("fork")
    with context.Pool(workers, _open_court) as pool:
        yield from pool.imap_unordered(_try_one, cases)


_court: list[trial.Court] = []
_stack = ExitStack()


def _open_court() -> None:
    _court.append(trial.Court(_stack.enter_context(trial.copy_package())))


def _try_one(case: Case) -> Trial:
    if not case.tests:
        return Trial(case.mutant, trial.Verdict("survived", "", 0.0))
    [court] = _court
    verdict = court.judge(case.mutant, case.tests, case.limit)
    if verdict.outcome != "survived":
        court.check([verdict.test] if "::" in verdict.test else case.tests[:1])
    return Trial(case.mutant, verdict)


if __name__ == "__main__":
    main()
