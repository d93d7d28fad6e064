"""``python -m tools.mutants``: see the package's docstring."""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from tools.mutants import reach, selection, table, trial
from tools.mutants.operators import Mutant, find_mutants
from tools.mutants.table import Trial
from tools.mutants.trial import EQUIVALENT

# A survivor runs all its tests: no more of them than take this long, and this many.
_SECONDS, _TESTS = 80.0, 300
# So many are tried before the others.
_FIRST = 12
# These read the code instead of running it, so no line is theirs.
_ALWAYS = ("tests/words/test_placeholders.py::test_every_placeholder_gets_its_value",)
_WORD = re.compile(r"[a-z0-9]+")
# The record is too old when less than this share of it can be found in the code.
_LEAST = 0.7


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
    run.add_argument("--minutes", type=float, default=math.inf, help="begin no trial after so long")
    run.add_argument("--resume", action="store_true", help="keep what an earlier run has killed")
    sample = steps.add_parser("sample")
    sample.add_argument("--count", type=int, default=24)
    for step in (run, sample):
        step.add_argument("--seed", type=int, default=0)
        step.add_argument("--workers", type=int, default=min(4, os.cpu_count() or 1))
    options = parser.parse_args()
    if options.step == "reach":
        record_reach()
    elif options.step == "run":
        _deadline.append(time.monotonic() + 60 * options.minutes)
        run_mutants(options.count, options.seed, options.workers, options.only, options.resume)
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


def run_mutants(count: int, seed: int, workers: int, only: str, resume: bool) -> None:
    """Try the known mutants and a draw of others, and write the outcome."""
    reached = reach.Reach()
    known, complaints = selection.read_known()
    if complaints:
        sys.exit("\n".join(complaints))
    mutants = [
        one for one in (*selection.draw_mutants(count, seed), *known) if one.file.startswith(only)
    ]
    settled = dict.fromkeys(selection.read_equivalent(), EQUIVALENT)
    earlier = table.read_notes() if resume else {}
    settled |= {key: one for key, one in earlier.items() if one.outcome == "killed"}
    trials = [Trial(one, settled[one.key]) for one in mutants if one.key in settled]
    cases = [_prepare(one, reached) for one in mutants if one.key not in settled]
    random.Random(seed).shuffle(cases)  # noqa: S311 - so that a run cut short has tried every package
    for number, one in enumerate(_try_all(cases, workers), 1):
        if one.verdict.outcome == "untried":
            # What survived an earlier run and could not be tried again has survived.
            trials.append(one._replace(verdict=earlier.get(one.mutant.key, one.verdict)))
            continue
        trials.append(one)
        table.note(one)
        mutant, verdict = one
        sys.stdout.write(
            f"{number}/{len(cases)} {verdict.outcome:8} {verdict.seconds:5.1f}s {mutant.file}:"
            f"{mutant.line} {mutant.operator}: {mutant.before!r:.60} -> {mutant.after!r:.60}"
            f" {verdict.test}\n"
        )
        sys.stdout.flush()
    if not only:
        table.write_outcome(trials, seed)


def _prepare(mutant: Mutant, reached: reach.Reach) -> Case:
    """The mutant with as many of its tests as a trial may run."""
    last = mutant.line + mutant.before.count("\n")
    chosen: list[str] = []
    seconds = 0.0
    # Arranged before they are cut: the tests named after a file are rarely its quickest.
    tests = _sort_by_words(reached.find_tests(mutant.file, mutant.line, last), mutant.file)
    for test in tests[:_TESTS]:
        seconds += reached.seconds(test)
        if chosen and seconds > _SECONDS:
            break
        chosen.append(test)
    if mutant.operator == "dropped keyword":
        chosen = [*_ALWAYS, *chosen]
    return Case(mutant, tuple(chosen), 60 + 5 * min(seconds, _SECONDS))


def run_sample(count: int, seed: int, workers: int) -> int:
    """Try some recorded mutants on the tests that noticed them; 1 if one goes unnoticed."""
    rows = json.loads(table.RECORD.read_text(encoding="utf-8"))
    random.Random(seed).shuffle(rows)  # noqa: S311 - a seeded draw
    today = _list_by_key({row["file"] for row in rows})
    cases = [
        Case(today[row["mutant"]], (row["test"],), 120) for row in rows if row["mutant"] in today
    ]
    if len(cases) < _LEAST * len(rows):
        sys.exit(f"only {len(cases)} of {len(rows)} recorded mutants are still there: make mutants")
    cases = cases[:count]
    trials = list(_try_all(cases, workers))
    noticed = sum(one.verdict.outcome in ("killed", "timeout") for one in trials)
    for mutant, verdict in trials:
        if verdict.outcome not in ("killed", "timeout"):
            sys.stdout.write(f"{verdict.outcome}: {mutant.key} {verdict.test}\n")
    sys.stdout.write(
        f"mutants: {noticed} of {len(trials)} noticed by the tests recorded for them\n"
    )
    return 0 if trials and noticed == len(trials) else 1


def _list_by_key(files: set[str]) -> dict[str, Mutant]:
    """The known mutants and every mutant of some files, in the code of today."""
    known, _ = selection.read_known()
    mutants = known
    for file in sorted(files):
        path = selection.PACKAGE / file
        if path.suffix == ".py" and path.exists():
            mutants += find_mutants(file, path.read_bytes())
    return {one.key: one for one in mutants}


def _try_all(cases: Sequence[Case], workers: int) -> Iterator[Trial]:
    """The trials, several at a time, as they end."""
    trial.warm_up()
    if table.RECORD.exists():
        for row in json.loads(table.RECORD.read_text(encoding="utf-8")):
            _noticed[row["file"]][row["test"]] += 1
    context = multiprocessing.get_context("fork")
    with context.Pool(workers, _open_court) as pool:
        yield from pool.imap_unordered(_try_one, cases)


_court: list[trial.Court] = []
_deadline: list[float] = []
_noticed: dict[str, Counter[str]] = defaultdict(Counter)
_stack = ExitStack()


def _open_court() -> None:
    _court.append(trial.Court(_stack.enter_context(trial.copy_package())))


def _try_one(case: Case) -> Trial:
    if _deadline and time.monotonic() > _deadline[0]:
        return Trial(case.mutant, trial.Verdict("untried", "", 0.0))
    [court] = _court
    tests = _arrange(case)
    spent = 0.0
    while tests:
        # A few at first: most mutants need no more, and few test modules have to be imported.
        some = tests[:_FIRST]
        verdict = court.judge(case.mutant, some, case.limit)
        spent += verdict.seconds
        if verdict.outcome == "survived" and len(some) < len(tests):
            some = tests[_FIRST:]
            verdict = court.judge(case.mutant, some, case.limit)
            spent += verdict.seconds
        verdict = verdict._replace(seconds=spent)
        if verdict.outcome == "survived":
            return Trial(case.mutant, verdict)
        # A test that fails on the package as it is has noticed nothing.
        failing = court.find_failing([verdict.test] if verdict.test in some else some)
        if failing is None:
            _noticed[case.mutant.file][verdict.test] += 1
            return Trial(case.mutant, verdict)
        if failing not in tests:
            return Trial(case.mutant, trial.Verdict("failed", failing, verdict.seconds))
        tests.remove(failing)
    return Trial(case.mutant, trial.Verdict("survived", "", spent))


def _arrange(case: Case) -> list[str]:
    """The tests: first what has noticed mutants of the file, then what has its words in the name."""
    noticed = _noticed[case.mutant.file]
    return sorted(case.tests, key=lambda test: -noticed[test])


def _sort_by_words(tests: Sequence[str], file: str) -> list[str]:
    words = set(_WORD.findall(file)) - {"py"}

    def count_words(test: str) -> int:
        return len(words.intersection(_WORD.findall(test.partition("::")[0])))

    return sorted(tests, key=count_words, reverse=True)


if __name__ == "__main__":
    main()
